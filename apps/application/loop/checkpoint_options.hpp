#pragma once

#include <cstdint>

#include "apps/application/loop/schedule.hpp"
#include "io/config/schema.hpp"

namespace quintet {

/// Keys `checkpoint_interval` and `checkpoint_keep` of every run that has a loop.
struct CheckpointOptions {
  std::int64_t interval = 10000;  ///< steps
  int keep = 3;
};
/// The keys become ones of the section that `schema` describes.
void describe(Schema& schema, CheckpointOptions& options);

/// When a run is saved, besides at its end, and how many of its checkpoints stay.
struct CheckpointSchedule {
  CheckpointSchedule(const CheckpointOptions& options)  // NOLINT: what the user wrote is a schedule
      : due(every_steps(options.interval)), keep(options.keep) {}
  CheckpointSchedule(Schedule due, int keep) : due(std::move(due)), keep(keep) {}

  Schedule due;
  int keep;
};

}  // namespace quintet
