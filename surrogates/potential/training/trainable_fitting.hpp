#pragma once

#include <vector>

#include "physics/kernels/gemm.hpp"
#include "surrogates/potential/model/descriptor.hpp"
#include "surrogates/potential/model/parameters.hpp"

namespace quintet::potential {

/// The fitting net of one centre type with weights that change: four passes over the atoms of a frame.
///
/// With y = phi(z) idt + skip x, z = x W + b of a layer and S = ge E + Edot:
///
///     values    z, y                       adjoint   a = dE/dy, alpha = a phi'(z) idt, dE/dx = alpha W^T +
///     skip a tangent   zdot = xdot W, ydot = phi'(z) idt zdot + skip xdot gradient  z_bar = (y_bar phi'(z) +
///     a phi''(z) zdot) idt, x_bar = z_bar W^T + skip y_bar,
///               W_bar += x^T z_bar + xdot^T alpha, b_bar += sum z_bar, idt_bar += y_bar phi(z) + a phi'(z)
///               zdot
///
/// (dS/dydot = dE/dy, so that the adjoint of the tangent is the adjoint of the values.) Six products a layer.
template <class Real>
class TrainableFitting {
 public:
  TrainableFitting(const Network& network, const std::vector<LayerPlace>& places,
                   const Descriptor& descriptor);
  void refresh(const Real* parameters);

  /// What the passes leave for each other; arrays by layer, [n_atoms, stride].
  struct Tape {
    struct Layer {
      AlignedVector<Real> y, phi, slope, curvature;  ///< outputs, phi(z), phi'(z), phi''(z)
      AlignedVector<Real> a, alpha;                  ///< adjoint
      AlignedVector<Real> z_dot, y_dot;              ///< tangent
      AlignedVector<Real> y_bar, z_bar;              ///< gradient
    };
    std::vector<Layer> layers;
    int n_atoms = 0;
  };
  /// Values and adjoint of all atoms: energies [n_atoms] (eV, without biases) of d [n_atoms, d_stride], and
  /// dE/dD.
  void evaluate(const Real* d, int d_stride, int n_atoms, double* energy, Real* dd, Tape& tape) const;
  /// Tangent and gradient: of d_dot, D_bar; adds to the gradient of the parameters, of twins to the first
  /// one.
  void differentiate(const Real* d, const Real* d_dot, int d_stride, Real ge, Real* d_bar, Tape& tape,
                     Real* gradient);
  /// After the last differentiate() before an update: twins get the same gradient.
  void finish(Real* gradient) const;

 private:
  struct Layer {
    LayerPlace place;
    int n_in, n_out;
    Activation activation;
    PackedMatrix<Real> weight, transposed;
    AlignedVector<Real> bias, timestep;  ///< [stride], padded with 0
    std::vector<int> skip;               ///< [n_out] input that is added to each output, or empty
    AlignedVector<Real> weight_bar;      ///< [n_in, stride], where rows of weights are no whole packs
  };
  void forward_layer(const Layer& layer, const Real* x, int x_stride, int first, int n,
                     typename Tape::Layer& tape) const;
  void backward_layer(const Layer& layer, const typename Tape::Layer& tape, int first, int n, Real* dx,
                      int dx_stride) const;
  void tangent_layer(const Layer& layer, const Real* x_dot, int x_stride, int first, int n,
                     typename Tape::Layer& tape) const;
  void bar_layer(const Layer& layer, typename Tape::Layer& tape, int first, int n, Real* x_bar, int x_stride,
                 Real* gradient) const;
  void add_weight_gradient(std::size_t l, std::initializer_list<TransposedFactors<Real>> pairs, int n_atoms,
                           Real* gradient);
  [[nodiscard]] std::vector<const Real*> folded_rows(const Real* weight);

  Descriptor descriptor_;
  std::vector<Layer> hidden_;
  std::vector<Real> twins_;  ///< rows of the first layer's weights that are sums of two
  LayerPlace last_;
  AlignedVector<Real> last_weight_;  ///< [stride]
  Real last_bias_ = 0;
};

}  // namespace quintet::potential
