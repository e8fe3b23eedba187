#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>

#include "tests/emulation/ptx/operators.hpp"
#include "tests/emulation/run/warp.hpp"

/// What instructions make of the registers of a warp, for the lanes of a mask: operators.hpp lane by lane,
/// and what needs more than one lane's numbers.
namespace quintet::emulation {

template <class Body>
inline void each(Mask m, Body body) {
  if (m == ~Mask{0}) {
    for (int l = 0; l < lanes; ++l) body(l);
  } else {
    for (int l = 0; l < lanes; ++l)
      if (m >> l & 1) body(l);
  }
}

template <class R, class T, class Op>
void unary(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]);
  each(m, [&](int l) { d[l] = put<R>(Op::f(get<T>(a[l]))); });
}
template <class R, class T, class Op>
void binary(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]);
  each(m, [&](int l) { d[l] = put<R>(Op::f(get<T>(a[l]), get<T>(b[l]))); });
}
template <class R, class T, class Op>
void ternary(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *c = w.slot(i.r[3]);
  each(m, [&](int l) { d[l] = put<R>(Op::f(get<T>(a[l]), get<T>(b[l]), get<R>(c[l]))); });
}

template <class T, bool Left>
void shift(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]);
  constexpr u32 bits = 8 * sizeof(T);
  each(m, [&](int l) {
    const u32 n = static_cast<u32>(b[l]);
    const T x = get<T>(a[l]);
    if constexpr (Left)
      d[l] = put<T>(n >= bits ? T{0} : static_cast<T>(static_cast<u64>(x) << n));
    else if constexpr (std::is_signed_v<T>)
      d[l] = put<T>(static_cast<T>(x >> (n >= bits ? bits - 1 : n)));
    else
      d[l] = put<T>(n >= bits ? T{0} : static_cast<T>(x >> n));
  });
}

// --- moves
template <class T>
void move(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]);
  each(m, [&](int l) { d[l] = put<T>(get<T>(a[l])); });
}
/// {x, y, ...} = z and z = {x, y, ...}: mode: bits of one
inline void take_apart(Warp &w, const Instruction &i, Mask m) {
  const u64 *a = w.slot(i.r[i.n_dst]);
  const u32 bits = i.mode;
  u64 v[lanes];
  std::memcpy(v, a, sizeof v);
  for (u32 k = 0; k < i.n_dst; ++k) {
    u64 *d = w.slot(i.r[k]);
    each(m, [&](int l) { d[l] = (v[l] >> (k * bits)) & ((u64{1} << bits) - 1); });
  }
}
inline void put_together(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u32 bits = i.mode;
  each(m, [&](int l) {
    u64 v = 0;
    for (u32 k = 0; k < i.n_src; ++k) v |= (w.slot(i.r[1 + k])[l] & ((u64{1} << bits) - 1)) << (k * bits);
    d[l] = v;
  });
}
template <class T>
void select(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]);
  Mask p = w.predicates[i.p_src];
  if (i.p_not) p = ~p;
  each(m, [&](int l) { d[l] = put<T>(get<T>((p >> l & 1) ? a[l] : b[l])); });
}

// --- predicates
inline void set_predicate(Warp &w, int p, Mask m, Mask value) {
  if (p < 2) return;
  Mask &to = w.predicates[p];
  to = (to & ~m) | (value & m);
}
inline Mask first_predicate(const Warp &w, const Instruction &i) {
  const Mask p = w.predicates[i.p_src];
  return i.p_not ? ~p : p;
}
template <int Op>
void predicates(Warp &w, const Instruction &i, Mask m) {
  const Mask a = first_predicate(w, i), b = i.p_dst2 >= 0 ? w.predicates[i.p_dst2] : 0;
  set_predicate(w, i.p_dst, m, Op == 0 ? a & b : Op == 1 ? a | b : Op == 2 ? a ^ b : Op == 3 ? ~a : a);
}

