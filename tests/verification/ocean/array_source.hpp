#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "physics/kernels/random.hpp"
#include "physics/ocean/sources/field_source.hpp"

namespace quintet::ocean::testing {

/// Fields that are held in memory.
class ArraySource : public FieldSource {
 public:
  std::vector<double> values;  ///< [times, lat, lon]
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const auto begin = values.begin() + first * grid.size();
    return {begin, begin + static_cast<std::ptrdiff_t>(n * grid.size())};
  }
};

/// Weekly fields on `n_lat` x `n_lon` points, land at every seventh: a seasonal cycle, waves of falling
/// amplitude whose phases are random walks, and noise.
inline std::unique_ptr<ArraySource> sample_source(int n_times, int n_lat = 11, int n_lon = 17,
                                                  double noise = 0.01) {
  auto source = std::make_unique<ArraySource>();
  source->name = "sample";
  for (int i = 0; i < n_lat; ++i) source->grid.latitude.push_back(-60 + 120.0 * i / (n_lat - 1));
  for (int j = 0; j < n_lon; ++j) source->grid.longitude.push_back(10 + 300.0 * j / n_lon);
  std::vector<double> phase(6);
  for (int t = 0; t < n_times; ++t) {
    source->days.push_back(66410 + 7 * t);
    for (std::size_t k = 0; k < phase.size(); ++k) {
      double x = 0, y = 0;
      normal_pair(7, 1, k, t, x, y);
      phase[k] += 0.4 * x;
    }
    for (int i = 0; i < n_lat; ++i)
      for (int j = 0; j < n_lon; ++j) {
        const double lat = source->grid.latitude[i] * M_PI / 180,
                     lon = source->grid.longitude[j] * M_PI / 180;
        double value =
            20 * std::cos(lat) + 3 * std::sin(lat) * std::cos(2 * M_PI * (66410 + 7 * t) / 365.2425 - 4);
        for (std::size_t k = 0; k < phase.size(); ++k)
          value += 2 * std::pow(0.5, static_cast<double>(k)) * std::cos((k + 1) * lon + k * lat + phase[k]);
        double x = 0, y = 0;
        normal_pair(7, 2, i * n_lon + j, t, x, y);
        value += noise * x;
        source->values.push_back((i * n_lon + j) % 7 == 3 ? std::numeric_limits<double>::quiet_NaN() : value);
      }
  }
  return source;
}

}  // namespace quintet::ocean::testing
