#include "surrogates/sequence/skill/normal.hpp"

#include <cmath>
#include <numbers>

namespace quintet::sequence {

double normal_share(double z) { return 0.5 * std::erfc(-z / std::numbers::sqrt2); }

// Halving: Phi is monotonic, and 200 steps are nothing beside what asks for it.
double normal_quantile(double share) {
  double low = -40, high = 40;
  for (int step = 0; step < 200; ++step) {
    const double middle = 0.5 * (low + high);
    (normal_share(middle) < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

double normal_crps(double mean, double sd, double y) {
  if (!(sd > 0)) return sd == 0 ? std::abs(y - mean) : std::nan("");
  const double z = (y - mean) / sd;
  const double density = std::exp(-0.5 * z * z) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return sd * (z * (2 * normal_share(z) - 1) + 2 * density - std::numbers::inv_sqrtpi);
}

double ranked_probability_score(double below, double not_above, int category) {
  const double first = below - (category <= 0 ? 1 : 0), second = not_above - (category <= 1 ? 1 : 0);
  return first * first + second * second;
}

}  // namespace quintet::sequence
