#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"

namespace quintet::kinetics {

/// The frames of a run.h5.
struct FrameIndex {
  std::vector<std::int64_t> steps;
  std::vector<double> times;
};

/// The frames of which all is in the file, of rising steps and times: a run that was killed leaves more of
/// this than of that. `root` has the group `frames`. Collective. Throws InputError: the file is damaged.
[[nodiscard]] FrameIndex whole_frames(const hdf5::Group& root);

/// Paths of the series below `root` that have an entry a frame. Collective.
[[nodiscard]] std::vector<std::string> frame_series(const hdf5::Group& root);

}  // namespace quintet::kinetics
