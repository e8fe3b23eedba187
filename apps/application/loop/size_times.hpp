#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// How long a step of ever smaller cases takes on the ranks that are here: what `quintet bench metg --app`
/// asks an application for.
///
/// All cases live in one process and take turns, so that a disturbance falls on all of them alike.

/// Seconds of the machine's clock.
[[nodiscard]] double seconds_now();

/// How much is measured.
struct SizeQuestion {
  int rounds = 3;                               ///< times that all sizes are measured
  double seconds = 0.5;                         ///< for each size in each round
  std::function<double()> clock = seconds_now;  ///< tests have one of their own
};

/// A case of some size, built and ready.
struct SizedCase {
  double work = 0;             ///< of a step on all ranks: cells, atoms, columns
  std::function<void()> step;  ///< collective; owns what it needs
};

/// Sizes of which an application makes cases.
struct SizeSeries {
  std::string key;                    ///< of its input: "grid.cells", a list of whole numbers
  std::string unit;                   ///< of the work: "cells"
  std::vector<std::int64_t> largest;  ///< the input's own
  /// A case of this size. Throws InputError where the application takes none so small. Collective.
  std::function<SizedCase(const std::vector<std::int64_t>&)> make;
  int least_steps = 1;  ///< of which only together it makes sense to say how long one is
};

/// A size and the least time of a step in each round.
struct SizeTimes {
  std::vector<std::int64_t> size{};
  double work = 0;
  std::vector<double> step_s{};
};

/// The times of all sizes, largest first, and why the series ends.
struct SizeSeriesTimes {
  std::string unit{}, end{};
  int ranks = 1;
  std::vector<SizeTimes> sizes{};
};

/// From the input's size down, the largest number of `key` halved each time, until two sizes in turn have
/// less than 0.4 of the best rate, or the application refuses.
///
/// A piece of a size is a step that warms up, then enough for 2 ms, from a barrier to a barrier; its time is
/// the slowest rank's. Pieces of all sizes take turns. The least counts. Collective.
[[nodiscard]] SizeSeriesTimes measure_sizes(const Comm& comm, const SizeSeries& series,
                                            const SizeQuestion& question);

/// Return `size` with its largest number halved (rounded up); empty if all are 1.
[[nodiscard]] std::vector<std::int64_t> halved(std::vector<std::int64_t> size);

/// Convert to JSON, and back. Throws InputError for a tree that is not a series of sizes.
[[nodiscard]] Tree to_tree(const SizeSeriesTimes& times);
[[nodiscard]] SizeSeriesTimes size_times_of(const Tree& tree);

}  // namespace quintet
