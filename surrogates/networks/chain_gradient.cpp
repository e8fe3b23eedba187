#include <algorithm>

#include "io/log/error.hpp"
#include "surrogates/networks/chain.hpp"

/// The passes of training: tangent, and the gradient of the parameters.
namespace quintet::networks {

template <class Real>
void Chain<Real>::tangent(Rows<const Real> x_dot, int first, int n, Tape& tape) const {
  constexpr int w = pack_width<Real>;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& layer = layers_[l];
    auto& t = tape.layers[l];
    const Rows<const Real> in = read(tape, layer.input, &Tape::Layer::y_dot, x_dot);
    const Rows<Real> y_dot{t.y_dot.data(), layer.stride}, z_dot{t.z_dot.data(), layer.stride};
    multiply<Real>(in[first], in.stride, n, layer.weight, z_dot[first], z_dot.stride);
    for (int row = first; row < first + n; ++row)
      for (int o = 0; o < layer.stride; o += w) {
        const std::size_t at = std::int64_t{row} * layer.stride + o;
        store<Real>(y_dot.data + at, load<Real>(z_dot.data + at) * load<Real>(t.slope.data() + at) *
                                         load<Real>(layer.timestep.data() + o));
      }
    if (layer.skip == Layer<Real>::none) continue;
    const Rows<const Real> from = read(tape, layer.skip, &Tape::Layer::y_dot, x_dot);
    layer.add_skip({from[first], from.stride}, {y_dot[first], y_dot.stride}, n);
  }
}

/// z_bar from y_bar, and the sums over rows of bias and time step.
template <class Real>
template <bool with_tangent, class Parameter>
void Chain<Real>::bar_layer(const Layer<Real>& layer, typename Tape::Layer& t, int first, int n,
                            Parameter* gradient) const {
  constexpr int w = pack_width<Real>;
  const auto& place = layer.spec.place;
  static thread_local AlignedVector<Real> sums;
  sums.assign(2 * std::int64_t{layer.stride}, Real(0));
  Real *const bias = sums.data(), *const timestep = bias + layer.stride;
  for (int row = first; row < first + n; ++row)
    for (int o = 0; o < layer.stride; o += w) {
      const std::size_t at = std::int64_t{row} * layer.stride + o;
      const Pack<Real> y_bar = load<Real>(t.y_bar.data() + at), slope = load<Real>(t.slope.data() + at);
      Pack<Real> z_bar = y_bar * slope;
      Pack<Real> through_timestep = y_bar * load<Real>(t.phi.data() + at);
      if constexpr (with_tangent) {
        const Pack<Real> a_z_dot = load<Real>(t.a.data() + at) * load<Real>(t.z_dot.data() + at);
        z_bar += a_z_dot * load<Real>(t.curvature.data() + at);
        through_timestep += a_z_dot * slope;
      }
      z_bar *= load<Real>(layer.timestep.data() + o);
      store<Real>(t.z_bar.data() + at, z_bar);
      store<Real>(bias + o, load<Real>(bias + o) + z_bar);
      store<Real>(timestep + o, load<Real>(timestep + o) + through_timestep);
    }
  for (int o = 0; o < layer.spec.n_out; ++o) gradient[place.bias + o] += static_cast<Parameter>(bias[o]);
  for (int o = 0; place.has_timestep && o < layer.spec.n_out; ++o)
    gradient[place.timestep + o] += static_cast<Parameter>(timestep[o]);
}

/// From y_bar of the last layer to all z_bar, biases and time steps, and x_bar unless it has no memory.
template <class Real>
template <bool with_tangent, class Parameter>
void Chain<Real>::bars(Rows<Real> x_bar, int first, int n, Tape& tape, Parameter* gradient) const {
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const auto& layer = layers_[l];
    auto& t = tape.layers[l];
    bar_layer<with_tangent>(layer, t, first, n, gradient);
    back(layer, t.z_bar.data(), t.y_bar.data(), first, n,
         write(tape, layer.input, &Tape::Layer::y_bar, x_bar),
         write(tape, layer.skip, &Tape::Layer::y_bar, x_bar), tape.product);
  }
}

