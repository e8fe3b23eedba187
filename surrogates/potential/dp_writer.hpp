#pragma once

#include <string>

#include "surrogates/potential/model.hpp"

namespace quintet::potential {

/// Write a model as DeePMD-kit's native .dp file (HDF5): everything its readers (dpmodel, PyTorch, TensorFlow
/// through `dp convert-backend`) look for; out_std = 1, so that all of them agree. To a temporary name,
/// renamed when whole.
void write_dp(const std::string& path, const Model& model);

/// The model with DeePMD-kit's quintic tables of its embedding networks (descriptor version 3).
///
/// Range from davg, dstd and the least distance, strides 0.01 and 0.1. [anchors dpmd.md section 3]
/// @param least_distance (angstrom) in the data the model was trained on.
[[nodiscard]] Model compressed(Model model, double least_distance, double stride = 0.01,
                               double extrapolate = 5);

}  // namespace quintet::potential
