#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/data/samples.hpp"
#include "surrogates/flow/data/splits.hpp"

/// Frames known again by a number, so that nobody is judged by what he learned from unsaid.
namespace quintet::flow {

/// A number for each frame: XXH64 of the values of all fields in it, [n_t]. Files of another format or name
/// that hold the same single-precision values have the same ones.
/// @param values [field][t][z][x]
[[nodiscard]] std::vector<std::int64_t> frame_fingerprints(const float* values, int n_fields, int n_frames,
                                                           std::size_t points_of_frame);

/// Fingerprints of all runs, [run][frame]. Collective.
[[nodiscard]] std::vector<std::vector<std::int64_t>> fingerprints_of(const Comm& comm, const Samples& samples,
                                                                     int n_fields);

/// Fingerprints of the parts of a split, ascending, each once.
[[nodiscard]] std::vector<std::int64_t> fingerprints_of(const std::vector<Part>& parts,
                                                        const std::vector<std::vector<std::int64_t>>& all);

/// Throws InputError where parts of two splits, of two runs, have more than half of their frames in
/// common. A first frame that two runs share does not count.
void check_splits(const std::array<std::vector<Part>, 3>& parts,
                  const std::vector<std::vector<std::int64_t>>& fingerprints, const std::vector<Run>& runs);

/// How many of the frames are among those known, which ascend.
[[nodiscard]] std::int64_t count_known(const std::vector<std::int64_t>& frames,
                                       const std::vector<std::int64_t>& known);

}  // namespace quintet::flow
