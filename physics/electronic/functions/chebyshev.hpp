#pragma once

#include <functional>
#include <span>
#include <vector>

namespace quintet::electronic {

/// An interval that holds eigenvalues.
struct Band {
  double lower = 0, upper = 0;
};

/// Eigenvalues and how much of the wanted trace each carries, as a Gauss quadrature.
struct SpectralMeasure {
  std::vector<double> x, weight;
};

/// Functions as Chebyshev series of one degree: f(x) = sum_k c_k T_k((x - centre)/half_width).
struct ChebyshevSeries {
  double centre = 0, half_width = 1;
  std::vector<std::vector<double>> coefficients;  ///< of each function
  double error = 0;                               ///< largest |f - series| of the first function on the bands

  [[nodiscard]] int degree() const { return std::ssize(coefficients.front()) - 1; }
  /// Value of function `which` at x (Clenshaw).
  [[nodiscard]] double operator()(double x, int which = 0) const;
};

/// The series of least degree whose first function has error at most `error` on the bands.
///
/// Least squares on the bands alone, with the points of Chebyshev's measure of each band. Nothing is asked of
/// the series in a gap (for a step function it falls from 1 to 0 there); that saves a third of the degree of
/// a fit to a smooth step. The basis is orthogonal on the bands (Stieltjes' recurrence), so the fit is well
/// conditioned however small the gap; it is turned into a Chebyshev series at the end. The other functions
/// get the same degree. With `density`, an estimate of the spectrum's density, half of the weight follows
/// it: traces such as N = Tr f(A) and E = Tr A f(A) are sums in that measure and may then be better than
/// `error`; how much is gained depends on the system (on water it was mixed). Throws NumericalError if
/// `max_degree` is too small.
[[nodiscard]] ChebyshevSeries fit(std::span<const Band> bands,
                                  std::span<const std::function<double(double)>> functions, double error,
                                  int max_degree, const SpectralMeasure& density = {});

}  // namespace quintet::electronic
