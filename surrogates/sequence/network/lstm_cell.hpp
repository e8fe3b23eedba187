#pragma once

#include "physics/kernels/activation.hpp"

/// The formulas of one LSTM cell, for packs of units: forward, and backward through one step of time.
namespace quintet::sequence {

namespace detail {
template <class T>
inline constexpr T inverse_factorial[] = {T(1),
                                          T(1),
                                          T(1) / 2,
                                          T(1) / 6,
                                          T(1) / 24,
                                          T(1) / 120,
                                          T(1) / 720,
                                          T(1) / 5040,
                                          T(1) / 40320,
                                          T(1) / 362880,
                                          T(1) / 3628800,
                                          T(1) / 39916800,
                                          T(1) / 479001600,
                                          T(1) / 6227020800.0};
}

/// scale = 2^k and p = e^r - 1 with x = k ln 2 + r for n packs abreast, as split_exp() has it for one: each
/// step of the series for all of them, so that one need not wait for the other's. |x| below the limit of exp.
template <class T, int n>
inline void split_exps(const Pack<T> (&x)[n], Pack<T> (&scale)[n], Pack<T> (&p)[n]) {
  constexpr int w = pack_width<T>;
  using Constants = quintet::detail::ExpConstants<T>;
  using Bits = typename Constants::Bits;
  Pack<T> shifted[n], r[n];
  const auto each = [](auto&& body) {
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) body(i);
  };
  each([&](int i) { shifted[i] = x[i] * T(1.44269504088896340736) + Constants::round; });
  each([&](int i) {
    const Pack<T> k = shifted[i] - Constants::round;
    r[i] = (x[i] - k * Constants::ln2_high) - k * Constants::ln2_low;
  });
  each([&](int i) { p[i] = broadcast<T>(detail::inverse_factorial<T>[Constants::degree]); });
#pragma GCC unroll 16
  for (int k = Constants::degree - 1; k >= 1; --k)
    each([&](int i) { p[i] = p[i] * r[i] + detail::inverse_factorial<T>[k]; });
  each([&](int i) {
    p[i] *= r[i];
    Pack<Bits, w> bits;
    std::memcpy(&bits, &shifted[i], sizeof(bits));
    const T one = 1;
    Bits one_bits;
    std::memcpy(&one_bits, &one, sizeof(one));
    bits = (bits << Constants::mantissa) + one_bits;
    std::memcpy(&scale[i], &bits, sizeof(bits));
  });
}

/// x cut to +-limit; a NaN stays one.
template <class T>
inline Pack<T> cut(Pack<T> x, T limit) {
  const auto most = broadcast<T>(limit);
  x = x > most ? most : x;
  return x < -most ? -most : x;
}

/// tanh(x) of n packs abreast, to 2 ulp.
template <class T, int n>
inline void pack_tanhs(const Pack<T> (&x)[n], Pack<T> (&y)[n]) {
  Pack<T> twice[n], scale[n], p[n];
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) twice[i] = T(2) * cut<T>(x[i], quintet::detail::ExpConstants<T>::tanh_limit);
  split_exps<T, n>(twice, scale, p);
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    const Pack<T> expm1 = scale[i] * p[i] + (scale[i] - T(1));
    y[i] = expm1 / (expm1 + T(2));
  }
}

/// The gates of a cell: the logistic function 1/(1 + e^-x) of packs 0, 1 and 3, tanh of pack 2; each to 2 ulp
/// of itself, of either sign.
template <class T>
inline void pack_gates(const Pack<T> (&z)[4], Pack<T> (&y)[4]) {
  using Constants = quintet::detail::ExpConstants<T>;
  Pack<T> x[4], scale[4], p[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q)
    x[q] = q == 2 ? T(2) * cut<T>(z[q], Constants::tanh_limit) : -cut<T>(z[q], Constants::exp_limit);
  split_exps<T, 4>(x, scale, p);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    const Pack<T> expm1 = scale[q] * p[q] + (scale[q] - T(1));
    y[q] = q == 2 ? expm1 / (expm1 + T(2)) : T(1) / (T(1) + (scale[q] * p[q] + scale[q]));
  }
}

/// State of a cell after a step: gates i, f, o, candidate g, state c with its tanh, output h.
template <class T>
struct CellState {
  Pack<T> i, f, g, o, c, tanh_c, h;
};

/// One step of n packs of LSTM cells from the sums z = x W + h U + b of their four gates,
///
///     i = s(z_i),  f = s(z_f),  g = tanh(z_g),  o = s(z_o),  s(x) = 1/(1 + e^-x)
///     c = f c_before + i g,     h = o tanh(c).
///
/// Source: Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; order of gates as in
/// PyTorch and Keras.
template <class T, int n>
inline void cells_forward(const Pack<T> (&z)[n][4], const Pack<T> (&c_before)[n], CellState<T> (&s)[n]) {
  Pack<T> c[n], tanh_c[n];
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    Pack<T> gates[4];
    pack_gates<T>(z[i], gates);
    s[i].i = gates[0];
    s[i].f = gates[1];
    s[i].g = gates[2];
    s[i].o = gates[3];
    s[i].c = c[i] = s[i].f * c_before[i] + s[i].i * s[i].g;
  }
  pack_tanhs<T, n>(c, tanh_c);
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    s[i].tanh_c = tanh_c[i];
    s[i].h = s[i].o * tanh_c[i];
  }
}

/// Backward through one step: from h_bar = dL/dh and what the next step left in c_bar, dL/dz of the four
/// gates and c_bar for the step before.
///
///     c_bar += h_bar o (1 - tanh(c)^2)
///     z_bar = (c_bar g i (1 - i), c_bar c_before f (1 - f), c_bar i (1 - g^2), h_bar tanh(c) o (1 - o))
///     c_bar = c_bar f
template <class T>
inline void cell_backward(const CellState<T>& s, Pack<T> c_before, Pack<T> h_bar, Pack<T>& c_bar,
                          Pack<T> (&z_bar)[4]) {
  c_bar += h_bar * s.o * (T(1) - s.tanh_c * s.tanh_c);
  z_bar[0] = c_bar * s.g * s.i * (T(1) - s.i);
  z_bar[1] = c_bar * c_before * s.f * (T(1) - s.f);
  z_bar[2] = c_bar * s.i * (T(1) - s.g * s.g);
  z_bar[3] = h_bar * s.tanh_c * s.o * (T(1) - s.o);
  c_bar *= s.f;
}

}  // namespace quintet::sequence
