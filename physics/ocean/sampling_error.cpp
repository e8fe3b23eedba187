#include "physics/ocean/sampling_error.hpp"

#include <algorithm>
#include <cmath>

#include "io/hdf5/file.hpp"

namespace quintet::ocean {
namespace {

/// Correlation of coefficient m with itself a time later.
double persistence(const OceanModes& modes, int m) {
  const auto& series = modes.series;
  double mean = 0, square = 0, product = 0;
  for (int t = 0; t < modes.n_fit; ++t) mean += series.row(t)[m] / modes.n_fit;
  for (int t = 0; t < modes.n_fit; ++t) {
    const double now = series.row(t)[m] - mean;
    square += now * now;
    if (t > 0) product += now * (series.row(t - 1)[m] - mean);
  }
  return square > 0 ? product / square : 0;
}

}  // namespace

std::vector<ModeSampling> sampling_errors(const OceanModes& modes) {
  std::vector<ModeSampling> all;
  for (int m = 0; m < modes.n_modes(); ++m) {
    const double n = modes.n_fit, r = persistence(modes, m),
                 variance = std::pow(modes.singular_values[m], 2) / n,
                 effective = std::clamp(n * (1 - r * r) / (1 + r * r), 1.0, n);
    all.push_back({variance, variance * std::sqrt(2 / effective), effective, true});
  }
  for (std::size_t m = 1; m < all.size(); ++m)
    all[m - 1].separate = all[m - 1].variance - all[m].variance > all[m - 1].error;
  return all;
}

}  // namespace quintet::ocean
