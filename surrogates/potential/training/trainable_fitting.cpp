#include "surrogates/potential/training/trainable_fitting.hpp"

#include <algorithm>
#include <cstddef>

#include "io/log/error.hpp"

namespace quintet::potential {

namespace {
/// Atoms that go through the layers together: their descriptors and a panel of weights fit the second-level
/// cache.
template <class Real>
constexpr int block_atoms = sizeof(Real) == 8 ? 32 : 64;

template <class Real>
void grow(AlignedVector<Real>& array, std::size_t size) {
  if (array.size() < size) array.resize(size, Real(0));
}
}  // namespace

template <class Real>
TrainableFitting<Real>::TrainableFitting(const Network& network, const std::vector<LayerPlace>& places,
                                         const Descriptor& descriptor)
    : descriptor_(descriptor), last_(places.back()) {
  const int axis = descriptor.axis_neuron();
  for (std::size_t l = 0; l + 1 < network.layers.size(); ++l) {
    const auto& dense = network.layers[l];
    Layer layer;
    layer.place = places[l];
    layer.n_in = l == 0 ? descriptor.size() : dense.n_in;
    layer.n_out = dense.n_out;
    layer.activation = dense.activation;
    const int stride = padded(dense.n_out, pack_width<Real>);
    layer.bias.assign(stride, Real(0));
    layer.timestep.assign(stride, Real(0));
    for (int o = 0; o < dense.n_out; ++o) layer.timestep[o] = static_cast<Real>(dense.timestep[o]);
    if (stride != dense.n_out)
      layer.weight_bar.resize(static_cast<std::size_t>(layer.n_in) * stride, Real(0));
    if (dense.skip != DenseLayer::Skip::none)
      for (int o = 0; o < dense.n_out; ++o) {
        const int i = o % dense.n_in;
        layer.skip.push_back(l == 0 ? descriptor.place(i / axis, i % axis) : i);
      }
    hidden_.push_back(std::move(layer));
  }
  QUINTET_CHECK(!hidden_.empty(), "a fitting network to be trained needs at least one hidden layer");
  last_weight_.assign(padded(network.layers.back().n_in, pack_width<Real>), Real(0));
}

/// Rows of the first layer's weights in the descriptor's kept order, twins added up.
template <class Real>
std::vector<const Real*> TrainableFitting<Real>::folded_rows(const Real* weight) {
  const int axis = descriptor_.axis_neuron(), n_out = hidden_.front().n_out;
  std::vector<const Real*> rows(descriptor_.size());
  twins_.resize(static_cast<std::size_t>(axis) * axis * n_out);
  Real* sum = twins_.data();
  for (int m = 0; m < descriptor_.n_channels(); ++m)
    for (int m2 = 0; m2 < std::min(axis, m + 1); ++m2) {
      const Real* row = weight + (static_cast<std::size_t>(m) * axis + m2) * n_out;
      rows[descriptor_.place(m, m2)] = row;
      if (m == m2 || m >= axis) continue;
      const Real* twin = weight + (static_cast<std::size_t>(m2) * axis + m) * n_out;
      for (int o = 0; o < n_out; ++o) sum[o] = row[o] + twin[o];
      rows[descriptor_.place(m, m2)] = sum;
      sum += n_out;
    }
  return rows;
}

template <class Real>
void TrainableFitting<Real>::refresh(const Real* parameters) {
  for (std::size_t l = 0; l < hidden_.size(); ++l) {
    auto& layer = hidden_[l];
    const Real* weight = parameters + layer.place.weight;
    if (l == 0) {
      const auto rows = folded_rows(weight);
      layer.weight.assign(rows, layer.n_in, layer.n_out);
      layer.transposed.assign(rows, layer.n_out, layer.n_in, true);
    } else {
      layer.weight.assign(weight, layer.n_in, layer.n_out);
      layer.transposed.assign(weight, layer.n_out, layer.n_in, true);
    }
    std::copy_n(parameters + layer.place.bias, layer.n_out, layer.bias.begin());
    if (layer.place.has_timestep)
      std::copy_n(parameters + layer.place.timestep, layer.n_out, layer.timestep.begin());
  }
  std::copy_n(parameters + last_.weight, hidden_.back().n_out, last_weight_.begin());
  last_bias_ = parameters[last_.bias];
}

template <class Real>
void TrainableFitting<Real>::forward_layer(const Layer& layer, const Real* x, int x_stride, int first, int n,
                                           typename Tape::Layer& tape) const {
  constexpr int w = pack_width<Real>;
  const int stride = layer.weight.stride();
  const std::size_t begin = static_cast<std::size_t>(first) * stride;
  x += static_cast<std::size_t>(first) * x_stride;
  multiply(x, x_stride, n, layer.weight, tape.y.data() + begin, stride);
  with_activation(layer.activation, [&]<Activation A>() {
    for (int b = 0; b < n; ++b)
      for (int o = 0; o < stride; o += w) {
        const std::size_t at = begin + static_cast<std::size_t>(b) * stride + o;
        Pack<Real> phi, slope, curvature;
        activate<A, Real, w>(load<Real>(tape.y.data() + at) + load<Real>(layer.bias.data() + o), phi, slope,
                             curvature);
        store<Real>(tape.phi.data() + at, phi);
        store<Real>(tape.slope.data() + at, slope);
        store<Real>(tape.curvature.data() + at, curvature);
        store<Real>(tape.y.data() + at, phi * load<Real>(layer.timestep.data() + o));
      }
  });
  for (int b = 0; b < n && !layer.skip.empty(); ++b)
    for (std::size_t o = 0; o < layer.skip.size(); ++o)
      tape.y[begin + static_cast<std::size_t>(b) * stride + o] +=
          x[static_cast<std::size_t>(b) * x_stride + layer.skip[o]];
}

namespace {
/// dx = z W^T + skip y for rows first .. first + n; dx has room for whole packs.
template <class Real, class Layer>
void back(const Layer& layer, const Real* z, const Real* y, int first, int n, Real* dx, int dx_stride) {
  const int stride = layer.weight.stride();
  const std::size_t begin = static_cast<std::size_t>(first) * stride;
  dx += static_cast<std::size_t>(first) * dx_stride;
  multiply(z + begin, stride, n, layer.transposed, dx, dx_stride);
  for (int b = 0; b < n && !layer.skip.empty(); ++b)
    for (std::size_t o = 0; o < layer.skip.size(); ++o)
      dx[static_cast<std::size_t>(b) * dx_stride + layer.skip[o]] +=
          y[begin + static_cast<std::size_t>(b) * stride + o];
}
}  // namespace

template <class Real>
void TrainableFitting<Real>::backward_layer(const Layer& layer, const typename Tape::Layer& tape, int first,
                                            int n, Real* dx, int dx_stride) const {
  back<Real>(layer, tape.alpha.data(), tape.a.data(), first, n, dx, dx_stride);
}

template <class Real>
void TrainableFitting<Real>::evaluate(const Real* d, int d_stride, int n_atoms, double* energy, Real* dd,
                                      Tape& tape) const {
  constexpr int w = pack_width<Real>;
  const std::size_t n_layers = hidden_.size();
  tape.layers.resize(n_layers);
  tape.n_atoms = n_atoms;
  for (std::size_t l = 0; l < n_layers; ++l) {
    auto& t = tape.layers[l];
    for (auto* array :
         {&t.y, &t.phi, &t.slope, &t.curvature, &t.a, &t.alpha, &t.z_dot, &t.y_dot, &t.y_bar, &t.z_bar})
      grow(*array, static_cast<std::size_t>(n_atoms) * hidden_[l].weight.stride());
  }
  for (int first = 0; first < n_atoms; first += block_atoms<Real>) {
    const int n = std::min(block_atoms<Real>, n_atoms - first);
    for (std::size_t l = 0; l < n_layers; ++l)
      forward_layer(hidden_[l], l > 0 ? tape.layers[l - 1].y.data() : d,
                    l > 0 ? hidden_[l - 1].weight.stride() : d_stride, first, n, tape.layers[l]);
    auto& last = tape.layers.back();
    const int last_stride = hidden_.back().weight.stride();
    for (int b = first; b < first + n; ++b) {
      const Real* y = last.y.data() + static_cast<std::size_t>(b) * last_stride;
      double sum = last_bias_;
      for (int o = 0; o < hidden_.back().n_out; ++o) sum += static_cast<double>(y[o]) * last_weight_[o];
      energy[b] = sum;
      std::copy_n(last_weight_.data(), last_stride,
                  last.a.data() + static_cast<std::size_t>(b) * last_stride);
    }
    for (std::size_t l = n_layers; l-- > 0;) {
      auto& t = tape.layers[l];
      const int stride = hidden_[l].weight.stride();
      for (int b = first; b < first + n; ++b)
        for (int o = 0; o < stride; o += w) {
          const std::size_t at = static_cast<std::size_t>(b) * stride + o;
          store<Real>(t.alpha.data() + at, load<Real>(t.a.data() + at) * load<Real>(t.slope.data() + at) *
                                               load<Real>(hidden_[l].timestep.data() + o));
        }
      backward_layer(hidden_[l], t, first, n, l > 0 ? tape.layers[l - 1].a.data() : dd,
                     l > 0 ? hidden_[l - 1].weight.stride() : d_stride);
    }
  }
}

template <class Real>
void TrainableFitting<Real>::tangent_layer(const Layer& layer, const Real* x_dot, int x_stride, int first,
                                           int n, typename Tape::Layer& tape) const {
  constexpr int w = pack_width<Real>;
  const int stride = layer.weight.stride();
  const std::size_t begin = static_cast<std::size_t>(first) * stride;
  x_dot += static_cast<std::size_t>(first) * x_stride;
  multiply(x_dot, x_stride, n, layer.weight, tape.z_dot.data() + begin, stride);
  for (int b = 0; b < n; ++b)
    for (int o = 0; o < stride; o += w) {
      const std::size_t at = begin + static_cast<std::size_t>(b) * stride + o;
      store<Real>(tape.y_dot.data() + at, load<Real>(tape.z_dot.data() + at) *
                                              load<Real>(tape.slope.data() + at) *
                                              load<Real>(layer.timestep.data() + o));
    }
  for (int b = 0; b < n && !layer.skip.empty(); ++b)
    for (std::size_t o = 0; o < layer.skip.size(); ++o)
      tape.y_dot[begin + static_cast<std::size_t>(b) * stride + o] +=
          x_dot[static_cast<std::size_t>(b) * x_stride + layer.skip[o]];
}

/// z_bar from y_bar, the sums over atoms of bias and time step, and x_bar.
template <class Real>
void TrainableFitting<Real>::bar_layer(const Layer& layer, typename Tape::Layer& t, int first, int n,
                                       Real* x_bar, int x_stride, Real* gradient) const {
  constexpr int w = pack_width<Real>;
  const int stride = layer.weight.stride();
  for (int o = 0; o < stride; o += w) {
    const Pack<Real> idt = load<Real>(layer.timestep.data() + o);
    Pack<Real> bias{}, timestep{};
    for (int b = first; b < first + n; ++b) {
      const std::size_t at = static_cast<std::size_t>(b) * stride + o;
      const Pack<Real> y_bar = load<Real>(t.y_bar.data() + at), slope = load<Real>(t.slope.data() + at);
      const Pack<Real> a_z_dot = load<Real>(t.a.data() + at) * load<Real>(t.z_dot.data() + at);
      const Pack<Real> z_bar = (y_bar * slope + a_z_dot * load<Real>(t.curvature.data() + at)) * idt;
      store<Real>(t.z_bar.data() + at, z_bar);
      bias += z_bar;
      timestep += y_bar * load<Real>(t.phi.data() + at) + a_z_dot * slope;
    }
    Real sums[2][w];
    store<Real>(sums[0], bias);
    store<Real>(sums[1], timestep);
    for (int lane = 0; lane < std::min(w, layer.n_out - o); ++lane) {
      gradient[layer.place.bias + o + lane] += sums[0][lane];
      if (layer.place.has_timestep) gradient[layer.place.timestep + o + lane] += sums[1][lane];
    }
  }
  back<Real>(layer, t.z_bar.data(), t.y_bar.data(), first, n, x_bar, x_stride);
}

/// Products over the atoms, straight into the gradient where rows of weights are whole packs. The first
/// layer's inputs are the descriptor's kept entries: for each m2 a run of m, whose weights lie M2 rows apart.
template <class Real>
void TrainableFitting<Real>::add_weight_gradient(std::size_t l,
                                                 std::initializer_list<TransposedFactors<Real>> pairs,
                                                 int n_atoms, Real* gradient) {
  auto& layer = hidden_[l];
  const int stride = layer.weight.stride(), axis = descriptor_.axis_neuron(),
            n_channels = descriptor_.n_channels();
  const bool direct = stride == layer.n_out;
  Real* weight = gradient + layer.place.weight;
  if (!direct) {
    std::fill(layer.weight_bar.begin(), layer.weight_bar.end(), Real(0));
    add_transposed_products<Real>(pairs, n_atoms, layer.n_in, stride, layer.weight_bar.data(), stride);
  }
  const auto add_rows = [&](int from, int n, Real* to, std::ptrdiff_t ld) {
    if (direct) {
      TransposedFactors<Real> shifted[2];
      std::transform(pairs.begin(), pairs.end(), shifted, [&](TransposedFactors<Real> p) {
        p.a += from;
        return p;
      });
      add_transposed_products<Real>({shifted[0], shifted[1]}, n_atoms, n, stride, to, ld);
      return;
    }
    for (int i = 0; i < n; ++i)
      for (int o = 0; o < layer.n_out; ++o)
        to[i * ld + o] += layer.weight_bar[static_cast<std::size_t>(from + i) * stride + o];
  };
  if (l > 0) return add_rows(0, layer.n_in, weight, layer.n_out);
  const std::ptrdiff_t ld = static_cast<std::ptrdiff_t>(axis) * layer.n_out;
  for (int m2 = 0; m2 < axis; ++m2)
    add_rows(descriptor_.place(m2, m2), n_channels - m2, weight + m2 * ld + m2 * layer.n_out, ld);
}

template <class Real>
void TrainableFitting<Real>::differentiate(const Real* d, const Real* d_dot, int d_stride, Real ge,
                                           Real* d_bar, Tape& tape, Real* gradient) {
  const std::size_t n_layers = hidden_.size();
  const int n_atoms = tape.n_atoms, last_stride = hidden_.back().weight.stride();
  for (int first = 0; first < n_atoms; first += block_atoms<Real>) {
    const int n = std::min(block_atoms<Real>, n_atoms - first);
    for (std::size_t l = 0; l < n_layers; ++l)
      tangent_layer(hidden_[l], l > 0 ? tape.layers[l - 1].y_dot.data() : d_dot,
                    l > 0 ? hidden_[l - 1].weight.stride() : d_stride, first, n, tape.layers[l]);
    auto& last = tape.layers.back();
    Real* last_bar = gradient + last_.weight;
    for (int b = first; b < first + n; ++b) {
      const std::size_t at = static_cast<std::size_t>(b) * last_stride;
      for (int o = 0; o < last_stride; ++o) last.y_bar[at + o] = ge * last_weight_[o];
      for (int o = 0; o < hidden_.back().n_out; ++o) last_bar[o] += ge * last.y[at + o] + last.y_dot[at + o];
    }
    for (std::size_t l = n_layers; l-- > 0;)
      bar_layer(hidden_[l], tape.layers[l], first, n, l > 0 ? tape.layers[l - 1].y_bar.data() : d_bar,
                l > 0 ? hidden_[l - 1].weight.stride() : d_stride, gradient);
  }
  gradient[last_.bias] += ge * static_cast<Real>(n_atoms);
  for (std::size_t l = 0; l < n_layers; ++l) {
    const auto& t = tape.layers[l];
    const int stride = hidden_[l].weight.stride(),
              x_stride = l > 0 ? hidden_[l - 1].weight.stride() : d_stride;
    const Real *x = l > 0 ? tape.layers[l - 1].y.data() : d,
               *x_dot = l > 0 ? tape.layers[l - 1].y_dot.data() : d_dot;
    add_weight_gradient(l, {{x, x_stride, t.z_bar.data(), stride}, {x_dot, x_stride, t.alpha.data(), stride}},
                        n_atoms, gradient);
  }
}

template <class Real>
void TrainableFitting<Real>::finish(Real* gradient) const {
  const int axis = descriptor_.axis_neuron(), n_out = hidden_.front().n_out;
  Real* weight = gradient + hidden_.front().place.weight;
  for (int m = 0; m < axis; ++m)
    for (int m2 = 0; m2 < m; ++m2)
      std::copy_n(weight + (static_cast<std::ptrdiff_t>(m) * axis + m2) * n_out, n_out,
                  weight + (static_cast<std::ptrdiff_t>(m2) * axis + m) * n_out);
}

template class TrainableFitting<float>;
template class TrainableFitting<double>;

}  // namespace quintet::potential
