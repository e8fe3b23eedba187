#pragma once

#include <cstdint>
#include <limits>
#include <utility>

#include "apps/application/loop/schedule.hpp"
#include "io/config/schema_fwd.hpp"

namespace quintet {

/// Keys `checkpoint_interval`, `checkpoint_every` and `checkpoint_keep` of every run that has a loop.
struct CheckpointOptions {
  std::int64_t interval = 10000;  ///< steps
  int keep = 3;
  double every = 10;  ///< wall time that may pass without one (min)
};
/// The keys become ones of the section that `schema` describes.
void describe(Schema& schema, CheckpointOptions& options);

/// When a run is saved, besides at its end, and how many of its checkpoints stay.
struct CheckpointSchedule {
  CheckpointSchedule(const CheckpointOptions& options)  // NOLINT: what the user wrote is a schedule
      : due(every_steps(options.interval)), keep(options.keep), every(60 * options.every) {}
  CheckpointSchedule(Schedule due, int keep, double every = std::numeric_limits<double>::infinity())
      : due(std::move(due)), keep(keep), every(every) {}

  Schedule due;
  int keep;
  double every;  ///< also when so much wall time has passed since the last one, or the start (s)
};

}  // namespace quintet
