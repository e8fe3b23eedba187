#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "tests/emulation/ptx/numbers.hpp"

/// What single instructions make of the numbers of one lane. Source: NVIDIA,
/// Parallel Thread Execution ISA 9.0. Approximate functions (.approx) are as
/// exact here as the host's.
namespace quintet::emulation {

struct Add {
  template <class T>
  static T f(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<u64>(a) + static_cast<u64>(b));
    else
      return a + b;
  }
};
struct Sub {
  template <class T>
  static T f(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(b));
    else
      return a - b;
  }
};
struct Mul {
  template <class T>
  static T f(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b));
    else
      return a * b;
  }
};
template <class T>
struct Wider {
  using type = T;
};
template <>
struct Wider<u16> {
  using type = u32;
};
template <>
struct Wider<s16> {
  using type = s32;
};
template <>
struct Wider<u32> {
  using type = u64;
};
template <>
struct Wider<s32> {
  using type = s64;
};
struct MulWide {
  template <class T>
  static auto f(T a, T b) {
    using W = typename Wider<T>::type;
    return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct MulHigh {
  template <class T>
  static T f(T a, T b) {
    using W = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (8 * sizeof(T)));
  }
};
struct Mad {
  template <class T>
  static T f(T a, T b, T c) {
    return static_cast<T>(static_cast<u64>(a) * static_cast<u64>(b) + static_cast<u64>(c));
  }
};
struct MadHigh {
  template <class T>
  static T f(T a, T b, T c) {
    return static_cast<T>(static_cast<u64>(MulHigh::f(a, b)) + static_cast<u64>(c));
  }
};
struct MadWide {
  template <class T, class W>
  static W f(T a, T b, W c) {
    return static_cast<W>(static_cast<u64>(static_cast<W>(a) * static_cast<W>(b)) + static_cast<u64>(c));
  }
};
struct Fma {
  template <class T>
  static T f(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};
struct Div {
  template <class T>
  static T f(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(~T{0});
      if constexpr (std::is_signed_v<T>)
        if (b == -1) return static_cast<T>(-static_cast<u64>(a));
      return static_cast<T>(a / b);
    } else
      return a / b;
  }
};
struct Rem {
  template <class T>
  static T f(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1) return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T>
  static T f(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a < b ? a : b;
    else
      return std::isnan(a) ? b : std::isnan(b) ? a : a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct Max {
  template <class T>
  static T f(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a > b ? a : b;
    else
      return std::isnan(a) ? b : std::isnan(b) ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
struct Neg {
  template <class T>
  static T f(T a) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(-static_cast<u64>(a));
    else
      return -a;
  }
};
struct Abs {
  template <class T>
  static T f(T a) {
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? static_cast<T>(-static_cast<u64>(a)) : a;
    else
      return std::fabs(a);
  }
};
struct And {
  template <class T>
  static T f(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T f(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T f(T a, T b) {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  static T f(T a) {
    return static_cast<T>(~a);
  }
};
struct CNot {
  template <class T>
  static T f(T a) {
    return a == 0 ? 1 : 0;
  }
};
struct Popc {
  template <class T>
  static u32 f(T a) {
    return static_cast<u32>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  static u32 f(T a) {
    return static_cast<u32>(std::countl_zero(a));
  }
};
struct Brev {
  template <class T>
  static T f(T a) {
    T r = 0;
    for (unsigned k = 0; k < 8 * sizeof(T); ++k) r = static_cast<T>(r << 1 | (a >> k & 1));
    return r;
  }
};
struct Bfind {
  template <class T>
  static u32 f(T a) {
    if constexpr (std::is_signed_v<T>) {
      if (a < 0) a = ~a;
    }
    const auto x = static_cast<std::make_unsigned_t<T>>(a);
    return x == 0 ? ~0u : static_cast<u32>(8 * sizeof(T)) - 1u - static_cast<u32>(std::countl_zero(x));
  }
};
struct BfindShift {
  template <class T>
  static u32 f(T a) {
    const u32 x = Bfind::f(a);
    return x == ~0u ? x : static_cast<u32>(8 * sizeof(T)) - 1u - x;
  }
};
struct Sqrt {
  template <class T>
  static T f(T a) {
    return std::sqrt(a);
  }
};
struct Rcp {
  template <class T>
  static T f(T a) {
    return T{1} / a;
  }
};
struct Rsqrt {
  template <class T>
  static T f(T a) {
    return T{1} / std::sqrt(a);
  }
};
struct Ex2 {
  template <class T>
  static T f(T a) {
    return std::exp2(a);
  }
};
struct Lg2 {
  template <class T>
  static T f(T a) {
    return std::log2(a);
  }
};
struct Sin {
  template <class T>
  static T f(T a) {
    return std::sin(a);
  }
};
struct Cos {
  template <class T>
  static T f(T a) {
    return std::cos(a);
  }
};
struct Tanh {
  template <class T>
  static T f(T a) {
    return std::tanh(a);
  }
};
struct CopySign {
  template <class T>
  static T f(T a, T b) {
    return std::copysign(b, a);
  }
};
/// .ftz: subnormal numbers are 0.
template <class Op>
struct Flushed {
  static float of(float a) { return std::fpclassify(a) == FP_SUBNORMAL ? std::copysign(0.0F, a) : a; }
  static float f(float a) { return of(Op::f(of(a))); }
};
struct Same {
  template <class T>
  static T f(T a) {
    return a;
  }
};
/// rcp.approx.ftz.f64: the upper 32 bits alone.
struct RcpHigh {
  static double f(double a) {
    return std::bit_cast<double>(
        std::bit_cast<u64>(1 / std::bit_cast<double>(std::bit_cast<u64>(a) & 0xffffffff00000000)) &
        0xffffffff00000000);
  }
};
struct RsqrtHigh {
  static double f(double a) {
    return std::bit_cast<double>(
        std::bit_cast<u64>(1 / std::sqrt(std::bit_cast<double>(std::bit_cast<u64>(a) & 0xffffffff00000000))) &
        0xffffffff00000000);
  }
};

struct Eq {
  template <class T>
  static bool f(T a, T b) {
    return a == b;
  }
};
struct Ne {
  template <class T>
  static bool f(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a > b;
    else
      return a != b;
  }
};
struct Lt {
  template <class T>
  static bool f(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool f(T a, T b) {
    return a <= b;
  }
};
struct Gt {
  template <class T>
  static bool f(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool f(T a, T b) {
    return a >= b;
  }
};
struct Equ {
  template <class T>
  static bool f(T a, T b) {
    return !(a < b || a > b);
  }
};
struct Neu {
  template <class T>
  static bool f(T a, T b) {
    return !(a == b);
  }
};
struct Ltu {
  template <class T>
  static bool f(T a, T b) {
    return !(a >= b);
  }
};
struct Leu {
  template <class T>
  static bool f(T a, T b) {
    return !(a > b);
  }
};
struct Gtu {
  template <class T>
  static bool f(T a, T b) {
    return !(a <= b);
  }
};
struct Geu {
  template <class T>
  static bool f(T a, T b) {
    return !(a < b);
  }
};
struct Num {
  template <class T>
  static bool f(T a, T b) {
    return a == a && b == b;
  }
};
struct Nan {
  template <class T>
  static bool f(T a, T b) {
    return a != a || b != b;
  }
};

// --------------------------------------------------------------------------------------------
enum Rounding : u8 { nearest, zero, down, upward };
template <class T>
T rounded(T x, u8 mode) {
  switch (mode) {
    case nearest:
      return std::nearbyint(x);
    case zero:
      return std::trunc(x);
    case down:
      return std::floor(x);
    default:
      return std::ceil(x);
  }
}
/// mode: rounding, + 8: to an integer of the same type, + 16: saturate
template <class To, class From>
To convert_one(From x, u8 mode) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    if (std::isnan(x))
      return sizeof(From) == 8 || sizeof(To) == 8 ? static_cast<To>(u64{1} << (8 * sizeof(To) - 1)) : To{0};
    const From y = rounded(x, mode & 3);
    if (y <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
    if (y >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    return static_cast<To>(y);
  } else if constexpr (std::is_floating_point_v<From>) {
    From y = (mode & 8) ? rounded(x, mode & 3) : x;
    if (mode & 16) y = std::isnan(y) ? From{0} : y < 0 ? From{0} : y > 1 ? From{1} : y;
    return static_cast<To>(y);
  } else if constexpr (std::is_integral_v<To>) {
    if (mode & 16) {
      const auto wide = static_cast<__int128>(x);
      if (wide < std::numeric_limits<To>::min()) return std::numeric_limits<To>::min();
      if (wide > std::numeric_limits<To>::max()) return std::numeric_limits<To>::max();
    }
    return static_cast<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

}  // namespace quintet::emulation
