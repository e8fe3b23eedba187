#pragma once

#include <span>

#include "physics/electronic/functions/chebyshev.hpp"

namespace quintet::electronic {

/// N(mu) = sum_k c_k(mu) m_k + sum_i w_i f(x_i - mu), from moments m_k of Chebyshev polynomials in
/// (x - centre)/half_width and from levels x_i with weights w_i; f is the step or, T > 0, Fermi's function.
///
/// `damped`: with Jackson's factors, so that N rises with mu also where the moments do not resolve the levels
/// (Weisse et al. 2006, eq. 71).
struct PairCount {
  double centre = 0, half_width = 1;
  std::span<const double> moments;
  const SpectralMeasure* levels = nullptr;
  double temperature = 0;
  bool damped = true;

  [[nodiscard]] double operator()(double mu) const;
};

}  // namespace quintet::electronic
