#pragma once

#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet::dpmd {

/// How far a model's forces are from labels.
struct FrameErrors {
  double rmse = 0;              ///< of all components (eV/angstrom)
  std::vector<double> largest;  ///< of each frame: max_i |F_i - F_i,label| (eV/angstrom)
};
/// Evaluate labelled frames with a model (.dp) on this rank alone.
[[nodiscard]] FrameErrors frame_errors(const std::string& model, const std::vector<Configuration>& frames);

}  // namespace quintet::dpmd
