#include "surrogates/potential/training/sampled_network.hpp"

#include <algorithm>

namespace quintet::potential {

namespace {
constexpr int input_stride = pack_width<double>;
}

SampledNetwork::SampledNetwork(const Network& network, const std::vector<LayerPlace>& places) {
  for (std::size_t l = 0; l < places.size(); ++l) {
    const auto& dense = network.layers[l];
    Layer layer;
    layer.place = places[l];
    layer.n_in = dense.n_in;
    layer.n_out = dense.n_out;
    layer.activation = dense.activation;
    layer.skip = dense.skip;
    layer.bias.assign(padded(dense.n_out, pack_width<double>), 0.0);
    layer.timestep = layer.bias;
    std::copy(dense.timestep.begin(), dense.timestep.end(), layer.timestep.begin());
    layers_.push_back(std::move(layer));
  }
}

template <class Real>
void SampledNetwork::refresh(const Real* parameters) {
  std::vector<double> values;
  for (auto& layer : layers_) {
    const Real* weight = parameters + layer.place.weight;
    values.assign(weight, weight + static_cast<std::size_t>(layer.n_in) * layer.n_out);
    layer.weight.assign(values.data(), layer.n_in, layer.n_out);
    layer.transposed.assign(values.data(), layer.n_out, layer.n_in, true);
    std::copy_n(parameters + layer.place.bias, layer.n_out, layer.bias.begin());
    if (layer.place.has_timestep)
      std::copy_n(parameters + layer.place.timestep, layer.n_out, layer.timestep.begin());
  }
}

void SampledNetwork::activate_layer(Layer& layer, const AlignedVector<double>& x, int x_stride) {
  constexpr int w = pack_width<double>;
  const int stride = layer.weight.stride();
  with_activation(layer.activation, [&]<Activation A>() {
    for (int k = 0; k < n_; ++k)
      for (int o = 0; o < stride; o += w) {
        const std::size_t at = static_cast<std::size_t>(k) * stride + o;
        Pack<double> phi, slope;
        activate<A, double, w>(load<double>(&layer.y[at]) + load<double>(&layer.bias[o]), phi, slope);
        store<double>(&layer.phi[at], phi);
        store<double>(&layer.slope[at], slope);
        store<double>(&layer.y[at], phi * load<double>(&layer.timestep[o]));
      }
  });
  for (int k = 0; k < n_ && layer.skip != DenseLayer::Skip::none; ++k)
    for (int o = 0; o < layer.n_out; ++o)
      layer.y[static_cast<std::size_t>(k) * stride + o] +=
          x[static_cast<std::size_t>(k) * x_stride + o % layer.n_in];
}

void SampledNetwork::forward(const std::vector<double>& x) {
  n_ = static_cast<int>(x.size());
  input_.assign(static_cast<std::size_t>(n_) * input_stride, 0.0);
  for (int k = 0; k < n_; ++k) input_[static_cast<std::size_t>(k) * input_stride] = x[k];
  const AlignedVector<double>* from = &input_;
  int from_stride = input_stride;
  for (auto& layer : layers_) {
    const int stride = layer.weight.stride();
    for (auto* array : {&layer.y, &layer.phi, &layer.slope})
      array->resize(static_cast<std::size_t>(n_) * stride, 0.0);
    multiply(from->data(), from_stride, n_, layer.weight, layer.y.data(), stride);
    activate_layer(layer, *from, from_stride);
    from = &layer.y;
    from_stride = stride;
  }
}

/// z_bar = y_bar phi'(z) idt, and the gradients of bias and time step.
template <class Real>
void SampledNetwork::back_activate(const Layer& layer, const AlignedVector<double>& bar,
                                   AlignedVector<double>& z_bar, Real* gradient) const {
  constexpr int w = pack_width<double>;
  const int stride = layer.weight.stride();
  z_bar.resize(layer.slope.size());
  for (int o = 0; o < stride; o += w) {
    Pack<double> bias{}, timestep{};
    for (int k = 0; k < n_; ++k) {
      const std::size_t at = static_cast<std::size_t>(k) * stride + o;
      const Pack<double> y_bar = load<double>(&bar[at]);
      const Pack<double> z = y_bar * load<double>(&layer.slope[at]) * load<double>(&layer.timestep[o]);
      store<double>(&z_bar[at], z);
      bias += z;
      timestep += y_bar * load<double>(&layer.phi[at]);
    }
    double bias_lanes[w], timestep_lanes[w];
    store<double>(bias_lanes, bias);
    store<double>(timestep_lanes, timestep);
    for (int lane = 0; lane < std::min(w, layer.n_out - o); ++lane) {
      gradient[layer.place.bias + o + lane] += static_cast<Real>(bias_lanes[lane]);
      if (layer.place.has_timestep)
        gradient[layer.place.timestep + o + lane] += static_cast<Real>(timestep_lanes[lane]);
    }
  }
}

template <class Real>
void SampledNetwork::backward(AlignedVector<double>& bar, Real* gradient) {
  AlignedVector<double> x_bar, z_bar, weight_bar;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    auto& layer = layers_[l];
    const int stride = layer.weight.stride();
    const auto& x = l > 0 ? layers_[l - 1].y : input_;
    const int x_stride = l > 0 ? layers_[l - 1].weight.stride() : input_stride;
    x_bar.assign(static_cast<std::size_t>(n_) * layer.transposed.stride(), 0.0);
    back_activate(layer, bar, z_bar, gradient);
    weight_bar.assign(static_cast<std::size_t>(layer.n_in) * stride, 0.0);
    add_transposed_products<double>({{x.data(), x_stride, z_bar.data(), stride}}, n_, layer.n_in, stride,
                                    weight_bar.data(), stride);
    for (int i = 0; i < layer.n_in; ++i)
      for (int o = 0; o < layer.n_out; ++o)
        gradient[layer.place.weight + static_cast<std::size_t>(i) * layer.n_out + o] +=
            static_cast<Real>(weight_bar[static_cast<std::size_t>(i) * stride + o]);
    if (l == 0) return;
    multiply(z_bar.data(), stride, n_, layer.transposed, x_bar.data(), layer.transposed.stride());
    if (layer.skip != DenseLayer::Skip::none)
      for (int k = 0; k < n_; ++k)
        for (int o = 0; o < layer.n_out; ++o)
          x_bar[static_cast<std::size_t>(k) * layer.transposed.stride() + o % layer.n_in] +=
              bar[static_cast<std::size_t>(k) * stride + o];
    std::swap(bar, x_bar);
  }
}

template void SampledNetwork::refresh(const float*);
template void SampledNetwork::refresh(const double*);
template void SampledNetwork::backward(AlignedVector<double>&, float*);
template void SampledNetwork::backward(AlignedVector<double>&, double*);

}  // namespace quintet::potential
