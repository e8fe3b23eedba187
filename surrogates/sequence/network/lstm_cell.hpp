#pragma once

#include <cstring>
#include <iterator>

#include "physics/kernels/activation.hpp"
#include "physics/kernels/pack.hpp"

/// The formulas of one LSTM cell, for packs of W units: forward, and backward through one step of time.
namespace quintet::sequence {

/// Keep a pack in a register: else g++ may read it from memory again for every product, or make two
/// instructions of a comparison with a constant.
template <class P>
inline void hold(P& pack) {
#ifdef __x86_64__
  asm("" : "+v"(pack));
#else
  (void)pack;
#endif
}

namespace detail {
/// c of e^r = 1 + r + r^2 (c[0] + c[1] r + ...), |r| <= ln 2 / 2, with the least largest relative error of
/// e^r - 1, found by exchange (Remez): 1.4e-8 in float, 1.9e-17 in double. Taylor's series would take one
/// and two terms more.
template <class T>
inline constexpr T exp_coefficients[1] = {};
template <>
inline constexpr float exp_coefficients<float>[] = {0.49999998149625436F, 0.16666543424355833F,
                                                    0.041667200708876840F, 0.0083665471243146133F,
                                                    0.0013882516662064062F};
template <>
inline constexpr double exp_coefficients<double>[] = {
    0.50000000000000051999,   0.16666666666666588974,    0.041666666666576468596, 0.0083333333333897288019,
    0.0013888888931666854107, 0.00019841269718720944738, 0.000024801505143013339, 2.7557407676626118611e-6,
    2.7626092707456253053e-7, 2.5053778823830805543e-8};

/// As many integers as a pack has numbers.
template <class T, int W>
using PackBits = Pack<typename quintet::detail::ExpConstants<T>::Bits, W>;
template <class To, class From>
inline To same_bits(const From& from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}
template <class T, int W>
inline PackBits<T, W> bits_of(Pack<T, W> x) {
  return same_bits<PackBits<T, W>>(x);
}
template <class T, int W>
inline PackBits<T, W> sign_bit() {
  return bits_of<T, W>(broadcast<T, W>(T(-0.0)));
}

/// The larger number of each lane; b where one is none.
template <class T, int W>
inline Pack<T, W> larger(Pack<T, W> a, Pack<T, W> b) {
#ifdef __AVX__
  Pack<T, W> c;  // g++ makes two to four instructions of the comparison
  if constexpr (sizeof(T) == sizeof(float))
    asm("vmaxps %2, %1, %0" : "=v"(c) : "v"(a), "v"(b));
  else
    asm("vmaxpd %2, %1, %0" : "=v"(c) : "v"(a), "v"(b));
  return c;
#else
  return a > b ? a : b;
#endif
}

/// -|x|, not below -limit; a NaN stays one.
template <class T, int W>
inline Pack<T, W> minus_size(Pack<T, W> x, T limit) {
  const auto minus = same_bits<Pack<T, W>>(bits_of<T, W>(x) | sign_bit<T, W>());
  return larger<T, W>(broadcast<T, W>(-limit), minus);
}

/// |x| with the sign of `of`.
template <class T, int W>
inline Pack<T, W> with_sign(Pack<T, W> x, Pack<T, W> of) {
  return same_bits<Pack<T, W>>((bits_of<T, W>(x) & ~sign_bit<T, W>()) |
                               (bits_of<T, W>(of) & sign_bit<T, W>()));
}

/// x = a/b and y = c/d of positive b and d; if `share` by one division: a (d r) and c (b r), r = 1/(b d).
template <class T, int W, bool share>
inline void divide(Pack<T, W> a, Pack<T, W> b, Pack<T, W> c, Pack<T, W> d, Pack<T, W>& x, Pack<T, W>& y) {
  if constexpr (share) {
    const Pack<T, W> r = T(1) / (b * d);
    x = a * (d * r);
    y = c * (b * r);
  } else {
    x = a / b;
    y = c / d;
  }
}
}  // namespace detail

/// e^x = scale (1 + p), scale = 2^k and p = e^r - 1 with x = k ln 2 + r, for n packs abreast: each step of
/// the polynomial for all of them, so that one need not wait for the other's. x from -exp_limit to 0.
/// @tparam beside_one bit i: e^x of pack i counts beside 1 alone, and the digits of ln 2 that T has do
template <class T, int W, int n, unsigned beside_one>
inline void split_exps(const Pack<T, W> (&x)[n], Pack<T, W> (&scale)[n], Pack<T, W> (&p)[n]) {
  using Constants = quintet::detail::ExpConstants<T>;
  constexpr auto& c = detail::exp_coefficients<T>;
  constexpr int last = std::size(c) - 1;
  Pack<T, W> shifted[n], r[n];
  const auto each = [](auto&& body) {
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) body(i);
  };
  each([&](int i) { shifted[i] = x[i] * T(1.44269504088896340736) + Constants::round; });
  each([&](int i) {
    const Pack<T, W> k = shifted[i] - Constants::round;
    r[i] = (beside_one >> i & 1) != 0 ? x[i] - k * T(0.69314718055994530942)
                                      : (x[i] - k * Constants::ln2_high) - k * Constants::ln2_low;
  });
  each([&](int i) { p[i] = c[last] * r[i] + c[last - 1]; });
#pragma GCC unroll 16
  for (int k = last - 2; k >= 0; --k) each([&](int i) { p[i] = p[i] * r[i] + c[k]; });
  each([&](int i) { p[i] = p[i] * r[i] + T(1); });
  each([&](int i) {
    p[i] *= r[i];
    const auto one = detail::bits_of<T, W>(broadcast<T, W>(1));
    scale[i] =
        detail::same_bits<Pack<T, W>>((detail::bits_of<T, W>(shifted[i]) << Constants::mantissa) + one);
  });
}

