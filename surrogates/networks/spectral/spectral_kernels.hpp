#pragma once

#include <vector>

#include "physics/transforms/frame_transform.hpp"

namespace quintet::networks {

/// A transform of frames as numbers: what a SpectralLayer starts from.
struct SpectralKernels {
  int width = 0;                   ///< samples of a frame
  int n_lines = 0, n_bands = 0;    ///< bands 0: the lines are what comes out
  std::vector<double> parameters;  ///< real kernels [width, lines], imaginary ones, bands [lines, bands]
};

/// Kernels of a transform that is linear in the samples, such as ShortTimeFourier and ConstantQ.
[[nodiscard]] SpectralKernels spectral_kernels(FrameTransform& transform);
/// Kernels of the Fourier transform of mel bands, and their triangles.
[[nodiscard]] SpectralKernels spectral_kernels(const MelBands& transform, double rate);

}  // namespace quintet::networks
