#pragma once

#include <cstddef>
#include <optional>

#include "physics/codes/coded_matrix.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/sequence/network/passes.hpp"

namespace quintet::sequence {

/// A sequence of n windows in memory: row t n + b is step t of window b, `stride` numbers apart.
template <class T>
struct Steps {
  T* data = nullptr;
  int stride = 0;
};

/// A layer of LSTM cells over all steps of n windows, forward and backward through time.
///
///     z_t = x_t W + h_(t-1) U + b,   (c_t, h_t) = cell(z_t, c_(t-1)),   h_(-1) = c_(-1) = 0
///
/// One product with [W; U] a step, in register tiles that hold all four gates of a pack of units: when those
/// of 32 windows are summed up their cells are stepped, while the sums are in the first-level cache.
/// Backward, the gates' memory takes their gradients, from which those of W and U follow for all steps at
/// once. With Products::bf16 (float alone) sums go through memory, for tiles of the processor make them.
/// Memory is kept from call to call.
template <class Real>
class LstmLayer {
 public:
  /// @param may_be_narrow few units may fill half a pack: stride() is then half a pack's, too
  LstmLayer(int n_in, int units, Products products = Products::exact, bool may_be_narrow = false);

  [[nodiscard]] std::size_t n_parameters() const;
  /// Units rounded up to whole packs, or to half of one; the padding of all that is written is 0.
  [[nodiscard]] int stride() const { return stride_; }
  /// Take W [n_in, 4 units], U [units, 4 units], b [4 units], gates i, f, g, o.
  void refresh(const Real* parameters);
  /// Forward passes take W^T [4 units, n_in] and U^T [4 units, units] by their codes from now on; biases
  /// stay. Throws InternalError in double, and where sizes do not fit.
  void take_codes(const BinaryCodes& w, const BinaryCodes& u, CodeKernel kernel);
  /// h [steps n, stride()] from x. @param keep what backward() needs
  void forward(Steps<const Real> x, int steps, int n, Real* h, bool keep);
  /// After forward(keep) of the same x: h_bar = dL/dh [steps n, stride()] to x_bar = dL/dx (unless null; its
  /// rows have room for whole packs), adds to the gradient of the parameters.
  void backward(Steps<const Real> x, int steps, int n, const Real* h, const Real* h_bar, Real* x_bar,
                Real* gradient);

 private:
  void sum_inputs(Steps<const Real> x, int rows, Real* z) const;
  /// @param z sums [n, 4 stride] that are made already: b + x W, or, if `complete`, x W + h_before U without
  /// b; null: none
  void step(Steps<const Real> x, int n, const Real* h_before, const Real* c_before, const Real* z,
            bool complete, Real* gates, Real* c, Real* tanh_c, Real* h);
  template <int w>
  void step_packs(Steps<const Real> x, int n, const Real* h_before, const Real* c_before, const Real* z,
                  bool complete, Real* gates, Real* c, Real* tanh_c, Real* h);
  template <int w>
  void step_back(int t, int n, const Real* h_bar, bool is_last);
  void multiply_back(const Real* z_bar, int rows, bool to_inputs, Real* to) const;
  void add_gradient(Steps<const Real> x, const Real* h, int steps, int n, Real* gradient);

  /// Rows of h_bar_, which products fill by whole packs.
  [[nodiscard]] int bar_stride() const { return padded(units_, pack_width<Real>); }
  /// From gate to gate of a window's dL/dz, as products with W^T and U^T read it.
  [[nodiscard]] int bar_gate() const { return !bf16_ && stride_ == width_ ? units_ : stride_; }

  int n_in_, units_;
  bool bf16_;
  int width_;  ///< of packs of units
  int stride_;
  AlignedVector<Real> weights_;                      ///< by packs of units: [n_in + units][gate][pack]
  AlignedVector<Real> bias_;                         ///< [pack of units][gate][pack]
  PackedMatrix<Real> w_back_, u_back_;               ///< W^T and U^T, rows as dL/dz of a window's gates lies
  PackedBf16 all_bf16_, w_back_bf16_, u_back_bf16_;  ///< [W; U], W^T, U^T, instead of those above
  AlignedVector<Real> z_;  ///< [n, 4 stride] or [steps n, 4 stride]: sums of the gates; backward, a step's
                           ///< dL/dz [n, 4 bar_gate()]
  std::optional<CodedMatrix> w_codes_, u_codes_;  ///< rows as the gates lie in memory, instead of the weights
  AlignedVector<Real> padded_;  ///< [n_in + units, 4 stride]: weights, or their gradient, with padding
  /// [step][pack of units][window][gate][pack], in bf16 [steps n, 4 stride]: i, f, g, o, then dL/dz
  AlignedVector<Real> gates_;
  AlignedVector<Real> c_, tanh_c_;  ///< [step][pack of units][window][pack]
  AlignedVector<Real> c_bar_;       ///< [pack of units][window][pack]: what a step leaves for the one before
  AlignedVector<Real> h_bar_;       ///< [n, bar_stride()]: the same
  AlignedVector<Real> bias_bar_;    ///< [4 stride]
};

}  // namespace quintet::sequence
