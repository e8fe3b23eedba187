#pragma once

#include <array>

#include "physics/kernels/activation.hpp"

/// Derivatives of activation functions of any order, for Taylor's series.
namespace quintet::flow {

/// Derivatives that activation_derivatives() knows at most.
inline constexpr int most_derivatives = 9;

namespace detail {

/// c [order][power] with which s = 1/(1 + e^-x), q = s (1 - s) and v = 1 - 2 s make derivatives of s:
/// A_n = sum_m c_nm q^m for odd n, v A_n for even n. From q' = q v, v' = -2 q and v^2 = 1 - 4 q:
/// c_(n+1)m = m c_nm, for even n less (4 m - 2) c_n(m-1).
constexpr auto logistic_derivatives = [] {
  constexpr int n_powers = most_derivatives / 2 + 2;
  std::array<std::array<double, n_powers>, most_derivatives + 1> c{};
  c[1][1] = 1;
  for (int n = 1; n < most_derivatives; ++n)
    for (int m = 1; m < n_powers; ++m) c[n + 1][m] = m * c[n][m] - (n % 2 ? 0 : (4 * m - 2) * c[n][m - 1]);
  return c;
}();

/// s and its derivatives up to order n at x, to [n + 1].
template <class T, int W>
KOKKOS_INLINE_FUNCTION void logistic_series(Pack<T, W> x, int n, Pack<T, W>* to) {
  Pack<T, W> complement, unused;
  pack_logistic<T, W>(x, to[0], complement, unused);
  const Pack<T, W> q = to[0] * complement, v = complement - to[0];
  for (int order = 1; order <= n; ++order) {
    Pack<T, W> sum{};
    for (int m = order / 2 + 1; m >= 1; --m) sum = (sum + T(logistic_derivatives[order][m])) * q;
    to[order] = order % 2 ? sum : v * sum;
  }
}

}  // namespace detail

/// Whether activation_derivatives() has them.
[[nodiscard]] constexpr bool has_series(Activation activation) {
  return activation == Activation::softplus || activation == Activation::tanh ||
         activation == Activation::sigmoid || activation == Activation::silu;
}

/// phi and its derivatives up to order n <= most_derivatives at x, to [n + 1]. Throws InternalError for
/// activations without a series.
template <class T, int W>
void activation_derivatives(Activation activation, Pack<T, W> x, int n, Pack<T, W>* to) {
  Pack<T, W> s[most_derivatives + 1];
  if (activation == Activation::softplus) {
    Pack<T, W> unused;
    activate<Activation::softplus, T, W>(x, to[0], unused);
    if (n > 0) detail::logistic_series<T, W>(x, n - 1, to + 1);
  } else if (activation == Activation::sigmoid) {
    detail::logistic_series<T, W>(x, n, to);
  } else if (activation == Activation::tanh) {  // 2 s(2 x) - 1
    detail::logistic_series<T, W>(x + x, n, s);
    to[0] = pack_tanh<T, W>(x);
    T scale = 2;
    for (int order = 1; order <= n; ++order) to[order] = (scale *= 2) * s[order];
  } else if (activation == Activation::silu) {  // x s
    detail::logistic_series<T, W>(x, n, s);
    to[0] = x * s[0];
    for (int order = 1; order <= n; ++order) to[order] = x * s[order] + T(order) * s[order - 1];
  } else {
    throw InternalError("an activation without a series");
  }
}

/// The largest |phi^(n)| [n], on a lattice of 1/100 from -20 to 20.
[[nodiscard]] std::array<double, most_derivatives + 1> largest_derivatives(Activation activation);

}  // namespace quintet::flow
