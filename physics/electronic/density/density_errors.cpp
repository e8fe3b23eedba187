#include "physics/electronic/density/density_errors.hpp"

#include <cmath>

namespace quintet::electronic {

DensityErrors errors_of(const SubmatrixResult& sign, const DensityResult& density) {
  DensityErrors errors;
  errors.energy = (sign.error.energy + density.error).size() + density.rounding_error;
  errors.n_pairs = sign.error.n_pairs;
  errors.mu = sign.error.mu;
  if (sign.holds_pairs && sign.temperature > 0 && sign.error.n_columns > 0) errors.mu += density.mu_error;
  errors.density = std::hypot(density.per_p * sign.error.p, density.overlap_error, density.rest);
  return errors;
}

}  // namespace quintet::electronic
