#pragma once

#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::potential {

/// D = T T[:M2]^T, the rotation-invariant descriptor, each distinct entry once.
///
/// D is symmetric in its first M2 x M2 block, so only m >= m2 is kept: row m2 holds D[m, m2] for m = m2 ..
/// M-1, rows one after the other. The fitting nets' first layer gets the weights of both twins added up (they
/// are tied), which saves M2 (M2 - 1)/2 of M M2 inputs and changes nothing but round-off.
///
/// With axis_neuron 0 the embedding is invariant itself, D = T[0] (se_e2_r, se_e3).
class Descriptor {
 public:
  Descriptor(int n_channels, int axis_neuron, int pack);
  [[nodiscard]] int n_channels() const { return n_channels_; }
  [[nodiscard]] int axis_neuron() const { return axis_; }
  [[nodiscard]] int size() const { return size_; }  ///< entries kept
  /// Room of one atom's D, padded so that rows may be written in whole packs.
  [[nodiscard]] int stride() const { return padded(size_, pack_) + pack_; }
  /// Place of D[m, m2] among the kept entries.
  [[nodiscard]] int place(int m, int m2) const;
  /// Place of each of the M M2 entries of D among the kept ones: what ties a fitting network's inputs.
  [[nodiscard]] std::vector<int> tied() const;

  /// D of one atom from T `[4, t_stride]`; a pack beyond T may be read (tangent() too).
  template <class Real>
  void forward(const Real* t, int t_stride, Real* d) const;
  /// Tangent of D for a tangent of T: Ddot = Tdot T[:M2]^T + T Tdot[:M2]^T.
  template <class Real>
  void tangent(const Real* t, const Real* t_dot, int t_stride, Real* d_dot) const;
  /// dE/dT `[4, t_stride]` from dE/dD, of which a pack beyond may be read; `work` holds M2 * t_stride.
  template <class Real>
  void backward(const Real* t, int t_stride, const Real* dd, Real* dt, Real* work) const;

 private:
  template <class Real>
  void expand(const Real* dd, int t_stride, Real* full) const;

  int n_channels_, axis_, pack_, size_;
  std::vector<int> offset_;  ///< [axis] start of row m2
};

}  // namespace quintet::potential
