#pragma once

#include <cstddef>
#include <string>

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/gemm.hpp"
#include "surrogates/networks/description.hpp"
#include "surrogates/networks/layer.hpp"
#include "surrogates/networks/spectral/spectral_kernels.hpp"

namespace quintet::networks {

/// Specification of a spectral layer, without its kernels.
struct SpectralSpec {
  std::string name, input;
  int width = 1;                 ///< samples of a frame
  int hop = 1;                   ///< from a frame to the next
  int n_lines = 1, n_bands = 0;  ///< see SpectralKernels
  /// Added to powers before the root is taken: a root has no gradient at 0. 0 for a layer that is not
  /// trained.
  double floor = 1e-8;
  std::size_t first_parameter = 0;

  [[nodiscard]] int n_out() const { return n_bands > 0 ? n_bands : n_lines; }
  [[nodiscard]] std::size_t n_parameters() const {
    return static_cast<std::size_t>(n_lines) * (2 * static_cast<std::size_t>(width) + n_bands);
  }
};

/// Tape that the passes of a spectral layer leave for each other; one a thread.
template <class Real>
struct SpectralTape {
  int n = 0;                              ///< frames of the last forward pass
  AlignedVector<Real> y, y_bar;           ///< [frame, stride]: what it makes, and the loss's slope in it
  AlignedVector<Real> z, z_bar;           ///< [frame, inner]: real and imaginary parts
  AlignedVector<Real> power, power_bar;   ///< [frame, lines, whole packs]
  AlignedVector<Real> product, gradient;  ///< work space
};

/// Frequencies of a signal as rows of a chain, a frame each, by kernels that are learnt:
///
///     z_fk = sum_j x_(f hop + j) R_jk,   w_fk = sum_j x_(f hop + j) I_jk,   p_fk = z_fk^2 + w_fk^2
///     y_fk = sqrt(p_fk + floor),   or with bands   y_fb = sqrt(max(0, sum_k p_fk F_kb) + floor)
///
/// With the kernels of spectral_kernels() and floor 0 these are the absolute values of FrameTransform. The
/// convolution is one product: frames are rows of the signal, `hop` apart. Backward
///
///     p_bar = F y_bar/(2 y),  z_bar = 2 z p_bar,  w_bar = 2 w p_bar,  F_bar = p^T y_bar/(2 y),
///     R_bar = X^T z_bar,  I_bar = X^T w_bar,  x_bar_(f hop + j) += sum_k z_bar_fk R_jk + w_bar_fk I_jk
///
/// Sources: Cheuk et al. 2020, IEEE Access 8, 161981; Zeghidour et al. 2018 (ICASSP). Instantiated for float
/// and double.
template <class Real>
class SpectralLayer {
 public:
  using Tape = SpectralTape<Real>;
  /// Throws InputError for a hop below 1, or a floor below 0.
  explicit SpectralLayer(const SpectralSpec& spec);
  /// Take kernels and bands from the flat parameters; float or double.
  template <class Source>
  void refresh(const Source* parameters);

  [[nodiscard]] const SpectralSpec& spec() const { return spec_; }
  /// Frames within a signal of so many samples. Throws InputError if it is too short for one.
  [[nodiscard]] int n_frames(std::size_t n_samples) const;
  /// Stride of the output's rows: n_out() rounded up to whole packs, the padding 0.
  [[nodiscard]] int stride() const;

  /// Values of the frames of x [n_samples]: tape.y.
  void forward(const Real* x, std::size_t n_samples, Tape& tape) const;
  /// After forward(): add to the gradient of the parameters, and to x_bar [n_samples] unless it is null, what
  /// follows from tape.y_bar, whose padding is 0.
  template <class Parameter>
  void gradient(const Real* x, Tape& tape, Parameter* gradient, Real* x_bar) const;

  /// Describe the layer and its costs per frame.
  [[nodiscard]] BlockDescription describe() const;

 private:
  /// Real and imaginary parts each in whole packs.
  [[nodiscard]] int half() const;
  template <class Parameter>
  void add_to_kernels(const Real* x, Tape& tape, Parameter* gradient) const;
  template <class Parameter>
  void add_to_bands(Tape& tape, Parameter* gradient) const;

  SpectralSpec spec_;
  PackedMatrix<Real> kernels_, transposed_;  ///< [width, real | imaginary]
  PackedMatrix<Real> bands_, to_lines_;      ///< [lines, bands], where there are some
};

}  // namespace quintet::networks
