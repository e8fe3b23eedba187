#include "surrogates/potential/evaluation/deviation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace quintet::potential {

Spread spread_over_models(const std::vector<double>& values) {
  const double n = values.size();
  double mean = 0, square = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) square += (value - mean) * (value - mean) / n;
  return {mean, std::sqrt(square)};
}

void force_deviation(const Exec& exec, const std::vector<Vectors>& forces, int n,
                     const std::optional<double>& relative, const Array<double>& deviation) {
  const auto* const models = forces.data();
  const int n_models = forces.size();
  const double level = relative.value_or(-1);
  Kokkos::parallel_for("potential::force_deviation", Kokkos::RangePolicy<Exec>(exec, 0, n), [=](int i) {
    double square = 0, magnitude = 0;
    for (int k = 0; k < 3; ++k) {
      double mean = 0;
      for (int m = 0; m < n_models; ++m) mean += models[m](i, k) / n_models;
      for (int m = 0; m < n_models; ++m) square += std::pow(models[m](i, k) - mean, 2) / n_models;
      magnitude += mean * mean;
    }
    deviation(i) = std::sqrt(square) / (level < 0 ? 1.0 : std::sqrt(magnitude) + level);
  });
}

std::array<double, 3> virial_deviation(const std::vector<Mat3>& virials, double n_atoms,
                                       const std::optional<double>& relative) {
  double most = 0, least = std::numeric_limits<double>::infinity(), square = 0;
  std::vector<double> values(virials.size());
  for (int k = 0; k < 9; ++k) {
    for (std::size_t m = 0; m < virials.size(); ++m) values[m] = virials[m][k] / n_atoms;
    const Spread component = spread_over_models(values);
    const double e = component.deviation / (relative ? std::abs(component.mean) + *relative : 1.0);
    most = std::max(most, e);
    least = std::min(least, e);
    square += e * e;
  }
  return {most, least, std::sqrt(square / 9)};
}

}  // namespace quintet::potential
