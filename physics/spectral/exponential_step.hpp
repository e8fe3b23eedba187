#pragma once

#include <complex>
#include <vector>

#include "physics/kernels/execution.hpp"

namespace quintet::spectral {

/// phi_1, phi_2, phi_3 of z: phi_0 = exp(z), phi_{n+1}(z) = (phi_n(z) - 1/n!)/z. Near 0 by their series
/// sum of z^j/(j + n)!, which the recurrence would lose to round-off.
struct Phi {
  std::complex<double> phi_1, phi_2, phi_3;
};
[[nodiscard]] Phi phi_functions(std::complex<double> z);

/// Factors of a step of length h of dF/dt = L F + N, for each wave:
///
///     decay = exp(h L), half = exp(h L/2), weight = (h/2) phi_1(h L/2),
///     first = h (phi_1 - 3 phi_2 + 4 phi_3), middle = h (2 phi_2 - 4 phi_3), last = h (4 phi_3 - phi_2)  of
///     h L
///
/// ETDRK4 (Cox and Matthews 2002, J. Comput. Phys. 176, 430, eqs. 26 to 29):
///
///     a = half F + weight N(F),    b = half F + weight N(a),    c = half a + weight (2 N(b) - N(F))
///     F(t + h) = decay F + first N(F) + middle (N(a) + N(b)) + last N(c)
///
/// Exact for N = 0; Runge and Kutta's fourth-order method for L = 0.
struct StepFactors {
  using Factor = Array<Kokkos::complex<double>>;
  Factor decay, half, weight, first, middle, last;

  explicit StepFactors(std::size_t n);
  /// Of the rates L of each wave.
  void set(const std::vector<std::complex<double>>& rates, double h);
};

}  // namespace quintet::spectral