template <class T, class Op>
void compare(Warp &w, const Instruction &i, Mask m) {
  const u64 *a = w.slot(i.r[0]), *b = w.slot(i.r[1]);
  Mask p = 0;
  for (int l = 0; l < lanes; ++l) p |= static_cast<Mask>(Op::f(get<T>(a[l]), get<T>(b[l]))) << l;
  Mask q = ~p;
  if (i.p_src >= 0) {
    const Mask c = first_predicate(w, i);
    p = i.mode == 1 ? p & c : i.mode == 2 ? p | c : p ^ c;
    q = i.mode == 1 ? q & c : i.mode == 2 ? q | c : q ^ c;
  }
  set_predicate(w, i.p_dst, m, p);
  if (i.p_dst2 >= 0) set_predicate(w, i.p_dst2, m, q);
}
template <class T>
Function comparison(const std::string &op) {
  if (op == "eq") return compare<T, Eq>;
  if (op == "ne") return compare<T, Ne>;
  if (op == "lt" || op == "lo") return compare<T, Lt>;
  if (op == "le" || op == "ls") return compare<T, Le>;
  if (op == "gt" || op == "hi") return compare<T, Gt>;
  if (op == "ge" || op == "hs") return compare<T, Ge>;
  if constexpr (std::is_floating_point_v<T>) {
    if (op == "equ") return compare<T, Equ>;
    if (op == "neu") return compare<T, Neu>;
    if (op == "ltu") return compare<T, Ltu>;
    if (op == "leu") return compare<T, Leu>;
    if (op == "gtu") return compare<T, Gtu>;
    if (op == "geu") return compare<T, Geu>;
    if (op == "num") return compare<T, Num>;
    if (op == "nan") return compare<T, Nan>;
  }
  return nullptr;
}

// --- conversions
template <class To, class From>
void convert(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]);
  const u8 mode = i.mode;
  // An integer fills its register, which may be wider, with its sign.
  each(m, [&](int l) {
    const To v = convert_one<To, From>(get<From>(a[l]), mode);
    if constexpr (std::is_integral_v<To> && std::is_signed_v<To>)
      d[l] = static_cast<u64>(static_cast<s64>(v));
    else
      d[l] = put<To>(v);
  });
}
template <class To>
Function conversion_from(const std::string &t) {
  if (t == "u8") return convert<To, u8>;
  if (t == "s8") return convert<To, s8>;
  if (t == "u16" || t == "b16") return convert<To, u16>;
  if (t == "s16") return convert<To, s16>;
  if (t == "u32" || t == "b32") return convert<To, u32>;
  if (t == "s32") return convert<To, s32>;
  if (t == "u64" || t == "b64") return convert<To, u64>;
  if (t == "s64") return convert<To, s64>;
  if (t == "f32") return convert<To, float>;
  if (t == "f64") return convert<To, double>;
  return nullptr;
}
inline Function conversion(const std::string &to, const std::string &from) {
  if (to == "u8") return conversion_from<u8>(from);
  if (to == "s8") return conversion_from<s8>(from);
  if (to == "u16") return conversion_from<u16>(from);
  if (to == "s16") return conversion_from<s16>(from);
  if (to == "u32") return conversion_from<u32>(from);
  if (to == "s32") return conversion_from<s32>(from);
  if (to == "u64") return conversion_from<u64>(from);
  if (to == "s64") return conversion_from<s64>(from);
  if (to == "f32") return conversion_from<float>(from);
  if (to == "f64") return conversion_from<double>(from);
  return nullptr;
}

// --- carries: of each lane in the slot `carry`
/// mode: 1 reads the carry, 2 writes it
template <class T, bool Minus>
void add_carry(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]);
  u64 *c = w.slot(carry);
  each(m, [&](int l) {
    unsigned __int128 x = get<T>(a[l]), y = get<T>(b[l]);
    const u64 in = (i.mode & 1) ? c[l] : 0;
    const unsigned __int128 r = Minus ? x - y - in : x + y + in;
    if (i.mode & 2) c[l] = static_cast<u64>(r >> (8 * sizeof(T))) & 1;
    d[l] = put<T>(static_cast<T>(r));
  });
}
template <class T, bool High>
void mad_carry(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *x = w.slot(i.r[3]);
  u64 *c = w.slot(carry);
  each(m, [&](int l) {
    const unsigned __int128 p = static_cast<unsigned __int128>(get<T>(a[l])) * get<T>(b[l]);
    const T part = static_cast<T>(High ? p >> (8 * sizeof(T)) : p);
    const unsigned __int128 r =
        static_cast<unsigned __int128>(part) + get<T>(x[l]) + ((i.mode & 1) ? c[l] : 0);
    if (i.mode & 2) c[l] = static_cast<u64>(r >> (8 * sizeof(T))) & 1;
    d[l] = put<T>(static_cast<T>(r));
  });
}

