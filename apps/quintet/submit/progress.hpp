#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace quintet {

/// How far a run is, as its directory says.
struct RunProgress {
  std::string state{};  ///< "not begun", "running", "stopped early", "done", "failed (exit code 3)"
  std::optional<std::int64_t> step{};             ///< that is told, or of the newest checkpoint
  std::optional<std::int64_t> last{};             ///< of all
  std::optional<double> steps_per_s{}, left_s{};  ///< of the loop that runs or ran last; absent: unknown
  std::optional<double> written{};                ///< when the run told its step last (s since 1970)
  std::string ended{};                            ///< what job.ended says; "" while jobs may go on
};

/// From progress.json, which the run's loop keeps, summary.json, the newest checkpoint and job.ended. Damaged
/// files count as absent.
[[nodiscard]] RunProgress run_progress(const std::string& directory);

}  // namespace quintet
