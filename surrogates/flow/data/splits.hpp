#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "surrogates/flow/data/data_options.hpp"
#include "surrogates/flow/data/samples.hpp"

namespace quintet::flow {

inline constexpr std::array<const char*, 3> split_names{"train", "validation", "test"};

/// Frames of a run, or of a sample, that belong to a split.
struct Part {
  std::size_t sample = 0;  ///< or run
  int first = 0, n = 0;
  int coarse_first = 0, coarse_n = 0;  ///< frames of the coarse run within them
};

/// The parts of each split: whole runs, or each run's times one split after the other. What is asked for at
/// all gets at least one run, or frame. Throws InputError where nothing is left to train on, or a part has
/// fewer frames than a crop (1 of volumes).
[[nodiscard]] std::array<std::vector<Part>, 3> split(const std::vector<Run>& runs,
                                                     const SplitOptions& options, int crop_frames);

}  // namespace quintet::flow
