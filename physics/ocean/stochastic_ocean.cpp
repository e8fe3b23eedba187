#include "physics/ocean/stochastic_ocean.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/ocean/sources/netcdf_fields.hpp"

namespace quintet::ocean {
namespace {

constexpr double pi = std::numbers::pi, week = 7, days_of_year = 365.2425, freezing = -1.8;
constexpr int n_states = 5, harmonics = 3, spin_up = 1000;
constexpr std::uint32_t state_stream = 0x0ce1, noise_stream = 0x0ce2;

/// Part of a pattern: amplitude exp(-((lat - lat0)/height)^2 - ((lon - lon0)/width)^2).
struct Bump {
  int state;
  double amplitude, latitude, longitude, height, width;
};
constexpr Bump bumps[] = {
    {0, 1.3, 0, 240, 8, 50},     {0, 0.5, -8, 278, 10, 12}, {0, -0.4, 25, 190, 10, 25},
    {0, -0.3, -25, 195, 10, 25}, {1, 0.6, 0, 170, 12, 35},  {1, -0.3, 8, 230, 6, 30},
    {2, -0.9, 40, 190, 10, 30},  {2, 0.6, 45, 230, 12, 15}, {3, 0.6, 0, 350, 8, 25},
    {3, 0.5, 45, 320, 10, 20},   {4, 0.5, -5, 75, 15, 25},  {4, 0.3, -35, 100, 10, 25},
};

/// Rough continents of the analytic climatology: ellipses.
struct Ellipse {
  double latitude, longitude, height, width;
};
constexpr Ellipse continents[] = {
    {45, 260, 28, 38}, {-12, 300, 40, 22}, {50, 75, 28, 75}, {5, 20, 32, 25}, {-25, 134, 14, 20}};

double distance_east(double a, double b) {
  const double d = std::abs(a - b);
  return std::min(d, 360 - d);
}

bool is_land(double latitude, double longitude) {
  if (latitude < -70) return true;
  return std::any_of(std::begin(continents), std::end(continents), [&](const Ellipse& e) {
    const double y = (latitude - e.latitude) / e.height, x = distance_east(longitude, e.longitude) / e.width;
    return x * x + y * y < 1;
  });
}

double analytic(double latitude, int month) {
  const double c = std::cos(latitude * pi / 180);
  return 29 * c * c - 1.5 + 5 * std::sin(latitude * pi / 180) * std::cos(2 * pi * (month - 7.5) / 12);
}

struct Climatology {
  OceanGrid grid;
  std::vector<double> monthly;  ///< [12, lat, lon] NaN: land
  std::vector<std::string> notes;
};

Climatology read_climatology(const std::string& path, const std::string& variable) {
  const NetcdfFields fields(path, variable);
  QUINTET_CHECK(fields.n_times() == 12, "{}: {} has {} times; a climatology has twelve months, January first",
                path, variable, fields.n_times());
  Climatology result{fields.grid(), fields.read(0, 12), fields.reading().assumed};
  for (const double value : result.monthly)
    QUINTET_CHECK(std::isnan(value) || (value > -20 && value < 70),
                  "{}: {} has the value {}; expected degrees Celsius", path, variable, value);
  return result;
}

Climatology analytic_climatology(double spacing) {
  Climatology result;
  const int n = std::lround(180 / spacing);
  QUINTET_CHECK(n >= 2 && std::abs(n * spacing - 180) < 1e-9, "a spacing of {} degrees does not divide 180",
                spacing);
  for (int i = 0; i < n; ++i) result.grid.latitude.push_back(-90 + (i + 0.5) * spacing);
  for (int j = 0; j < 2 * n; ++j) result.grid.longitude.push_back((j + 0.5) * spacing);
  for (int month = 0; month < 12; ++month)
    for (const double latitude : result.grid.latitude)
      for (const double longitude : result.grid.longitude)
        result.monthly.push_back(is_land(latitude, longitude) ? std::numeric_limits<double>::quiet_NaN()
                                                              : analytic(latitude, month));
  return result;
}

class StochasticOcean : public FieldSource {
 public:
  explicit StochasticOcean(const StochasticOceanOptions& options) : options_(options) {
    const auto climatology = options.climatology ? read_climatology(*options.climatology, options.variable)
                                                 : analytic_climatology(options.spacing);
    grid = climatology.grid;
    reading.assumed = climatology.notes;
    name = options.climatology
               ? fmt::format("stochastic ocean of seed {} on {}", options.seed,
                             std::filesystem::path(*options.climatology).filename().string())
               : fmt::format("stochastic ocean of seed {}, analytic climatology", options.seed);
    for (int t = 0; t < options.n_times; ++t) days.push_back(options.from + week * t);
    make_cycle(climatology);
    make_patterns();
    make_states();
  }

  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const std::size_t n_cells = grid.size();
    std::vector<double> values;
    values.reserve(n * n_cells);
    for (int t = first; t < first + n; ++t) {
      const double day = days[t];
      const auto season = season_of(day, harmonics);
      const double warming = options_.trend * (day - days.front()) / days_of_year;
      for (std::size_t c = 0; c < n_cells; ++c) {
        if (std::isnan(cycle_[c])) {
          values.push_back(cycle_[c]);
          continue;
        }
        double value = cycle_[c] + warming;
        for (std::size_t k = 0; k < season.size(); ++k) value += season[k] * cycle_[(k + 1) * n_cells + c];
        for (std::size_t k = 0; k < n_states; ++k) value += states_[t][k] * patterns_[k * n_cells + c];
        double noise = 0, unused = 0;
        normal_pair(options_.seed, noise_stream, c, t, noise, unused);
        values.push_back(std::max(value + options_.noise * noise, freezing));
      }
    }
    return values;
  }

