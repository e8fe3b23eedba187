#pragma once

#include <vector>

#include "physics/kernels/gemm.hpp"
#include "surrogates/potential/model/parameters.hpp"

namespace quintet::potential {

/// An embedding network at many values of its one input, and the gradient of its parameters: y = net(x), then
/// theta_bar += sum_k ybar_k . dnet(x_k)/dtheta. Always float64: a few hundred samples cost next to nothing.
class SampledNetwork {
 public:
  SampledNetwork(const Network& network, const std::vector<LayerPlace>& places);
  /// Take the weights of now from the flat parameters.
  template <class Real>
  void refresh(const Real* parameters);
  /// Values at x; row k is output() + k * stride().
  void forward(const std::vector<double>& x);
  [[nodiscard]] const double* output() const { return layers_.back().y.data(); }
  [[nodiscard]] int stride() const { return layers_.back().weight.stride(); }
  /// Add to the flat gradient; bar [n, stride()] is dL/dy, padding 0, and is destroyed.
  template <class Real>
  void backward(AlignedVector<double>& bar, Real* gradient);

 private:
  struct Layer {
    LayerPlace place;
    int n_in, n_out;
    Activation activation;
    DenseLayer::Skip skip;
    AlignedVector<double> bias, timestep;  ///< [stride], padded with 0
    PackedMatrix<double> weight, transposed;
    AlignedVector<double> y, phi, slope;  ///< [n, stride]: output, phi(z), phi'(z)
  };
  void activate_layer(Layer& layer, const AlignedVector<double>& x, int x_stride);
  template <class Real>
  void back_activate(const Layer& layer, const AlignedVector<double>& bar, AlignedVector<double>& z_bar,
                     Real* gradient) const;
  AlignedVector<double> input_;  ///< [n, 8] x in column 0
  int n_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace quintet::potential
