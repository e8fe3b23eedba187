#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/application/life/progress.hpp"
#include "apps/application/life/request.hpp"
#include "apps/application/life/restart.hpp"
#include "apps/application/life/run_directory.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {

/// Everything a run holds; made by launch(), seen by commands through Context.
struct Context::Implementation {
  Implementation(const Runtime& runtime, const Request& request, RunDirectory& directory,
                 const Describe& describe);

  /// See Context::go_ahead().
  void begin(const std::vector<std::string>& writes);
  /// run.log once the run has begun, else "".
  [[nodiscard]] std::string log_file() const;

  /// Time to keep back from --walltime for a last checkpoint and the end (s).
  [[nodiscard]] double reserve_s() const;
  /// Give checkpoints of later steps than the one restarted from another name, as what is cut now would be
  /// missed by them. Collective.
  void supersede_later_checkpoints() const;
  /// Put a checksum at the end of all that the run has written, so that a bit that flips later is found. What
  /// cannot be sealed stays as it is, with a warning. Collective.
  void seal_files() const;
  /// Close run.h5 and let go of what the command left behind. Collective.
  void close();
  /// Remove a run.h5 that this process made if it failed before its first step: the mended input may run
  /// again.
  void discard_fruitless_results() const;

  const Runtime& runtime;
  const Comm& comm;
  const Request& request;
  Describe describe;
  RunDirectory& directory;
  hdf5::Provenance provenance;
  std::optional<hdf5::CheckpointStore> store;
  std::optional<std::string> restart_file;
  RowCounts recorded_rows;  ///< of the checkpoint restarted from
  std::vector<std::pair<std::string, std::function<std::uint64_t()>>> growing;  ///< see record_rows()
  std::vector<std::string> reads;                                               ///< files that the run reads
  Losses losses;                                                                ///< see lose()
  std::optional<hdf5::File> results;
  bool made_results = false;   ///< run.h5 is new, not continued
  std::string device = "cpu";  ///< what computes the hot path
  StopRequest stop;
  std::string stop_reason;  ///< "" unless the loop was left early
  Phases phases;
  Progress progress;
  Tree::Map summary;                                          ///< the command's keys
  std::vector<std::pair<std::string, std::string>> meanings;  ///< of keys
  std::vector<Fact> facts;                                    ///< what is run
  std::vector<Headline> headlines;
  Report report;
  std::function<void()> failure_action;
  std::int64_t steps_done = 0;
  std::optional<std::int64_t> last_step;  ///< the last finished one, 0 before the first
  double loop_seconds = 0;
};

}  // namespace quintet