 private:
  /// Mean and harmonics through twelve months: sums over equally spaced points.
  void make_cycle(const Climatology& climatology) {
    const std::size_t n = grid.size();
    cycle_.assign((1 + 2 * harmonics) * n, 0);
    for (int month = 0; month < 12; ++month) {
      // Middles of months, as parts of the year that season_of() counts from 1800-01-01.
      const auto season = season_of((month + 0.5) / 12 * days_of_year, harmonics);
      for (std::size_t c = 0; c < n; ++c) {
        const double value = climatology.monthly[month * n + c];
        cycle_[c] += value / 12;
        for (std::size_t k = 0; k < season.size(); ++k) cycle_[(k + 1) * n + c] += value * season[k] / 6;
      }
    }
  }
  void make_patterns() {
    patterns_.assign(n_states * grid.size(), 0);
    for (const auto& bump : bumps)
      for (std::size_t i = 0; i < grid.latitude.size(); ++i)
        for (std::size_t j = 0; j < grid.longitude.size(); ++j) {
          const double y = (grid.latitude[i] - bump.latitude) / bump.height,
                       x = distance_east(grid.longitude[j], bump.longitude) / bump.width;
          patterns_[bump.state * grid.size() + i * grid.longitude.size() + j] +=
              bump.amplitude * std::exp(-x * x - y * y);
        }
  }
  void make_states() {
    const double decay = std::exp(-week / 270), angle = 2 * pi * week / 1370,
                 strength = std::sqrt(1 - decay * decay);
    constexpr std::array<double, 3> days_of_decay = {120, 90, 200}, coupling = {0.6, 0, 0.7};
    std::array<double, n_states> state{};
    for (int t = -spin_up; t < options_.n_times; ++t) {
      std::array<double, 2 * n_states> noise{};
      for (std::size_t k = 0; k < n_states; k += 1)
        normal_pair(options_.seed, state_stream, k, t + spin_up, noise[2 * k], noise[2 * k + 1]);
      const double year = (options_.from + week * t) / days_of_year;
      const double amplitude = strength * (1 + 0.5 * std::cos(2 * pi * (year - 0.9)));
      const double x = state[0], y = state[1];
      state[0] = decay * (std::cos(angle) * x - std::sin(angle) * y) + amplitude * noise[0];
      state[1] = decay * (std::sin(angle) * x + std::cos(angle) * y) + amplitude * noise[2];
      for (std::size_t k = 0; k < 3; ++k) {
        const double keep = std::exp(-week / days_of_decay[k]);
        state[k + 2] = keep * state[k + 2] + coupling[k] * (1 - keep) * x +
                       std::sqrt(1 - keep * keep) * noise[2 * k + 4];
      }
      if (t >= 0) states_.push_back(state);
    }
  }

  StochasticOceanOptions options_;
  std::vector<double> cycle_;     ///< [1 + 2 harmonics, cells] NaN: land
  std::vector<double> patterns_;  ///< [n_states, cells]
  std::vector<std::array<double, n_states>> states_;
};

}  // namespace

std::unique_ptr<FieldSource> stochastic_ocean(const StochasticOceanOptions& options) {
  QUINTET_CHECK(options.n_times >= 2, "a stochastic ocean of {} weeks; expected two at least",
                options.n_times);
  return std::make_unique<StochasticOcean>(options);
}

}  // namespace quintet::ocean
