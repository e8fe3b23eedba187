#pragma once

#include <array>
#include <cstdint>

namespace quintet::networks {

/// Masks of noise that a perturbation layer adds to its input.
struct NoiseMask {
  std::uint64_t seed = 1;
  std::uint32_t layer = 0;                ///< number of the layer in its network
  double level = 0.1;                     ///< largest value
  std::array<int, 3> period = {1, 1, 1};  ///< nodes after which a mask repeats itself, slowest axis first
};

/// Masks on a grid whose corner is (0, 0, 0):
///
///     N[c][z][y][x] = level noise_value(seed, layer, c, z mod p_z, y mod p_y, x mod p_x)
///
/// (noise_mask_kernels.hpp): the same bits on any rank, thread and machine, so that masks are neither stored
/// nor sent. Source: Juefei-Xu, Boddeti and Savvides 2018 (CVPR), perturbative neural networks.
/// @param shape nodes along z, y, x @param values [n_channels][z][y][x]
/// Periods are 1 to 2^16 (their maker has seen to it). Instantiated for float and double.
template <class Real>
void fill_noise_mask(const NoiseMask& mask, int n_channels, const std::array<int, 3>& shape, Real* values);

}  // namespace quintet::networks
