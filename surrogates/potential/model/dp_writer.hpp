#pragma once

#include <array>
#include <string>

#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Write a model as DeePMD-kit's native .dp file (HDF5), or as its serialised tree if the name ends in .yaml,
/// .yml or .json: everything its readers (dpmodel, PyTorch, TensorFlow through `dp convert-backend`) look
/// for; out_std = 1, so that all of them agree. To a temporary name, renamed when whole.
///
/// A float32 model's arrays are rounded to float32; biases that would lose digits stay float64. Read back, a
/// model equals the one written bit for bit. On one rank. Throws InputError (no such folder) and
/// ResourceError (not writable, disk full).
void write_dp(const std::string& path, const Model& model);

/// The model with DeePMD-kit's quintic tables of its embedding networks (descriptor version 3).
///
/// [lower, upper) holds all s that occur at distances from `least_distance` on, over the four components of R
/// (of se_e2_r: s alone) and all centre types (two-sided: that of the network), rounded outwards to whole
/// numbers. From there to `extrapolate` * upper the table is coarse. A row of width t is the quintic Hermite
/// polynomial in x = s - left end of G, G', G'' at both ends. Of dpa1 with gates (tebd_input_mode strip) the
/// one network of s has a table, and files have the gates of all pairs of types beside it. Tables of theta
/// (se_e3) are of +-(largest component of R at `least_distance`)^2, with strides ten times as wide, and
/// coarse rows on both sides. Tables of networks with time steps are right, where DeePMD-kit's own are not.
/// Source: Lu et al. 2022 (2201.01446).
/// @param least_distance (angstrom) in the data the model was trained on, in (0.1, rcut).
/// @param stride widths (1) of the fine and the coarse rows.
/// Throws InputError: distance or strides that make no table, a model that is compressed already, a network
/// that reads more than one number (dpa1, tebd_input_mode concat), a hybrid, frame parameters.
[[nodiscard]] Model compressed(Model model, double least_distance, std::array<double, 2> stride = {0.01, 0.1},
                               double extrapolate = 5);

/// True if a network of the descriptor has time steps (resnet_dt): DeePMD-kit's own `dp compress` cannot take
/// it.
[[nodiscard]] bool has_embedding_timesteps(const Model& model);

}  // namespace quintet::potential
