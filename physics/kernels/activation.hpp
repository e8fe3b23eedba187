#pragma once

#include <string>

#include "io/log/error.hpp"
#include "physics/kernels/activation_kind.hpp"
#include "physics/kernels/pack.hpp"

/// Activation functions of neural networks with their derivatives, for packs.
namespace quintet {

namespace detail {
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<double> {
  using Bits = std::int64_t;
  static constexpr int mantissa = 52, degree = 13;
  static constexpr double round = 0x1.8p52, ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
  static constexpr double tanh_limit = 20.0, exp_limit = 708.0;
  static constexpr int log1p_terms = 18;
};
template <>
struct ExpConstants<float> {
  using Bits = std::int32_t;
  static constexpr int mantissa = 23, degree = 7;
  static constexpr float round = 0x1.8p23f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
  static constexpr float tanh_limit = 9.5f, exp_limit = 87.0f;
  static constexpr int log1p_terms = 9;
};

/// scale = 2^n and p = exp(r) - 1 with x = n ln 2 + r, |r| <= ln 2 / 2; p by its Taylor series, below half an
/// ulp.
template <class T, int W>
KOKKOS_INLINE_FUNCTION void split_exp(Pack<T, W> x, Pack<T, W>& scale, Pack<T, W>& p) {
  using Constants = ExpConstants<T>;
  using Bits = typename Constants::Bits;
  constexpr T inverse_factorial[] = {T(1),
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
  const Pack<T, W> shifted =
      x * T(1.44269504088896340736) + Constants::round;  // the integer sits in the low bits
  const Pack<T, W> n = shifted - Constants::round;
  const Pack<T, W> r = (x - n * Constants::ln2_high) - n * Constants::ln2_low;
  Pack<T, W> q = broadcast<T, W>(inverse_factorial[Constants::degree]);
  for (int k = Constants::degree - 1; k >= 1; --k) q = q * r + inverse_factorial[k];
  p = q * r;
  Pack<Bits, W> bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  const T one = 1;
  Bits one_bits;
  std::memcpy(&one_bits, &one, sizeof(one));
  bits = (bits << Constants::mantissa) + one_bits;
  std::memcpy(&scale, &bits, sizeof(bits));
}
}  // namespace detail

/// tanh(x) to about 2 ulp: (e^2x - 1)/(e^2x + 1) through expm1, so that small x keep their relative accuracy.
template <class T, int W>
KOKKOS_INLINE_FUNCTION Pack<T, W> pack_tanh(Pack<T, W> x) {
  const auto limit = broadcast<T, W>(detail::ExpConstants<T>::tanh_limit);
  x = x > limit ? limit : x;
  x = x < -limit ? -limit : x;
  Pack<T, W> scale, p;
  detail::split_exp<T, W>(x + x, scale, p);
  const Pack<T, W> expm1 = scale * p + (scale - T(1));
  return expm1 / (expm1 + T(2));
}

/// The logistic function s = 1/(1 + e^-x) and its complement 1 - s, and u = e^-|x|, each to a few ulp of
/// itself.
template <class T, int W>
KOKKOS_INLINE_FUNCTION void pack_logistic(Pack<T, W> x, Pack<T, W>& s, Pack<T, W>& complement,
                                          Pack<T, W>& u) {
  const auto zero = broadcast<T, W>(0), limit = broadcast<T, W>(-detail::ExpConstants<T>::exp_limit);
  Pack<T, W> minus = x > zero ? -x : x;
  minus = minus < limit ? limit : minus;
  Pack<T, W> scale, p;
  detail::split_exp<T, W>(minus, scale, p);
  u = scale * p + scale;
  const Pack<T, W> large = T(1) / (T(1) + u), small = u * large;
  s = x > zero ? large : small;
  complement = x > zero ? small : large;
}

/// log(1 + e^x) = max(x, 0) + log1p(u) for u = e^-|x|, to a few ulp: log1p(u) = 2 artanh(u/(2 + u)) by its
/// series, u/(2 + u) <= 1/3.
template <class T, int W>
KOKKOS_INLINE_FUNCTION Pack<T, W> pack_softplus(Pack<T, W> x, Pack<T, W> u) {
  constexpr int terms = detail::ExpConstants<T>::log1p_terms;
  const auto zero = broadcast<T, W>(0);
  const Pack<T, W> z = u / (T(2) + u), z2 = z * z;
  Pack<T, W> q = broadcast<T, W>(T(1) / (2 * terms - 1));
  for (int k = terms - 2; k >= 0; --k) q = q * z2 + T(1) / (2 * k + 1);
  return (x > zero ? x : zero) + T(2) * z * q;
}

/// y = phi(x) and dy = phi'(x).
template <Activation A, class T, int W>
KOKKOS_INLINE_FUNCTION void activate(Pack<T, W> x, Pack<T, W>& y, Pack<T, W>& dy) {
  const auto zero = broadcast<T, W>(0), one = broadcast<T, W>(1);
  if constexpr (A == Activation::linear) {
    y = x;
    dy = one;
  } else if constexpr (A == Activation::tanh) {
    y = pack_tanh<T, W>(x);
    dy = T(1) - y * y;
  } else if constexpr (A == Activation::relu) {
    y = x > zero ? x : zero;
    dy = x > zero ? one : zero;
  } else if constexpr (A == Activation::relu6) {
    const auto six = broadcast<T, W>(6);
    y = x > zero ? x : zero;
    y = y < six ? y : six;
    dy = x > zero ? one : zero;
    dy = x < six ? dy : zero;
  } else if constexpr (A == Activation::sigmoid) {
    y = T(0.5) + T(0.5) * pack_tanh<T, W>(T(0.5) * x);
    dy = y * (T(1) - y);
  } else if constexpr (A == Activation::softplus) {
    Pack<T, W> complement, u;
    pack_logistic<T, W>(x, dy, complement, u);
    y = pack_softplus<T, W>(x, u);
  } else if constexpr (A == Activation::silu) {
    const Pack<T, W> s = T(0.5) + T(0.5) * pack_tanh<T, W>(T(0.5) * x);
    y = x * s;
    dy = s + y * (T(1) - s);
  } else {  // gelu: 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))
    constexpr T c = T(0.79788456080286535588), k = T(0.044715);
    const Pack<T, W> t = pack_tanh<T, W>(c * (x + k * x * x * x));
    y = T(0.5) * x * (T(1) + t);
    dy = T(0.5) * (T(1) + t) + T(0.5) * x * (T(1) - t * t) * c * (T(1) + T(3) * k * x * x);
  }
}

/// y = phi(x), dy = phi'(x), ddy = phi''(x) and d3y = phi'''(x).
template <Activation A, class T, int W>
KOKKOS_INLINE_FUNCTION void activate(Pack<T, W> x, Pack<T, W>& y, Pack<T, W>& dy, Pack<T, W>& ddy,
                                     Pack<T, W>& d3y) {
  if constexpr (A == Activation::softplus) {
    Pack<T, W> complement, u;
    pack_logistic<T, W>(x, dy, complement, u);
    y = pack_softplus<T, W>(x, u);
    ddy = dy * complement;
    d3y = ddy * (complement - dy);
    return;
  }
  activate<A, T, W>(x, y, dy);
  if constexpr (A == Activation::tanh) {
    ddy = T(-2) * y * dy;
    d3y = T(-2) * (dy * dy + y * ddy);
  } else if constexpr (A == Activation::sigmoid) {
    ddy = dy * (T(1) - T(2) * y);
    d3y = ddy * (T(1) - T(2) * y) - T(2) * dy * dy;
  } else if constexpr (A == Activation::silu) {
    const Pack<T, W> s = T(0.5) + T(0.5) * pack_tanh<T, W>(T(0.5) * x);
    const Pack<T, W> ds = s * (T(1) - s), dds = ds * (T(1) - T(2) * s);
    ddy = T(2) * ds + x * dds;
    d3y = T(3) * dds + x * (dds * (T(1) - T(2) * s) - T(2) * ds * ds);
  } else if constexpr (A == Activation::gelu) {  // t = tanh(v) = 2 s(2v) - 1, v = c (x + k x^3)
    constexpr T c = T(0.79788456080286535588), k = T(0.044715);
    Pack<T, W> s, complement, unused;
    pack_logistic<T, W>(T(2) * c * (x + k * x * x * x), s, complement, unused);
    const Pack<T, W> dv = c * (T(1) + T(3) * k * x * x), ddv = T(6) * c * k * x;
    const Pack<T, W> t = s - complement, slope = T(4) * s * complement;  // of tanh at v: nothing cancels
    const Pack<T, W> dt = slope * dv, dslope = T(-2) * t * dt;
    const Pack<T, W> ddt = dslope * dv + slope * ddv, ddslope = T(-2) * (dt * dt + t * ddt);
    ddy = dt + T(0.5) * x * ddt;
    d3y = T(1.5) * ddt + T(0.5) * x * (ddslope * dv + T(2) * dslope * ddv + T(6) * c * k * slope);
  } else {
    ddy = d3y = Pack<T, W>{};
  }
}

/// y = phi(x), dy = phi'(x) and ddy = phi''(x).
template <Activation A, class T, int W>
KOKKOS_INLINE_FUNCTION void activate(Pack<T, W> x, Pack<T, W>& y, Pack<T, W>& dy, Pack<T, W>& ddy) {
  Pack<T, W> unused;
  activate<A, T, W>(x, y, dy, ddy, unused);
}

/// Whether phi'' is not 0 throughout: operators of second order see through networks of such functions alone.
[[nodiscard]] constexpr bool has_curvature(Activation activation) {
  return activation != Activation::linear && activation != Activation::relu &&
         activation != Activation::relu6;
}

/// Call `body.template operator()<A>()` for the activation chosen at run time. Throws InternalError for none.
template <class Body>
void with_activation(Activation activation, Body&& body) {
  switch (activation) {
    case Activation::linear:
      return body.template operator()<Activation::linear>();
    case Activation::tanh:
      return body.template operator()<Activation::tanh>();
    case Activation::relu:
      return body.template operator()<Activation::relu>();
    case Activation::relu6:
      return body.template operator()<Activation::relu6>();
    case Activation::softplus:
      return body.template operator()<Activation::softplus>();
    case Activation::sigmoid:
      return body.template operator()<Activation::sigmoid>();
    case Activation::silu:
      return body.template operator()<Activation::silu>();
    case Activation::gelu:
      return body.template operator()<Activation::gelu>();
  }
  throw InternalError(fmt::format("no activation has the number {}", static_cast<int>(activation)));
}

}  // namespace quintet
