#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The minimum effective task granularity (METG): how short tasks may be before a machine wastes half of its
/// time on everything else. Source: E. Slaughter et al., SC20, "Task Bench", section IV.
namespace quintet::tasks {

/// Tasks of one size.
struct Grain {
  std::int64_t size = 0;  ///< iterations of a kernel, cells or atoms a rank
  double task_s = 0;      ///< wall seconds x cores / tasks: the granularity
  double rate = 0;        ///< work a second, of whatever is counted
  double efficiency = 0;  ///< rate / the best rate of all sizes
  double spread = 0;      ///< median / least time of the repeats, less 1
  int repeats = 0;
};

/// Times of one size: seconds of whole runs of the same work.
struct Times {
  double least = 0, median = 0;
  int repeats = 0;
};
/// Times of a list of seconds that is not empty.
[[nodiscard]] Times times_of(std::vector<double> seconds);

/// Set the efficiencies: rate over the best rate of them all.
void set_efficiencies(std::span<Grain> grains);

/// Where the efficiency falls to `target`: what `value` says of a grain, linear in efficiency between the
/// smallest grain that has it and the next smaller one.
/// @param grains by size, smallest first, with efficiencies
/// @return nothing where no grain is below the target (or none above): then it lies outside these sizes
[[nodiscard]] std::optional<double> crossing(std::span<const Grain> grains, double target,
                                             const std::function<double(const Grain&)>& value);

/// Sizes 0, 1, 2, 4, ... until tasks are `ratio` times as long as those of size 0 and twice the size no
/// longer gives 2 % more work a second: then at most 1 / ratio of the time is overhead.
/// @param measure a grain of that size, without its efficiency
/// @param longest_task_s no longer tasks than this are tried
[[nodiscard]] std::vector<Grain> sweep(const std::function<Grain(std::int64_t size)>& measure, double ratio,
                                       double longest_task_s);

}  // namespace quintet::tasks
