#pragma once

#include <algorithm>

#include "physics/kernels/pack.hpp"
#include "physics/kinetics/basis/phase_traits.hpp"

/// Coefficients of one velocity group for `lanes` velocity cells at once, and where they stand in memory.
namespace quintet::kinetics {

using P = Pack<double>;
inline constexpr int lanes = pack_width<double>;

QUINTET_INLINE inline P load_mode(const double* f, int mode) { return load<double>(f + mode * lanes); }
QUINTET_INLINE inline void store_mode(double* f, int mode, P value) {
  store<double>(f + mode * lanes, value);
}

/// The first N coefficients in x of a velocity group.
template <int N>
struct Modes {
  P coefficient[N];

  QUINTET_INLINE P& operator[](int a) { return coefficient[a]; }
  QUINTET_INLINE P operator[](int a) const { return coefficient[a]; }

  /// this += other, whose further coefficients are zero, or not wanted.
  template <int M>
  QUINTET_INLINE Modes& operator+=(const Modes<M>& other) {
    repeat<std::min(N, M)>([&](auto a) QUINTET_INLINE { coefficient[a] += other[a]; });
    return *this;
  }
  QUINTET_INLINE Modes& operator-=(const Modes& other) {
    repeat<N>([&](auto a) QUINTET_INLINE { coefficient[a] -= other[a]; });
    return *this;
  }
  template <class Factor>  // a number, or one for each lane
  QUINTET_INLINE friend Modes operator*(const Factor& factor, const Modes& m) {
    Modes product;
    repeat<N>([&](auto a) QUINTET_INLINE { product[a] = factor * m[a]; });
    return product;
  }
  QUINTET_INLINE friend Modes operator+(Modes a, const Modes& b) { return a += b; }
  QUINTET_INLINE friend Modes operator-(Modes a, const Modes& b) { return a -= b; }
};

template <int N>
QUINTET_INLINE inline Modes<N> load_modes(const double* from) {
  Modes<N> m;
  repeat<N>([&](auto a) QUINTET_INLINE { m[a] = load_mode(from, a); });
  return m;
}
template <int N>
QUINTET_INLINE inline void store_modes(double* to, const Modes<N>& m) {
  repeat<N>([&](auto a) QUINTET_INLINE { store_mode(to, a, m[a]); });
}

/// body(m) for modes 0 ... N - 1; unrolled as the groups of the basis are.
template <class Tr, int N, class Body>
QUINTET_INLINE inline void for_modes(Body&& body) {
  if constexpr (Tr::unrolled)
    repeat<N>(body);
  else
    for (int m = 0; m < N; ++m) body(m);
}

/// The first M coefficients; those beyond N are zero.
template <int M, int N>
QUINTET_INLINE inline Modes<M> resized(const Modes<N>& m) {
  Modes<M> result;
  repeat<M>([&](auto a) QUINTET_INLINE {
    if constexpr (a.value < N)
      result[a] = m[a];
    else
      result[a] = P{};
  });
  return result;
}

/// A function on cells: its velocity groups, `n_full_groups` with n_full coefficients in x, then those with
/// n_lin; place in memory, degree in v_j and neighbours (one degree less or more in v_j, -1: none) of each.
template <class Tr>
struct OnCell {
  static constexpr int n_groups = Tr::n_groups, n_full_groups = Tr::n_full_groups;
  static constexpr int n_full = Tr::n_full, n_lin = Tr::n_lin;
  static constexpr bool unrolled = Tr::unrolled;
  [[nodiscard]] static constexpr int offset(int g) { return Tr::offset(g) * lanes; }
  [[nodiscard]] static constexpr int degree(int j, int g) { return Tr::groups.modes[g][j]; }
  [[nodiscard]] static constexpr int below(int j, int g) { return Tr::neighbours.down[j][g]; }
  [[nodiscard]] static constexpr int above(int j, int g) { return Tr::neighbours.up[j][g]; }
};

/// A function on faces across x: the velocity groups of the cells (OnCell), with fewer coefficients in x.
template <class Tr>
struct OnConfFace : OnCell<Tr> {
  static constexpr int n_full = Tr::n_conf_face_full, n_lin = Tr::n_conf_face_lin;
  [[nodiscard]] static constexpr int offset(int g) { return Tr::conf_face_offset(g) * lanes; }
};

/// A function on faces across v_D: the velocity groups of degree 0 in v_D, numbered anew; see OnCell.
template <class Tr, int D>
struct OnVelocityFace : OnCell<Tr> {
  static constexpr int n_groups = Tr::n_face_groups, n_full_groups = Tr::n_full_face_groups;
  [[nodiscard]] static constexpr int offset(int g) { return Tr::face_offset(g) * lanes; }
  [[nodiscard]] static constexpr int degree(int j, int g) {
    return Tr::groups.modes[Tr::faces.group[D][g]][j];
  }
  [[nodiscard]] static constexpr int below(int j, int g) { return Tr::faces.down[D][j][g]; }
  [[nodiscard]] static constexpr int above(int j, int g) { return Tr::faces.up[D][j][g]; }
};

/// body(g, n) for all groups g, n = Int<number of coefficients>; unrolled where the basis is small.
template <class Place, class Body>
QUINTET_INLINE inline void for_groups(Body&& body) {
  for_classes<Place::unrolled, Place::n_groups, Place::n_full_groups, Place::n_full, Place::n_lin>(body);
}

/// body(n), n = Int<number of coefficients of group g, at most Most>.
template <class Place, int Most, class Body>
QUINTET_INLINE inline void with_size(int g, Body&& body) {
  if constexpr (Most <= Place::n_lin || Place::n_groups == Place::n_full_groups)
    body(Int<std::min(Most, Place::n_full)>{});
  else if (g < Place::n_full_groups)
    body(Int<std::min(Most, Place::n_full)>{});
  else
    body(Int<std::min(Most, Place::n_lin)>{});
}

/// h += factor q_g, as far as h goes; nothing for group -1.
template <class Place, int N, class Factor>
QUINTET_INLINE inline void add_group(Modes<N>& h, const Factor& factor, const double* q, int g) {
  if (g < 0) return;
  with_size<Place, N>(
      g, [&](auto n) QUINTET_INLINE { h += factor * load_modes<n.value>(q + Place::offset(g)); });
}

/// q_g += factor h, as far as q_g goes; nothing for group -1.
template <class Place, int N, class Factor>
QUINTET_INLINE inline void add_to_group(double* q, int g, const Factor& factor, const Modes<N>& h) {
  if (g < 0) return;
  double* const to = q + Place::offset(g);
  with_size<Place, N>(g, [&](auto n) QUINTET_INLINE {
    auto sum = load_modes<n.value>(to);
    store_modes(to, sum += factor * h);
  });
}

}  // namespace quintet::kinetics
