#pragma once

#include "physics/kernels/activation.hpp"
#include "surrogates/flow/decoder/jet_activation.hpp"

/// The sweeps of jet_activation.hpp for an activation and a number of tangents known to the compiler. They
/// are many, so that they are compiled by themselves, jet_activation_float.cpp and jet_activation_double.cpp.
namespace quintet::flow {

/// Call `body.template operator()<T>()` for T = n_tangents.
template <class Body>
void with_tangents(int n_tangents, Body&& body) {
  if (n_tangents == 0) return body.template operator()<0>();
  if (n_tangents == 1) return body.template operator()<1>();
  if (n_tangents == 2) return body.template operator()<2>();
  return body.template operator()<3>();
}

namespace detail {

/// sum_ij second_ij a_i a_j, and its derivative by each a_i.
template <int T, class Real>
KOKKOS_FORCEINLINE_FUNCTION Pack<Real> quadratic(const Real* second, const Pack<Real>* a, Pack<Real>* slope) {
  Pack<Real> q{};
  for (int t = 0; t < T; ++t) {
    slope[t] = Real(2) * second[t] * a[t];
    q += second[t] * a[t] * a[t];
  }
  int pair = T;
  for (int t = 0; t < T; ++t)
    for (int u = t + 1; u < T; ++u, ++pair) {
      slope[t] += second[pair] * a[u];
      slope[u] += second[pair] * a[t];
      q += second[pair] * a[t] * a[u];
    }
  return q;
}

}  // namespace detail

/// The value alone: no slope is formed.
template <class Real, Activation A>
void sweep_values(const DecoderLayer<Real>& layer, const RowBlock<Real>& rows,
                  const LayerArrays<Real>& arrays, bool keep) {
  constexpr int w = pack_width<Real>;
  const int stride = layer.stride;
  const Real* w_xi = layer.coordinates.data();
  for (int row = 0; row < rows.n_rows; ++row) {
    const Real* from_node = arrays.node_products + std::ptrdiff_t{rows.local[row]} * arrays.node_stride;
    const Real* xi = rows.place.data() + std::ptrdiff_t{row} * n_axes;
    for (int o = 0; o < stride; o += w) {
      const std::ptrdiff_t at = std::ptrdiff_t{row} * stride + o;
      Pack<Real> a = arrays.a != nullptr ? load<Real>(arrays.a + at) : Pack<Real>{};
      a = a + load<Real>(from_node + o) + xi[0] * load<Real>(w_xi + o) +
          xi[1] * load<Real>(w_xi + stride + o) + xi[2] * load<Real>(w_xi + 2 * stride + o);
      Pack<Real> y, unused;
      activate<A, Real, w>(a, y, unused);
      if (keep && arrays.a != nullptr) store<Real>(arrays.a + at, a);
      store<Real>(arrays.h + at, y);
    }
  }
}

// Value and derivatives go through y = s(a) together: y_x = s' a_x, y_xx = s' a_xx + s'' a_x^2.
template <class Real, Activation A, int T>
void sweep_forward(const DecoderLayer<Real>& layer, const JetPlan& plan, const RowBlock<Real>& rows,
                   const LayerArrays<Real>& arrays, bool keep) {
  constexpr int w = pack_width<Real>;
  const int n = rows.n_rows, stride = layer.stride, n_inner = plan.n_inner();
  const std::ptrdiff_t channel = std::ptrdiff_t{n} * stride;
  const Real* w_xi = layer.coordinates.data();
  const auto product = [&](std::ptrdiff_t at) {
    return arrays.a != nullptr ? load<Real>(arrays.a + at) : Pack<Real>{};
  };
  const auto leave = [&](std::ptrdiff_t at, Pack<Real> a, Pack<Real> h) {
    if (keep && arrays.a != nullptr) store<Real>(arrays.a + at, a);
    store<Real>(arrays.h + at, h);
  };
  for (int row = 0; row < n; ++row) {
    const Real* from_node = arrays.node_products + std::ptrdiff_t{rows.local[row]} * arrays.node_stride;
    const Real* xi = rows.place.data() + std::ptrdiff_t{row} * n_axes;
    const Real* coefficients = rows.coefficients.data() + std::ptrdiff_t{row} * n_inner * row_coefficients;
    for (int o = 0; o < stride; o += w) {
      const std::ptrdiff_t at = std::ptrdiff_t{row} * stride + o;
      const Pack<Real> weight[n_axes] = {load<Real>(w_xi + o), load<Real>(w_xi + stride + o),
                                         load<Real>(w_xi + 2 * stride + o)};
      const Pack<Real> a =
          product(at) + load<Real>(from_node + o) + xi[0] * weight[0] + xi[1] * weight[1] + xi[2] * weight[2];
      Pack<Real> y, dy, ddy;
      if constexpr (T > 0)
        activate<A, Real, w>(a, y, dy, ddy);
      else
        activate<A, Real, w>(a, y, dy);
      leave(at, a, y);
      Pack<Real> tangent[T + 1], unused[T + 1];
      for (int t = 0; t < T; ++t) {
        const std::ptrdiff_t here = at + (1 + t) * channel;
        tangent[t] = product(here) + weight[plan.tangents[t]];
        leave(here, tangent[t], dy * tangent[t]);
      }
      for (int k = 0; k < n_inner; ++k) {
        const std::ptrdiff_t here = at + (1 + T + k) * channel;
        const Real* first = coefficients + k * row_coefficients;
        const Pack<Real> a_d =
            product(here) + first[0] * weight[0] + first[1] * weight[1] + first[2] * weight[2];
        Pack<Real> h_d = dy * a_d;
        if constexpr (T > 0) h_d += ddy * detail::quadratic<T, Real>(first + n_axes, tangent, unused);
        leave(here, a_d, h_d);
      }
    }
  }
}

// The transpose of sweep_forward: what is cheap (s, s', s'') is computed again, for reading it would take
// longer.
template <class Real, Activation A, int T>
void sweep_backward(const DecoderLayer<Real>& layer, const JetPlan& plan, const RowBlock<Real>& rows,
                    const LayerArrays<Real>& arrays, Real* h_bar, Real* coordinates_bar, Real* node_bar) {
  constexpr int w = pack_width<Real>;
  const int n = rows.n_rows, stride = layer.stride, n_inner = plan.n_inner();
  const std::ptrdiff_t channel = std::ptrdiff_t{n} * stride;
  const Real* w_xi = layer.coordinates.data();
  const bool first_layer = arrays.a == nullptr;
  for (int row = 0; row < n; ++row) {
    const std::ptrdiff_t node_at = std::ptrdiff_t{rows.local[row]} * arrays.node_stride;
    const Real* xi = rows.place.data() + std::ptrdiff_t{row} * n_axes;
    const Real* coefficients = rows.coefficients.data() + std::ptrdiff_t{row} * n_inner * row_coefficients;
    for (int o = 0; o < stride; o += w) {
      const std::ptrdiff_t at = std::ptrdiff_t{row} * stride + o;
      const Pack<Real> weight[n_axes] = {load<Real>(w_xi + o), load<Real>(w_xi + stride + o),
                                         load<Real>(w_xi + 2 * stride + o)};
      const Pack<Real> a = first_layer ? load<Real>(arrays.node_products + node_at + o) + xi[0] * weight[0] +
                                             xi[1] * weight[1] + xi[2] * weight[2]
                                       : load<Real>(arrays.a + at);
      Pack<Real> y, dy, ddy, d3y;
      activate<A, Real, w>(a, y, dy, ddy, d3y);
      store<Real>(arrays.h + at, y);
      Pack<Real> a_bar = dy * load<Real>(h_bar + at);
      Pack<Real> weight_bar[n_axes] = {};

      Pack<Real> tangent[T + 1], tangent_bar[T + 1], slope[T + 1];
      for (int t = 0; t < T; ++t) {
        const std::ptrdiff_t here = at + (1 + t) * channel;
        tangent[t] = first_layer ? weight[plan.tangents[t]] : load<Real>(arrays.a + here);
        const Pack<Real> bar = load<Real>(h_bar + here);
        store<Real>(arrays.h + here, dy * tangent[t]);
        a_bar += ddy * tangent[t] * bar;
        tangent_bar[t] = dy * bar;
      }
      for (int k = 0; k < n_inner; ++k) {
        const std::ptrdiff_t here = at + (1 + T + k) * channel;
        const Real* first = coefficients + k * row_coefficients;
        const Pack<Real> a_d = first_layer
                                   ? first[0] * weight[0] + first[1] * weight[1] + first[2] * weight[2]
                                   : load<Real>(arrays.a + here);
        const Pack<Real> bar = load<Real>(h_bar + here);
        Pack<Real> h_d = dy * a_d;
        a_bar += ddy * a_d * bar;
        if constexpr (T > 0) {
          const Pack<Real> q = detail::quadratic<T, Real>(first + n_axes, tangent, slope);
          h_d += ddy * q;
          a_bar += d3y * q * bar;
          const Pack<Real> through = ddy * bar;
          for (int t = 0; t < T; ++t) tangent_bar[t] += through * slope[t];
        }
        store<Real>(arrays.h + here, h_d);
        const Pack<Real> a_d_bar = dy * bar;
        store<Real>(h_bar + here, a_d_bar);
        for (int i = 0; i < n_axes; ++i) weight_bar[i] += first[i] * a_d_bar;
      }
      for (int t = 0; t < T; ++t) {
        store<Real>(h_bar + at + (1 + t) * channel, tangent_bar[t]);
        weight_bar[plan.tangents[t]] += tangent_bar[t];
      }
      store<Real>(h_bar + at, a_bar);
      store<Real>(node_bar + node_at + o, load<Real>(node_bar + node_at + o) + a_bar);
      if (!layer.reads_input) continue;
      for (int i = 0; i < n_axes; ++i) {
        Real* bar = coordinates_bar + i * stride + o;
        store<Real>(bar, load<Real>(bar) + weight_bar[i] + xi[i] * a_bar);
      }
    }
  }
}

template <class Real>
void activate_forward(const DecoderLayer<Real>& layer, const JetPlan& plan, const RowBlock<Real>& rows,
                      const LayerArrays<Real>& arrays, bool keep) {
  with_activation(layer.activation, [&]<Activation A>() {
    if (plan.n_channels() == 1) return sweep_values<Real, A>(layer, rows, arrays, keep);
    with_tangents(plan.n_tangents(),
                  [&]<int T>() { sweep_forward<Real, A, T>(layer, plan, rows, arrays, keep); });
  });
}

template <class Real>
void activate_backward(const DecoderLayer<Real>& layer, const JetPlan& plan, const RowBlock<Real>& rows,
                       const LayerArrays<Real>& arrays, Real* h_bar, Real* coordinates_bar, Real* node_bar) {
  with_activation(layer.activation, [&]<Activation A>() {
    with_tangents(plan.n_tangents(), [&]<int T>() {
      sweep_backward<Real, A, T>(layer, plan, rows, arrays, h_bar, coordinates_bar, node_bar);
    });
  });
}

}  // namespace quintet::flow
