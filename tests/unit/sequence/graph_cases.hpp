#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/graph/graph_network.hpp"
#include "tests/unit/sequence/series_cases.hpp"

/// A small sea, and graph networks over it.
namespace quintet::sequence {

/// A sphere of 10 degrees with two modes, orthonormal by area, and a continent on one side of it.
inline ocean::OceanModes small_sea(CoefficientSeries series) {
  ocean::OceanModes modes;
  modes.series = std::move(series);
  modes.series.n_modes = 2;
  modes.singular_values = {2, 1};
  modes.n_fit = 10;
  for (int i = 0; i < 18; ++i) modes.latitude.push_back(-85 + 10 * i);
  for (int i = 0; i < 36; ++i) modes.longitude.push_back(5 + 10 * i);
  std::vector<double> first, second;
  for (const double lat : modes.latitude)
    for (const double lon : modes.longitude) {
      const bool land = lon > 60 && lon < 110 && std::abs(lat) < 50;
      modes.mask.push_back(land ? 0 : 1);
      if (land) continue;
      modes.weights.push_back(std::cos(lat * std::numbers::pi / 180));
      modes.mean.push_back(15);
      first.push_back(std::sin(lat / 30));
      second.push_back(std::cos(lon / 40) + 0.3);
    }
  const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t x = 0; x < a.size(); ++x) sum += modes.weights[x] * a[x] * b[x];
    return sum;
  };
  const auto scale = [](std::vector<double>& a, double by) {
    for (double& x : a) x *= by;
  };
  scale(first, 1 / std::sqrt(dot(first, first)));
  const double share = dot(first, second);
  for (std::size_t x = 0; x < first.size(); ++x) second[x] -= share * first[x];
  scale(second, 1 / std::sqrt(dot(second, second)));
  modes.modes = first;
  modes.modes.insert(modes.modes.end(), second.begin(), second.end());
  return modes;
}

/// A seasonal cycle and two modes, the second driven by the square of the first, which nothing linear sees.
inline CoefficientSeries driven(int n) {
  Deviates deviate(29);
  double x = 0, y = 0;
  return series_of(n, 2, ocean::day_of({1981, 10, 29}), 7, [&](double day, int m) {
    if (m == 0) {
      const double next = 0.8 * y + 0.4 * (x * x - 1);
      x = 0.8 * x + 0.6 * deviate();
      y = next + 0.1 * deviate();
    }
    return 10 * std::cos(2 * std::numbers::pi * day / 365.2425) + (m == 0 ? x : y);
  });
}

inline GraphNetwork network_of(SeaNodes nodes) {
  GraphNetwork network;
  network.nodes = std::make_shared<const SeaNodes>(std::move(nodes));
  network.options.features = 6, network.options.layers = 2, network.options.mesh = 12;
  network.shape = {3, 2};
  network.seasons = 1;
  network.input_offset = {0.1, -0.2}, network.input_scale = {1.5, 0.7}, network.output_scale = {0.6, 0.6};
  return network;
}

inline std::vector<double> waves(std::size_t n, double phase) {
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(std::sin(phase + 1.7 * static_cast<double>(i)));
  return values;
}

inline ForecastOptions graph_options(const ocean::OceanModes& modes) {
  ForecastOptions options;
  options.base = Reference::damped_persistence;
  options.members = 2;
  options.network.kind = NetworkKind::graph;
  options.network.graph = GraphOptions{};
  options.network.graph->coarsen = 3;
  options.network.graph->features = 8;
  options.network.graph->layers = 2;
  options.network.graph->mesh = 6;
  options.network.sea = std::make_shared<const SeaNodes>(sea_nodes(modes, options.network.graph->coarsen));
  options.training.epochs = 2;
  options.training.batch = 32;
  options.training.learning_rate = 5e-3;
  options.training.weight_decay = 0;
  return options;
}

struct SeaCase {
  ocean::OceanModes modes = small_sea(driven(700));
  Split split;
  explicit SeaCase(const char* train_from = "", const char* validation_until = "1993-06-30")
      : split(make_split(modes.series, {4, 2}, of(train_from, validation_until))) {}
  static SplitOptions of(const char* train_from, const char* validation_until) {
    SplitOptions options;
    options.train_from = train_from;
    options.train_until = "1991-12-31", options.validation_until = validation_until;
    return options;
  }
};

}  // namespace quintet::sequence
