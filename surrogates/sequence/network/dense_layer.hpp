#pragma once

#include <cstddef>
#include <optional>

#include "physics/codes/coded_matrix.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/sequence/network/passes.hpp"

namespace quintet::sequence {

/// y = x W + b, or relu of it, of rows; forward and backward, with Products::bf16 in float alone. Memory is
/// kept from call to call.
template <class Real>
class DenseLayer {
 public:
  DenseLayer(int n_in, int n_out, bool relu, Products products = Products::exact);

  /// Outputs rounded up to whole packs; the padding of all that is written is 0.
  [[nodiscard]] int stride() const { return stride_; }
  /// Take W [n_in, n_out], b [n_out].
  void refresh(const Real* parameters);
  /// Take codes as LstmLayer does, for W^T [n_out, n_in].
  void take_codes(const BinaryCodes& w, CodeKernel kernel);
  /// y [rows, stride()] of x [rows, n_in] (stride ldx).
  void forward(const Real* x, int ldx, int rows, Real* y);
  /// y_bar = dL/dy [rows, stride()] to x_bar = dL/dx (unless null; its rows have room for whole packs), adds
  /// to the gradient of the parameters. Where there is a relu y_bar becomes dL/d(x W + b).
  void backward(const Real* x, int ldx, int rows, const Real* y, Real* y_bar, Real* x_bar, Real* gradient);

 private:
  void multiply_by(bool transposed, const Real* from, int stride, int rows, Real* to, int to_stride) const;
  void add_products(const Real* x, int ldx, const Real* y_bar, int rows, Real* to) const;

  int n_in_, n_out_, stride_;
  bool relu_, bf16_;
  PackedMatrix<Real> weights_, back_;
  PackedBf16 weights_bf16_, back_bf16_;  ///< instead of these
  std::optional<CodedMatrix> codes_;     ///< the same, forward
  AlignedVector<Real> bias_;             ///< [stride]
  AlignedVector<Real> padded_;           ///< [n_in, stride]
};

}  // namespace quintet::sequence
