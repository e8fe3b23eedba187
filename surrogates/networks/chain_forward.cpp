#include <algorithm>

#include "io/log/error.hpp"
#include "surrogates/networks/chain.hpp"

/// The passes of inference: values, values with tangents, adjoint. Rows go through all layers block by block.
namespace quintet::networks {

namespace {
template <class Real>
void grow(AlignedVector<Real>& array, std::size_t size) {
  if (array.size() < size) array.resize(size, Real(0));
}

/// sum x y in float64, n a multiple of the pack width.
template <class Real>
double dot(const Real* x, const Real* y, int n) {
  constexpr int w = pack_width<Real>;
  if constexpr (w == 1) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += static_cast<double>(x[i]) * y[i];
    return sum;
  } else {
    Pack<double, w> sum{};
    for (int i = 0; i < n; i += w)
      sum += __builtin_convertvector(load<Real>(x + i), Pack<double, w>) *
             __builtin_convertvector(load<Real>(y + i), Pack<double, w>);
    return horizontal_sum<double, w>(sum);
  }
}

/// Rows that an evaluation takes through all layers together. Weights larger than the second-level cache come
/// from beyond it once for so many rows, and 512 columns of the rows (256 KiB in float64) stay in it.
constexpr int evaluation_rows = 64;
}  // namespace

/// Make room for n rows of all that `keep` asks for; with two copies of the outputs, tangents stand in the
/// second and slopes are not kept.
template <class Real>
void Chain<Real>::prepare(Tape& tape, int n, Keep keep, int copies) const {
  tape.layers.resize(layers_.size());
  tape.n = n;
  tape.keep = keep;
  if (output_ == Output::sum && tape.sum.size() < static_cast<std::size_t>(n)) tape.sum.resize(n);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    auto& t = tape.layers[l];
    const std::size_t size = std::int64_t{n} * layers_[l].stride;
    grow(t.y, copies * size);
    if (copies == 1) grow(t.slope, size);
    if (keep == Keep::adjoint) continue;
    for (auto* array : {&t.phi, &t.y_bar, &t.z_bar}) grow(*array, size);
    if (keep == Keep::gradient) continue;
    for (auto* array : {&t.curvature, &t.a, &t.alpha, &t.z_dot, &t.y_dot}) grow(*array, size);
  }
}

/// z = x W and y = phi(z + b) idt of a layer, with all that `keep` asks for.
template <class Real>
void Chain<Real>::exact_values(int l, Rows<const Real> in, int first, int n, Tape& tape) const {
  const auto& layer = layers_[l];
  auto& t = tape.layers[l];
  const Rows<Real> y{t.y.data(), layer.stride};
  multiply<Real>(in[first], in.stride, n, layer.weight, y[first], y.stride);
  const auto store_values = [&](std::size_t at, int o, Pack<Real> phi, Pack<Real> slope) {
    store<Real>(t.slope.data() + at, slope);
    store<Real>(t.y.data() + at, phi * load<Real>(layer.timestep.data() + o));
  };
  if (tape.keep == Keep::adjoint)
    layer.template activate<false>(y.data, first, n, [&](std::size_t at, int o, auto phi, auto slope, auto) {
      store_values(at, o, phi, slope);
    });
  else if (tape.keep == Keep::gradient)
    layer.template activate<false>(y.data, first, n, [&](std::size_t at, int o, auto phi, auto slope, auto) {
      store<Real>(t.phi.data() + at, phi);
      store_values(at, o, phi, slope);
    });
  else
    layer.template activate<true>(y.data, first, n,
                                  [&](std::size_t at, int o, auto phi, auto slope, auto curvature) {
                                    store<Real>(t.phi.data() + at, phi);
                                    store<Real>(t.curvature.data() + at, curvature);
                                    store_values(at, o, phi, slope);
                                  });
}

template <class Real>
void Chain<Real>::values(Rows<const Real> x, int first, int n, Tape& tape) const {
  const bool round = rounds() && tape.keep == Keep::adjoint;
  if (output_ == Output::sum) std::fill_n(tape.sum.begin() + first, n, sum_bias_);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& layer = layers_[l];
    const Rows<const Real> in = read(tape, layer.input, &Tape::Layer::y, x);
    if (round)
      rounded_values(l, in, first, n, tape);
    else
      exact_values(l, in, first, n, tape);
    if (layer.skip == Layer<Real>::none) continue;
    const Rows<const Real> from = read(tape, layer.skip, &Tape::Layer::y, x);
    const Rows<Real> y{tape.layers[l].y.data(), layer.stride};
    layer.add_skip({from[first], from.stride}, {y[first], y.stride}, n);
  }
  if (output_ == Output::rows) return;
  const Rows<const Real> y{tape.layers.back().y.data(), stride()};
  for (int row = first; row < first + n; ++row) tape.sum[row] += dot(y[row], sum_weight_.data(), stride());
}

template <class Real>
void Chain<Real>::forward(Rows<const Real> x, int n, Keep keep, Tape& tape) const {
  prepare(tape, n, keep);
  values(x, 0, n, tape);
}

