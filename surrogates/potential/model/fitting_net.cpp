#include "surrogates/potential/model/fitting_net.hpp"

#include <algorithm>

#include "io/log/error.hpp"

namespace quintet::potential {

namespace {

/// Rows of the first layer's weights in the descriptor's kept order, twins added up.
std::vector<double> fold_rows(const DenseLayer& layer, const Descriptor& descriptor, int n_channels,
                              int axis) {
  std::vector<double> folded(static_cast<std::size_t>(descriptor.size()) * layer.n_out, 0.0);
  for (int m = 0; m < n_channels; ++m)
    for (int m2 = 0; m2 < axis; ++m2)
      for (int o = 0; o < layer.n_out; ++o)
        folded[static_cast<std::size_t>(descriptor.place(m, m2)) * layer.n_out + o] +=
            layer.weight[(static_cast<std::size_t>(m) * axis + m2) * layer.n_out + o];
  return folded;
}

template <class Real>
AlignedVector<Real> padded_copy(const std::vector<double>& values, int stride) {
  AlignedVector<Real> copy(stride, Real(0));
  std::copy(values.begin(), values.end(), copy.begin());
  return copy;
}

}  // namespace

template <class Real>
FittingNet<Real>::FittingNet(const Network& network, const Descriptor& descriptor)
    : n_in_(descriptor.size()) {
  const auto& last = network.layers.back();
  QUINTET_CHECK(last.activation == Activation::linear && last.skip == DenseLayer::Skip::none &&
                    network.layers.size() > 1,
                "a fitting network must end with a linear layer after at least one hidden layer");
  const int axis = descriptor.axis_neuron(), n_channels = descriptor.n_channels();
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l) {
    const auto& dense = network.layers[l];
    const auto weight = l == 0 ? fold_rows(dense, descriptor, n_channels, axis) : dense.weight;
    const int n_in = l == 0 ? n_in_ : dense.n_in;
    Layer layer;
    layer.weight = PackedMatrix<Real>(weight.data(), n_in, dense.n_out);
    layer.transposed = PackedMatrix<Real>(weight.data(), dense.n_out, n_in, true);
    layer.bias = padded_copy<Real>(dense.bias, layer.weight.stride());
    layer.timestep = padded_copy<Real>(dense.timestep, layer.weight.stride());
    layer.activation = dense.activation;
    if (dense.skip != DenseLayer::Skip::none)
      for (int o = 0; o < dense.n_out; ++o) {
        const int i = o % dense.n_in;
        layer.skip.push_back(l == 0 ? descriptor.place(i / axis, i % axis) : i);
      }
    hidden_.push_back(std::move(layer));
  }
  std::vector<double> weight(last.weight);
  for (double& w : weight) w *= last.timestep[0];
  last_weight_ = padded_copy<Real>(weight, padded(last.n_in, pack_width<Real>));
  last_bias_ = last.bias[0] * last.timestep[0];
}

/// y = phi(x W + b) * idt + skip, slope = phi' * idt.
template <class Real>
void FittingNet<Real>::forward_layer(const Layer& layer, const Real* x, int x_stride, int n_atoms, Real* y,
                                     Real* slope) const {
  constexpr int w = pack_width<Real>;
  const int stride = layer.weight.stride();
  multiply(x, x_stride, n_atoms, layer.weight, y, stride);
  with_activation(layer.activation, [&]<Activation A>() {
    for (int b = 0; b < n_atoms; ++b)
      for (int o = 0; o < stride; o += w) {
        const std::size_t at = static_cast<std::size_t>(b) * stride + o;
        Pack<Real> phi, dphi;
        activate<A, Real, w>(load<Real>(y + at) + load<Real>(layer.bias.data() + o), phi, dphi);
        const Pack<Real> idt = load<Real>(layer.timestep.data() + o);
        store<Real>(y + at, phi * idt);
        store<Real>(slope + at, dphi * idt);
      }
  });
  for (int b = 0; b < n_atoms && !layer.skip.empty(); ++b)
    for (std::size_t o = 0; o < layer.skip.size(); ++o)
      y[static_cast<std::size_t>(b) * stride + o] +=
          x[static_cast<std::size_t>(b) * x_stride + layer.skip[o]];
}

template <class Real>
void FittingNet<Real>::backward_layer(const Layer& layer, Real* g, const Real* slope, int n_atoms, Real* dx,
                                      int dx_stride, AlignedVector<Real>& kept) const {
  constexpr int w = pack_width<Real>;
  const int stride = layer.weight.stride();
  const std::size_t size = static_cast<std::size_t>(n_atoms) * stride;
  if (!layer.skip.empty()) kept.assign(g, g + size);
  for (std::size_t i = 0; i < size; i += w) store<Real>(g + i, load<Real>(g + i) * load<Real>(slope + i));
  multiply(g, stride, n_atoms, layer.transposed, dx, dx_stride);
  for (int b = 0; b < n_atoms && !layer.skip.empty(); ++b)
    for (std::size_t o = 0; o < layer.skip.size(); ++o)
      dx[static_cast<std::size_t>(b) * dx_stride + layer.skip[o]] +=
          kept[static_cast<std::size_t>(b) * stride + o];
}

template <class Real>
void FittingNet<Real>::evaluate(Real* d, int d_stride, int n_atoms, double* energy, Scratch& scratch) const {
  const std::size_t n = hidden_.size();
  scratch.output.resize(n);
  scratch.slope.resize(n);
  const Real* x = d;
  int x_stride = d_stride;
  for (std::size_t l = 0; l < n; ++l) {
    const std::size_t size = static_cast<std::size_t>(n_atoms) * hidden_[l].weight.stride();
    if (scratch.output[l].size() < size) scratch.output[l].resize(size);
    if (scratch.slope[l].size() < size) scratch.slope[l].resize(size);
    forward_layer(hidden_[l], x, x_stride, n_atoms, scratch.output[l].data(), scratch.slope[l].data());
    x = scratch.output[l].data();
    x_stride = hidden_[l].weight.stride();
  }
  for (int b = 0; b < n_atoms; ++b) {
    double sum = last_bias_;
    for (int i = 0; i < hidden_.back().weight.n(); ++i)
      sum += static_cast<double>(x[static_cast<std::size_t>(b) * x_stride + i]) * last_weight_[i];
    energy[b] = sum;
    // From here on dE/dy of a layer lies where its output was, which is not needed any more.
    std::copy_n(last_weight_.data(), x_stride,
                scratch.output[n - 1].data() + static_cast<std::size_t>(b) * x_stride);
  }
  for (std::size_t l = n; l-- > 0;) {
    Real* dx = l > 0 ? scratch.output[l - 1].data() : d;
    const int dx_stride = l > 0 ? hidden_[l - 1].weight.stride() : d_stride;
    backward_layer(hidden_[l], scratch.output[l].data(), scratch.slope[l].data(), n_atoms, dx, dx_stride,
                   scratch.kept);
  }
}

template class FittingNet<float>;
template class FittingNet<double>;

}  // namespace quintet::potential
