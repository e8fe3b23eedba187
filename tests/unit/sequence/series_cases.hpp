#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <random>

#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/series.hpp"

namespace quintet::sequence {

/// A series with a value for each day and mode.
inline CoefficientSeries series_of(int n, int modes, double first, double step,
                                   const std::function<double(double day, int mode)>& value) {
  CoefficientSeries series;
  series.n_modes = modes;
  for (int t = 0; t < n; ++t) {
    series.time.push_back(first + t * step);
    for (int m = 0; m < modes; ++m) series.values.push_back(value(series.time.back(), m));
  }
  return series;
}

/// Normal deviates, the same on every machine.
class Deviates {
 public:
  explicit Deviates(std::uint64_t seed) : random_(seed) {}
  double operator()() {
    const double u = ((random_() >> 11) + 0.5) * 0x1p-53, v = (random_() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * 3.14159265358979323846 * v);
  }

 private:
  std::mt19937_64 random_;
};

/// Weekly x(t + 1) = G x(t) + noise, G [modes, modes], begun at rest far before the first time.
inline CoefficientSeries noisy_linear_series(int n, const std::vector<double>& g, double noise,
                                             std::uint64_t seed) {
  const int modes = std::lround(std::sqrt(static_cast<double>(g.size())));
  Deviates deviate(seed);
  std::vector<double> x(modes, 0.0);
  CoefficientSeries series;
  series.n_modes = modes;
  const double first = ocean::day_of({1981, 10, 29});
  for (int t = -500; t < n; ++t) {
    std::vector<double> next(modes, 0.0);
    for (int i = 0; i < modes; ++i) {
      next[i] = noise * deviate();
      for (int j = 0; j < modes; ++j) next[i] += g[i * modes + j] * x[j];
    }
    x = next;
    if (t < 0) continue;
    series.time.push_back(first + 7.0 * t);
    series.values.insert(series.values.end(), x.begin(), x.end());
  }
  return series;
}

}  // namespace quintet::sequence
