#pragma once

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

inline FieldAxis ring(const char* name, int n, double length) {
  FieldAxis axis{name, "1", {}, true, 0, length};
  for (int i = 0; i < n; ++i) axis.coordinates.push_back(length * i / n);
  return axis;
}

/// Points between walls at -1/2 and 1/2, clustered at both: centres of cells of a tanh grid.
inline FieldAxis clustered(const char* name, int n, double strength = 2) {
  FieldAxis axis{name, "1", {}, false, -0.5, 0.5};
  for (int i = 0; i < n; ++i)
    axis.coordinates.push_back(0.5 * std::tanh(strength * (2 * (i + 0.5) / n - 1)) / std::tanh(strength));
  return axis;
}

/// Chebyshev's points of the first kind, as spectral codes have them.
inline FieldAxis chebyshev(const char* name, int n) {
  FieldAxis axis{name, "1", {}, false, -0.5, 0.5};
  for (int i = 0; i < n; ++i) axis.coordinates.push_back(-0.5 * std::cos(std::numbers::pi * (i + 0.5) / n));
  return axis;
}

using Function = std::function<double(double, double)>;
inline std::vector<double> sampled(const RectilinearGrid& grid, const Function& f) {
  std::vector<double> values;
  for (const double x : grid.axes()[0].coordinates)
    for (const double y : grid.axes()[1].coordinates) values.push_back(f(x, y));
  return values;
}

inline double greatest_difference(const std::vector<double>& f, const std::vector<double>& g) {
  double greatest = 0;
  for (std::size_t i = 0; i < f.size(); ++i) greatest = std::max(greatest, std::abs(f[i] - g[i]));
  return greatest;
}

}  // namespace quintet::flow
