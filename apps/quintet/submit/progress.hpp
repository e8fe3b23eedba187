#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quintet {

/// How far a run is, as its directory says.
struct RunProgress {
  std::string state{};  ///< "not begun", "running", "stopped early", "done", "failed (exit code 3)"
  std::optional<std::int64_t> step{};  ///< the last one that is told or has a checkpoint
  std::optional<std::int64_t> last{};  ///< of all
  std::string left{};                  ///< estimated rest, "1:20"; "" if unknown
  std::string ended{};                 ///< what job.ended says; "" while jobs may go on
};

/// From summary.json, the last line of progress in run.log, the newest checkpoint and job.ended. Damaged
/// files count as absent: the run may be writing them.
[[nodiscard]] RunProgress run_progress(const std::string& directory);

}  // namespace quintet
