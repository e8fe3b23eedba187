#pragma once

#include <span>
#include <string>

namespace quintet {

/// The mean of a stationary series and how well it is known.
struct Estimate {
  double mean = 0;
  double error = 0;        ///< standard error of the mean; NaN where the series is too short to tell
  double correlation = 1;  ///< integrated autocorrelation time tau = 1 + 2 sum_t rho(t) (samples)
};

/// Mean and standard error of correlated samples: error^2 = C(0) tau / N.
///
/// tau is the sum over pairs rho(2k) + rho(2k+1), made monotone, up to the first that is not positive (Geyer
/// 1992, Stat. Sci. 7, 473), freed of the bias of the sample mean, tau (1 + (2 W + 1) / N) (Wolff 2004,
/// Comput. Phys. Commun. 156, 143). Fewer than 10 independent samples (N < 10 tau), or fewer than 10 at all,
/// give no error. A series that drifts is not stationary: its tau is long, its error large or none.
[[nodiscard]] Estimate estimate_mean(std::span<const double> samples);

/// "300.2 ± 0.9 K": the error with one digit (two if the first is a 1), the value with as many decimals.
/// Without an error (NaN) the value to four digits; "-" for no value (NaN).
[[nodiscard]] std::string text_with_error(double value, double error, const std::string& unit);
[[nodiscard]] std::string text_with_error(const Estimate& estimate, const std::string& unit);

}  // namespace quintet
