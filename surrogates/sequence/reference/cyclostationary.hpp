#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/sequence/reference/predictive.hpp"
#include "surrogates/sequence/reference/references.hpp"

namespace quintet::sequence {

struct CyclostationaryOptions {
  Span lag = "28 day";     ///< of the covariances
  double half_width = 60;  ///< of the season that an operator is fitted to (days)
  double trend = 0;        ///< share of the linear trend in its climatology
};
void describe(Schema& schema, CyclostationaryOptions& options);

/// Linear inverse model whose operators and noise change through the year (Kido, Richter, Tozuka and Chang
/// 2023; Shin et al. 2021).
///
///     x(t + 1) = E(s) x(t) + noise of covariance Q(s),   s the time of year midway,
///     E(s) = (C_s(lag) C_s(0)^-1)^(1/lag),   Q(s) = C(s + 1/2) - E(s) C(s - 1/2) E(s)^T.
///
/// Covariances C_s are means over pairs of times weighted by season_weight(). Where Q has negative
/// eigenvalues, they become zero and the others shrink, so that its trace stays. Operators are kept at 52
/// times of the year.
class CyclostationaryLim {
 public:
  static constexpr int phases = 52;
  /// Throws InputError: too few pairs in a season for the number of modes.
  CyclostationaryLim(const FitData& data, const ClimatologyOptions& climatology,
                     const CyclostationaryOptions& options);

  /// Mean E ... E x(t) and covariance P(l) = E P(l - 1) E^T + Q, P(0) = 0. No row after an origin is read.
  [[nodiscard]] Predictive forecast(const CoefficientSeries& known, const Windows& windows) const;
  /// Draw `members` courses of one window with the model's noise: [members, out, modes].
  [[nodiscard]] std::vector<double> members(const CoefficientSeries& known, const Windows& window,
                                            int members, std::uint64_t seed) const;
  /// E and Q at a time of the year (days): [modes, modes].
  [[nodiscard]] const double* step_operator(double day) const { return at(operators_, day); }
  [[nodiscard]] const double* noise(double day) const { return at(noise_, day); }
  [[nodiscard]] int lag() const { return lag_; }  ///< steps; 1 where longer ones have no real root

 private:
  [[nodiscard]] const double* at(const std::vector<double>& table, double day) const;
  void fit_operators(const CoefficientSeries& x, const FitData& data, double half_width);
  void fit_noise(const CoefficientSeries& x, Rows rows, double half_width);
  /// Days midway between the steps of window i.
  [[nodiscard]] std::vector<double> midways(const CoefficientSeries& known, const Windows& windows,
                                            int i) const;

  Climatology climatology_;
  int modes_;
  double step_days_;
  int lag_;
  std::vector<double> operators_, noise_;  ///< [phases, modes, modes]
};

}  // namespace quintet::sequence