// --- bits
template <class T>
void bit_field(Warp &w, const Instruction &i, Mask m) {  // bfe
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *c = w.slot(i.r[3]);
  constexpr u32 bits = 8 * sizeof(T);
  each(m, [&](int l) {
    const u32 pos = b[l] & 0xff, len = c[l] & 0xff;
    using U = std::make_unsigned_t<T>;
    // Beyond the last bit there are zeros, or copies of the sign.
    const T x = get<T>(a[l]);
    U r = static_cast<U>(std::is_signed_v<T> ? x >> std::min(pos, bits - 1) : pos >= bits ? T{0} : x >> pos);
    if (len < bits) {
      r &= (U{1} << len) - 1;
      if (std::is_signed_v<T> && len > 0 && (r >> (len - 1) & 1)) r |= ~((U{1} << len) - 1);
    }
    if (len == 0) r = 0;
    d[l] = put<U>(r);
  });
}
template <class T>
void insert_bits(Warp &w, const Instruction &i, Mask m) {  // bfi
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *c = w.slot(i.r[3]), *e = w.slot(i.r[4]);
  each(m, [&](int l) {
    const u32 pos = c[l] & 0xff, len = e[l] & 0xff;
    constexpr u32 bits = 8 * sizeof(T);
    T mask = len >= bits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    mask = pos >= bits ? T{0} : static_cast<T>(mask << pos);
    const T x = pos >= bits ? T{0} : static_cast<T>(get<T>(a[l]) << pos);
    d[l] = put<T>((x & mask) | (get<T>(b[l]) & ~mask));
  });
}
inline void permute_bytes(Warp &w, const Instruction &i, Mask m) {  // prmt.b32
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *c = w.slot(i.r[3]);
  each(m, [&](int l) {
    const u64 all = static_cast<u32>(a[l]) | b[l] << 32;
    u32 r = 0;
    for (u32 k = 0; k < 4; ++k) {
      const u32 s = c[l] >> (4 * k) & 15;
      u32 x = all >> (8 * (s & 7)) & 0xff;
      if (s & 8) x = (x & 0x80) ? 0xff : 0;
      r |= x << (8 * k);
    }
    d[l] = r;
  });
}
template <bool Left>
void funnel(Warp &w, const Instruction &i, Mask m) {  // shf
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *c = w.slot(i.r[3]);
  each(m, [&](int l) {
    const u32 n = i.mode ? (c[l] & 31) : std::min<u32>(static_cast<u32>(c[l]), 32);
    const u64 x = static_cast<u32>(a[l]) | b[l] << 32;
    d[l] = static_cast<u32>(Left ? (n == 0 ? x >> 32 : (x << n) >> 32) : x >> n);
  });
}
template <class T>
void logic(Warp &w, const Instruction &i, Mask m) {  // lop3
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]), *b = w.slot(i.r[2]), *c = w.slot(i.r[3]), *t = w.slot(i.r[4]);
  each(m, [&](int l) {
    T r = 0;
    for (int k = 0; k < 8; ++k)
      if (t[l] >> k & 1) r |= ((k & 4) ? a[l] : ~a[l]) & ((k & 2) ? b[l] : ~b[l]) & ((k & 1) ? c[l] : ~c[l]);
    d[l] = r;
  });
}

/// mma.m8n8k4.f64, row by column: d[8][8] = a[8][4] b[4][8] + c. Lane l holds
/// a[l/4][l%4], b[l%4][l/4], c[l/4][2(l%4) + 0, 1].
inline void tensor(Warp &w, const Instruction &i, Mask m) {
  if (m != ~Mask{0}) fail(w, i, 0, "mma by a part of a warp");
  double a[8][4], b[4][8], c[8][8];
  for (int l = 0; l < lanes; ++l) {
    a[l / 4][l % 4] = get<double>(w.slot(i.r[2])[l]);
    b[l % 4][l / 4] = get<double>(w.slot(i.r[3])[l]);
    c[l / 4][2 * (l % 4)] = get<double>(w.slot(i.r[4])[l]);
    c[l / 4][2 * (l % 4) + 1] = get<double>(w.slot(i.r[5])[l]);
  }
  for (int r = 0; r < 8; ++r)
    for (int s = 0; s < 8; ++s)
      for (int k = 0; k < 4; ++k) c[r][s] = std::fma(a[r][k], b[k][s], c[r][s]);
  for (int l = 0; l < lanes; ++l) {
    w.slot(i.r[0])[l] = put(c[l / 4][2 * (l % 4)]);
    w.slot(i.r[1])[l] = put(c[l / 4][2 * (l % 4) + 1]);
  }
}

inline void convert_address(Warp &w, const Instruction &i, Mask m) {
  u64 *d = w.slot(i.r[0]);
  const u64 *a = w.slot(i.r[1]);
  const u64 window = i.space == Space::shared ? shared_window : i.space == Space::local ? local_window : 0;
  each(m, [&](int l) { d[l] = i.mode ? a[l] - window : a[l] + window; });
}

}  // namespace quintet::emulation