/// tanh(x) of n packs abreast, to 3 ulp: (1 - u)/(1 + u) with u = e^(-2|x|), and the sign of x.
template <class T, int W, int n>
inline void pack_tanhs(const Pack<T, W> (&x)[n], Pack<T, W> (&y)[n]) {
  Pack<T, W> twice[n], scale[n], p[n];
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i)
    twice[i] = T(2) * detail::minus_size<T, W>(x[i], quintet::detail::ExpConstants<T>::tanh_limit);
  split_exps<T, W, n, (1U << n) - 1>(twice, scale, p);
#pragma GCC unroll 8
  for (int i = 0; i < n; ++i) {
    const Pack<T, W> expm1 = scale[i] * p[i] + (scale[i] - T(1));
    y[i] = detail::with_sign<T, W>(expm1, x[i]) / (expm1 + T(2));
  }
}

/// Whether two gates share a division: one of AVX-512's packs takes the time of 20 products and more, one of
/// shorter packs that of 7.
inline constexpr bool shares_divisions = quintet::detail::pack_bytes == 64;

/// The gates of a cell: the logistic function 1/(1 + e^-x) of packs 0, 1 and 3, tanh of pack 2; each to 3 ulp
/// of itself (4 with shared divisions), of either sign. With u = e^-|x| the former is (x < 0 ? u : 1)/(1 +
/// u): what is divided by lies between 1 and 2.
template <class T, int W, bool share = shares_divisions>
inline void pack_gates(const Pack<T, W> (&z)[4], Pack<T, W> (&y)[4]) {
  using Constants = quintet::detail::ExpConstants<T>;
  Pack<T, W> x[4], scale[4], p[4], above[4], below[4];
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q)
    x[q] = q == 2 ? T(2) * detail::minus_size<T, W>(z[q], Constants::tanh_limit)
                  : detail::minus_size<T, W>(z[q], Constants::exp_limit);
  split_exps<T, W, 4, 1U << 2>(x, scale, p);
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    if (q == 2) {
      const Pack<T, W> expm1 = scale[q] * p[q] + (scale[q] - T(1));
      above[q] = detail::with_sign<T, W>(expm1, z[q]);
      below[q] = expm1 + T(2);
    } else {
      const Pack<T, W> u = scale[q] * (p[q] + T(1));  // scale p alone may be too small for a normal number
      above[q] = detail::bits_of<T, W>(z[q]) < 0 ? u : broadcast<T, W>(1);
      below[q] = T(1) + u;
    }
  }
  detail::divide<T, W, share>(above[0], below[0], above[1], below[1], y[0], y[1]);
  detail::divide<T, W, share>(above[2], below[2], above[3], below[3], y[2], y[3]);
}

/// State of a cell after a step: gates i, f, o, candidate g, state c with its tanh.
template <class T, int W>
struct CellState {
  Pack<T, W> i, f, g, o, c, tanh_c;
};

/// Gates and state of a pack of LSTM cells after one step, from the sums z = x W + h U + b of their four
/// gates,
///
///     i = s(z_i),  f = s(z_f),  g = tanh(z_g),  o = s(z_o),  s(x) = 1/(1 + e^-x)
///     c = f c_before + i g;   h = o tanh(c), for several packs abreast, is left to pack_tanhs().
///
/// Source: Hochreiter and Schmidhuber 1997 with the forget gate of Gers et al. 2000; order of gates as in
/// PyTorch and Keras.
template <class T, int W>
inline void cell_forward(const Pack<T, W> (&z)[4], Pack<T, W> c_before, CellState<T, W>& s) {
  Pack<T, W> gates[4];
  pack_gates<T, W>(z, gates);
  s.i = gates[0];
  s.f = gates[1];
  s.g = gates[2];
  s.o = gates[3];
  Pack<T, W> entering = s.i * s.g;
  hold(entering);  // else it is the compiler's choice which of the two products is not rounded
  s.c = s.f * c_before + entering;
}

/// Backward through one step: from h_bar = dL/dh and what the next step left in c_bar, dL/dz of the four
/// gates and c_bar for the step before.
///
///     c_bar += h_bar o (1 - tanh(c)^2)
///     z_bar = (c_bar g i (1 - i), c_bar c_before f (1 - f), c_bar i (1 - g^2), h_bar tanh(c) o (1 - o))
///     c_bar = c_bar f
template <class T, int W>
inline void cell_backward(const CellState<T, W>& s, Pack<T, W> c_before, Pack<T, W> h_bar, Pack<T, W>& c_bar,
                          Pack<T, W> (&z_bar)[4]) {
  c_bar += h_bar * s.o * (T(1) - s.tanh_c * s.tanh_c);
  z_bar[0] = c_bar * s.g * s.i * (T(1) - s.i);
  z_bar[1] = c_bar * c_before * s.f * (T(1) - s.f);
  z_bar[2] = c_bar * s.i * (T(1) - s.g * s.g);
  z_bar[3] = h_bar * s.tanh_c * s.o * (T(1) - s.o);
  c_bar *= s.f;
}

}  // namespace quintet::sequence