/// W_bar += sum of products over the rows, straight into the gradient where rows of weights are whole packs;
/// of tied inputs the first one's row gets the sum.
template <class Real>
template <class Parameter>
void Chain<Real>::add_weights(const Layer<Real>& layer, std::initializer_list<TransposedFactors<Real>> pairs,
                              int n, Tape& tape, Parameter* gradient) const {
  const int stride = layer.stride, n_out = layer.spec.n_out;
  std::vector<Parameter*> rows(layer.n_in);
  for (int i = 0; i < layer.n_in; ++i) {
    const int row = layer.input == Layer<Real>::outside ? members_[i].front() : i;
    rows[i] = gradient + layer.spec.place.weight + std::int64_t{row} * n_out;
  }
  if constexpr (std::is_same_v<Parameter, Real>)
    if (stride == n_out) return add_transposed_products<Real>(pairs, n, stride, rows);
  tape.weight_bar.assign(std::int64_t{layer.n_in} * stride, Real(0));
  add_transposed_products<Real>(pairs, n, layer.n_in, stride, tape.weight_bar.data(), stride);
  const Real* from = tape.weight_bar.data();
  for (Parameter* to : rows) {
    for (int o = 0; o < n_out; ++o) to[o] += static_cast<Parameter>(from[o]);
    from += stride;
  }
}

template <class Real>
template <class Parameter>
void Chain<Real>::gradient(Rows<const Real> x, Tape& tape, Parameter* gradient, Rows<Real> x_bar) const {
  QUINTET_ASSERT(output_ == Output::rows && tape.keep == Keep::gradient, "rows kept for a gradient");
  bars<false>(x_bar, 0, tape.n, tape, gradient);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Rows<const Real> in = read(tape, layers_[l].input, &Tape::Layer::y, x);
    add_weights(layers_[l], {{in.data, in.stride, tape.layers[l].z_bar.data(), layers_[l].stride}}, tape.n,
                tape, gradient);
  }
}

template <class Real>
void Chain<Real>::differentiate(Rows<const Real> x, Rows<const Real> x_dot, Real ge, Rows<Real> x_bar,
                                Tape& tape, Real* gradient, const OnRows& make, const OnRows& take) const {
  QUINTET_ASSERT(output_ == Output::sum && tape.keep == Keep::tangent && !output_has_timestep(),
                 "a sum without a time step, kept for tangents");
  auto& last = tape.layers.back();
  const Rows<Real> y{last.y.data(), stride()}, y_dot{last.y_dot.data(), stride()},
      y_bar{last.y_bar.data(), stride()};
  Real* sum_bar = gradient + sum_.place.weight;
  for (int first = 0; first < tape.n; first += block_rows) {
    const int n = std::min(block_rows, tape.n - first);
    if (make) make(first, n);
    tangent(x_dot, first, n, tape);
    for (int row = first; row < first + n; ++row) {
      for (int o = 0; o < stride(); ++o) y_bar[row][o] = ge * sum_weight_[o];
      for (int o = 0; o < n_out(); ++o) sum_bar[o] += ge * y[row][o] + y_dot[row][o];
    }
    bars<true>(x_bar, first, n, tape, gradient);
    if (take) take(first, n);
  }
  gradient[sum_.place.bias] += ge * static_cast<Real>(tape.n);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& layer = layers_[l];
    const auto& t = tape.layers[l];
    const Rows<const Real> in = read(tape, layer.input, &Tape::Layer::y, x),
                           in_dot = read(tape, layer.input, &Tape::Layer::y_dot, x_dot);
    add_weights(layer,
                {{in.data, in.stride, t.z_bar.data(), layer.stride},
                 {in_dot.data, in_dot.stride, t.alpha.data(), layer.stride}},
                tape.n, tape, gradient);
  }
}

template <class Real>
template <class Parameter>
void Chain<Real>::share_gradient(Parameter* gradient) const {
  for (const auto& layer : layers_) {
    if (layer.input != Layer<Real>::outside) continue;
    const std::ptrdiff_t n_out = layer.spec.n_out;
    Parameter* weight = gradient + layer.spec.place.weight;
    for (const auto& inputs : members_)
      for (std::size_t i = 1; i < inputs.size(); ++i)
        std::copy_n(weight + inputs.front() * n_out, n_out, weight + inputs[i] * n_out);
  }
}

template class Chain<float>;
template class Chain<double>;
template void Chain<double>::gradient(Rows<const double>, Tape&, float*, Rows<double>) const;
template void Chain<double>::gradient(Rows<const double>, Tape&, double*, Rows<double>) const;
template void Chain<float>::gradient(Rows<const float>, Tape&, float*, Rows<float>) const;
template void Chain<float>::share_gradient(float*) const;
template void Chain<double>::share_gradient(double*) const;

}  // namespace quintet::networks