template <class Real>
void Chain<Real>::forward_with_tangent(Rows<const Real> x, int n, Tape& tape) const {
  prepare(tape, n, Keep::adjoint, 2);
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const auto& layer = layers_[l];
    auto& t = tape.layers[l];
    const Rows<const Real> in = read(tape, layer.input, &Tape::Layer::y, x);
    const Rows<Real> y{t.y.data(), layer.stride};
    multiply<Real>(in.data, in.stride, 2 * n, layer.weight, y.data, y.stride);
    Real *value = y.data, *tangent = y[n];
    layer.template activate<false>(value, 0, n, [&](std::size_t at, int o, auto phi, auto slope, auto) {
      const Pack<Real> idt = load<Real>(layer.timestep.data() + o);
      store<Real>(value + at, phi * idt);
      store<Real>(tangent + at, slope * idt * load<Real>(tangent + at));
    });
    if (layer.skip == Layer<Real>::none) continue;
    const Rows<const Real> from = read(tape, layer.skip, &Tape::Layer::y, x);
    layer.add_skip(from, y, 2 * n);
  }
}

/// Propagate adjoints back through a layer's product and its skip: x_bar (+)= z_bar W^T, s_bar (+)= y_bar.
template <class Real>
void Chain<Real>::back(const Layer<Real>& layer, const Real* z_bar, const Real* y_bar, int first, int n,
                       Rows<Real> to_input, Rows<Real> to_skip, AlignedVector<Real>& product) const {
  const Rows<const Real> z{z_bar, layer.stride}, y{y_bar, layer.stride};
  if (to_input.data && !layer.input_has_adjoint)
    multiply<Real>(z[first], z.stride, n, layer.transposed, to_input[first], to_input.stride);
  else if (to_input.data) {
    const int stride = layer.transposed.stride();
    grow(product, std::int64_t{n} * stride);
    multiply<Real>(z[first], z.stride, n, layer.transposed, product.data(), stride);
    for (int row = 0; row < n; ++row)
      for (int i = 0; i < layer.n_in; ++i)
        to_input[first + row][i] += product[std::int64_t{row} * stride + i];
  }
  if (layer.skip == Layer<Real>::none || !to_skip.data) return;
  if (!layer.skip_has_adjoint) {
    const int width = padded(layer.skip < 0 ? n_in_ : layers_[layer.skip].spec.n_out, pack_width<Real>);
    for (int row = first; row < first + n; ++row) std::fill_n(to_skip[row], width, Real(0));
  }
  layer.return_skip({y[first], y.stride}, {to_skip[first], to_skip.stride}, n);
}

/// a = dE/dy lies in its own arrays, or, for inference, where the outputs were, and alpha where the slopes
/// were: after the values of these rows nothing needs either.
template <class Real>
void Chain<Real>::adjoint(Rows<Real> dx, int first, int n, Tape& tape) const {
  constexpr int w = pack_width<Real>;
  const bool in_place = tape.keep == Keep::adjoint;
  const Array a_array = in_place ? &Tape::Layer::y : &Tape::Layer::a;
  const Rows<Real> last = write(tape, static_cast<int>(layers_.size()) - 1, a_array, {});
  for (int row = first; row < first + n; ++row) std::copy_n(sum_weight_.data(), last.stride, last[row]);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const auto& layer = layers_[l];
    auto& t = tape.layers[l];
    const Real *a = (t.*a_array).data(), *slope = t.slope.data(), *idt = layer.timestep.data();
    Real* alpha = in_place ? t.slope.data() : t.alpha.data();
    Rows<Real> to_input = write(tape, layer.input, a_array, dx);
    if (in_place && rounds()) {
      rounded_back(l, {a, layer.stride}, first, n, to_input, tape);
      to_input = {};
    } else {
      for (int row = first; row < first + n; ++row)
        for (int o = 0; o < layer.stride; o += w) {
          const std::size_t at = std::int64_t{row} * layer.stride + o;
          store<Real>(alpha + at, load<Real>(a + at) * load<Real>(slope + at) * load<Real>(idt + o));
        }
    }
    back(layer, alpha, a, first, n, to_input, write(tape, layer.skip, a_array, dx), tape.product);
  }
}

template <class Real>
void Chain<Real>::forward_and_adjoint(Rows<const Real> x, int n, Keep keep, Rows<Real> dx, Tape& tape,
                                      const OnRows& make, const OnRows& take) const {
  QUINTET_ASSERT(output_ == Output::sum && keep != Keep::gradient, "an adjoint needs a sum");
  prepare(tape, n, keep);
  const int rows = keep == Keep::adjoint ? evaluation_rows : block_rows;
  for (int first = 0; first < n; first += rows) {
    const int some = std::min(rows, n - first);
    if (make) make(first, some);
    values(x, first, some, tape);
    adjoint(dx, first, some, tape);
    if (take) take(first, some);
  }
}

template class Chain<float>;
template class Chain<double>;

}  // namespace quintet::networks
