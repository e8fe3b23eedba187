#pragma once

#include <cmath>

#include "physics/kernels/activation.hpp"
#include "physics/kernels/pack.hpp"
#include "physics/kernels/pack_functions.hpp"

/// The formulas of D3 dispersion for packs of neighbours, in atomic units.
///
/// Sources: Grimme, Antony, Ehrlich, Krieg, J. Chem. Phys. 132, 154104 (2010), "D3"; Grimme, Ehrlich,
/// Goerigk, J. Comput. Chem. 32, 1456 (2011), "BJ".
namespace quintet::dispersion {

using P = Pack<double>;
inline constexpr int width = pack_width<double>;

/// A function of the distance of two atoms: its value f and f'(r)/r.
struct PairTerm {
  P value, slope_by_r;
};

/// Part of a bond between two atoms, 1/(1 + exp(-16 (R/r - 1))), R the sum of covalent radii (D3, eq. 15).
inline PairTerm bond(P r2, double radius) {
  const P r = square_root(r2), ratio = radius / r;
  P part, rest, unused;
  pack_logistic<double, width>(16.0 * (ratio - 1.0), part, rest, unused);
  return {part, -16.0 * ratio / r2 * part * rest};
}

/// Weights of the references of an atom with n neighbours, w_a = e_a/sum_b e_b, e_a = exp(-4 (n - n_a)^2),
/// and their derivatives by n (D3, eq. 16). Exponents are taken beside the largest, which changes no ratio
/// and leaves a number where all would vanish.
/// @param references [count] n_a
template <int most>
inline void weigh(P n, const double* references, int count, P (&weights)[most], P (&slopes)[most]) {
  P exponents[most], largest = broadcast(-1e300);
  for (int a = 0; a < count; ++a) {
    const P d = n - references[a];
    exponents[a] = -4.0 * d * d;
    slopes[a] = -8.0 * d;
    largest = exponents[a] > largest ? exponents[a] : largest;
  }
  P sum{}, mean{};
  for (int a = 0; a < count; ++a) {
    weights[a] = exponential(exponents[a] - largest);
    sum += weights[a];
  }
  for (int a = 0; a < count; ++a) {
    weights[a] = weights[a] / sum;
    mean += weights[a] * slopes[a];
  }
  for (int a = 0; a < count; ++a) slopes[a] = weights[a] * (slopes[a] - mean);
}

/// How terms fade before their cutoff: 1 - 10 u^3 + 15 u^4 - 6 u^5, u = (r - inner)/(cutoff - inner).
struct Fade {
  double inner = 0, per_width = 0;
  double squared = 0;  ///< cutoff^2

  Fade() = default;
  Fade(double cutoff, double fading)
      : inner(cutoff - fading), per_width(fading > 0 ? 1 / fading : 0), squared(cutoff * cutoff) {}
  [[nodiscard]] bool acts() const { return per_width > 0; }
  [[nodiscard]] PairTerm operator()(P r2) const {
    const P zero{}, one = broadcast(1.0), r = square_root(r2);
    P u = (r - inner) * per_width;
    u = u > zero ? (u < one ? u : one) : zero;
    return {1.0 - u * u * u * (10.0 - u * (15.0 - 6.0 * u)),
            -30.0 * per_width * u * u * (1.0 - u) * (1.0 - u) / r};
  }
};

/// Energy of a pair of types over its C6,
///
///   f(r) = -s6/(r^6 + R^6) - s8 3 q_i q_j/(r^8 + R^8),   R = a1 sqrt(3 q_i q_j) + a2   (BJ, eqs. 5 and 6).
struct PairDamping {
  double s6, c8, radius6, radius8;

  PairDamping(double s6_, double s8, double a1, double a2, double moments) : s6(s6_), c8(3 * s8 * moments) {
    const double r = a1 * std::sqrt(3 * moments) + a2, r2 = r * r;
    radius6 = r2 * r2 * r2;
    radius8 = radius6 * r2;
  }
  [[nodiscard]] PairTerm operator()(P r2) const {
    const P r4 = r2 * r2, r6 = r4 * r2, a = r6 + radius6, b = r4 * r4 + radius8;
    const P inverse = 1.0 / (a * b), by_a = inverse * b, by_b = inverse * a;
    return {-(s6 * by_a + c8 * by_b), 6.0 * s6 * r4 * by_a * by_a + 8.0 * c8 * r6 * by_b * by_b};
  }
};

/// A side's factor in the damping of triangles: (4/3 r0/r)^(16/3), from r0^2 and r^2 (D3, eq. 14, with the
/// exponent 16 of the authors' program).
inline P triple_damping(P r2, double radius_squared) {
  const P x = (16.0 / 9.0) * radius_squared / r2;
  return x * x * x * inverse_cube_root(x);
}

/// The triple-dipole energy of a triangle over sqrt(C6_ij C6_ik C6_jk),
///
///   E = (3 cos alpha cos beta cos gamma + 1) / (r_ij r_ik r_jk)^3 / (1 + 6 d_ij d_ik d_jk)   (D3, eq. 11),
///
/// and its derivatives by a = r_ij^2 and b = r_ik^2; c = r_jk^2, d: the product of triple_damping().
struct Triangle {
  P energy, by_a, by_b;
};
inline Triangle triangle(P a, P b, P c, P d) {
  const P u = a + b - c, v = a + c - b, w = b + c - a;
  const P q = a * b * c, inverse = 1.0 / q, root = square_root(inverse), cubed = inverse * root;
  const P cosines = 0.375 * u * v * w * inverse, angles = cosines + 1.0;
  const P damping = 1.0 / (1.0 + 6.0 * d), energy = angles * cubed * damping;
  // d ln damping/d ln a = 8/3 6 d damping; cosines ~ u v w/(a b c); cubed ~ a^(-3/2)
  const P powers = energy * (16.0 * d * damping - 1.5) - cosines * cubed * damping;
  const P spread = 0.375 * inverse * cubed * damping;
  return {energy, powers / a + spread * (v * w + u * w - u * v),
          powers / b + spread * (v * w + u * v - u * w)};
}

}  // namespace quintet::dispersion
