#pragma once

#include <vector>

#include "physics/kernels/gemm.hpp"
#include "surrogates/potential/model/descriptor.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// The fitting net of one centre type: E = net(D) for a batch of atoms, and dE/dD, as blocked matrix
/// products.
template <class Real>
class FittingNet {
 public:
  FittingNet(const Network& network, const Descriptor& descriptor);

  struct Scratch {
    std::vector<AlignedVector<Real>> output, slope;  ///< by layer: [atoms, stride]
    AlignedVector<Real> kept;                        ///< dE/dy where a skip hands it on
  };
  /// Energies [n_atoms] (eV, without biases) of descriptors d `[n_atoms, d_stride]`; afterwards d holds
  /// dE/dD.
  void evaluate(Real* d, int d_stride, int n_atoms, double* energy, Scratch& scratch) const;

 private:
  struct Layer {
    PackedMatrix<Real> weight, transposed;
    AlignedVector<Real> bias, timestep;  ///< [stride], padded with 0
    Activation activation;
    std::vector<int> skip;  ///< [n_out] input that is added to each output, or empty
  };
  void forward_layer(const Layer& layer, const Real* x, int x_stride, int n_atoms, Real* y,
                     Real* slope) const;
  /// g: dE/dy on entry (destroyed); writes dE/dx.
  void backward_layer(const Layer& layer, Real* g, const Real* slope, int n_atoms, Real* dx, int dx_stride,
                      AlignedVector<Real>& kept) const;

  std::vector<Layer> hidden_;
  AlignedVector<Real> last_weight_;  ///< [stride] of the linear output layer
  double last_bias_ = 0;
  int n_in_;
};

}  // namespace quintet::potential
