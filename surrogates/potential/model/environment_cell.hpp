#pragma once

#include <cmath>

#include <Kokkos_Core.hpp>

/// The formulas of one neighbour of an atom, for the lanes of a core's pack, or, with double as Value, for a
/// thread of a device, where pack.hpp does not go.
namespace quintet::potential {

/// w(u) = 1 - 10 u^3 + 15 u^4 - 6 u^5, from 1 at u = 0 to 0 at u = 1 with two continuous derivatives.
template <class Value>
KOKKOS_INLINE_FUNCTION Value smooth_switch(const Value& u) {
  return 1.0 + u * u * u * (-10.0 + u * (15.0 - 6.0 * u));
}
/// dw/du.
template <class Value>
KOKKOS_INLINE_FUNCTION Value smooth_switch_slope(const Value& u) {
  return u * u * (-30.0 + u * (60.0 - 30.0 * u));
}

/// Range of the environment matrix: w falls from r = smooth to smooth + 1/inverse_width (angstrom).
struct SwitchRange {
  double smooth, inverse_width;
  double protection;  ///< p, added to distances that divide
};

/// A row of the environment matrix R = w (1/(r+p), d/(r+p)^2), u = clip((r - smooth) inverse_width, 0, 1),
/// and what the chain rule needs of it. Mean and deviation of the rows are those of the centre's type.
///
/// Source: Zhang et al. 2018 (NeurIPS), section 2; DeePMD-kit's prod_env_mat.
template <class Value>
struct EnvironmentTerm {
  Value s;        ///< (w/(r+p) - mean_0)/deviation_0
  Value slope;    ///< its derivative by r, divided by r
  Value q, dq;    ///< q(r) = w/(r+p)^2, and q'(r)/r
  Value w, dw;    ///< the switch, and its derivative by r
  Value inverse;  ///< 1/(r+p)

  /// @param distance2 r^2 (angstrom^2) @param scale 1/deviation
  KOKKOS_INLINE_FUNCTION EnvironmentTerm(const SwitchRange& range, double mean, double scale,
                                         const Value& distance2) {
    const Value radius = root(distance2), zero{}, one = 1.0 - zero;
    Value u = (radius - range.smooth) * range.inverse_width;
    u = u > zero ? u : zero;
    u = u < one ? u : one;
    w = smooth_switch(u);
    dw = smooth_switch_slope(u) * range.inverse_width;
    inverse = 1.0 / (radius + range.protection);
    const Value inverse_radius = 1.0 / radius;
    const Value plain = w * inverse;
    q = plain * inverse;
    s = (plain - mean) * scale;
    slope = (dw * inverse - q) * inverse_radius * scale;
    dq = (dw * inverse - 2.0 * q) * inverse * inverse_radius;
  }

  /// dw/ds; at the cutoff, where w' and s' vanish, its limit.
  [[nodiscard]] KOKKOS_INLINE_FUNCTION Value switch_by_s(double scale) const {
    const Value ds = dw * inverse - q, zero{};
    return (ds < zero ? dw / ds : 1.0 / inverse) * (1.0 / scale);
  }

 private:
  [[nodiscard]] KOKKOS_INLINE_FUNCTION static Value root(const Value& square) {
    constexpr int lanes = sizeof(Value) / sizeof(double);
    if constexpr (lanes == 1) {
      return ::sqrt(square);
    } else {
      Value result = square;
      for (int lane = 0; lane < lanes; ++lane) result[lane] = ::sqrt(result[lane]);
      return result;
    }
  }
};

/// R_l of a component d_l of the way to a neighbour.
KOKKOS_INLINE_FUNCTION double environment_component(double q, double d, double mean, double scale) {
  return (q * d - mean) * scale;
}

/// dE/dd_l = (slope dE/dR_0 + q'/r g.d) d_l + q g_l, g_l = dE/dR_l/deviation_l: the chain rule through R.
///
/// @param by_s dE/dR_0 @param g, d, by_d [3]
template <class Value>
KOKKOS_INLINE_FUNCTION void differentiate_environment(const Value& slope, const Value& q, const Value& dq,
                                                      const Value& by_s, const Value* g, const Value* d,
                                                      Value* by_d) {
  const Value along = slope * by_s + dq * (g[0] * d[0] + g[1] * d[1] + g[2] * d[2]);
  for (int l = 0; l < 3; ++l) by_d[l] = along * d[l] + q * g[l];
}

/// Interval of a normalised s among n equal ones, and the place in it, from -1 to 1. An s below the first is
/// the first's; beyond the last, where neighbours are too near, the interval is n.
template <class Real>
struct SpectralPlace {
  int interval;
  Real local;

  KOKKOS_INLINE_FUNCTION SpectralPlace(Real s, Real lower, Real inverse_width, int n) {
    const Real place = (s - lower) * inverse_width;
    interval = place > 0 ? (place < n ? static_cast<int>(place) : n) : 0;
    local = 2 * (place - interval) - 1;
  }
};

}  // namespace quintet::potential
