#pragma once

#include <vector>

#include "physics/ocean/modes_file.hpp"

namespace quintet::ocean {

/// How well times determine a mode.
struct ModeSampling {
  double variance;  ///< lambda = s^2 / n (units^2), s the singular value, n the fit's times
  double error;     ///< of lambda, one standard deviation
  double n_effective;
  bool separate;  ///< lambda differs from the next mode's by more than the error
};

/// Sampling errors of the modes' variances by North's rule of thumb,
///   delta lambda_m = lambda_m sqrt(2 / N_m),   N_m = n (1 - r_m^2) / (1 + r_m^2),
/// r_m the correlation of coefficient m with itself a time later, over the fit's times. Modes that are closer
/// to the next than the error are a mixture of the two. The last mode, whose next is not known, counts as
/// separate.
///
/// Sources: North et al. 1982, Mon. Wea. Rev. 110, 699, eq. 24; N of second moments: Bretherton et al. 1999,
/// J. Climate 12, 1990, eq. 30.
[[nodiscard]] std::vector<ModeSampling> sampling_errors(const OceanModes& modes);

}  // namespace quintet::ocean
