#include "apps/vlasov/setup/plasma_parts.hpp"

#include <cmath>

#include <fmt/format.h>

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// Mean of a formula of x (and t, at 0), times exp(-i k.x), over the middles of the cells.
std::complex<double> wave_over_x(const Formula& formula, const PhaseGrid& grid, bool with_time,
                                 const std::array<double, 3>& k) {
  int n = 1;
  for (int d = 0; d < grid.cdim; ++d) n *= grid.cells[d];
  std::complex<double> sum = 0;
  for (int cell = 0; cell < n; ++cell) {
    std::vector<double> x;
    for (int d = 0, rest = cell; d < grid.cdim; ++d) {
      const int cells = grid.cells[d];
      x.push_back(grid.centre(d, rest % cells));
      rest /= cells;
    }
    double phase = 0;
    for (std::size_t d = 0; d < x.size(); ++d) phase += k[d] * x[d];
    if (with_time) x.push_back(0);
    sum += formula(x) * std::polar(1.0, -phase);
  }
  return sum / static_cast<double>(n);
}

double mean_over_x(const Formula& formula, const PhaseGrid& grid, bool with_time) {
  return wave_over_x(formula, grid, with_time, {}).real();
}

/// Value i of a list of one or vdim formulas of x.
double mean_of(const std::vector<FormulaText>& list, int i, const std::string& key, const Setup& setup) {
  const auto index = list.size() == 1 ? 0 : i;
  return mean_over_x(setup.formulas.function(fmt::format("{}.{}", key, index)), setup.species.front().grid,
                     false);
}

/// Add the mean over x of each formula of a list (at t = 0, `with_time`).
void add_means(const std::vector<FormulaText>& given, const std::string& key, const Setup& setup,
               bool with_time, std::array<double, 3>& mean) {
  for (std::size_t i = 0; i < given.size(); ++i)
    mean[i] += mean_over_x(setup.formulas.function(fmt::format("{}.{}", key, i)), setup.species.front().grid,
                           with_time);
}

double epsilon0(const Setup& setup) {
  return setup.system.field == FieldModel::maxwell ? setup.system.maxwell.epsilon0
                                                   : setup.system.poisson.epsilon0;
}

}  // namespace

std::optional<std::vector<PlasmaPart>> plasma_parts(const RunOptions& options, const Setup& setup,
                                                    const std::array<double, 3>& k) {
  std::vector<PlasmaPart> parts;
  for (std::size_t s = 0; s < setup.species.size(); ++s) {
    const Species& species = setup.species[s];
    if (species.charge == 0) continue;
    for (std::size_t i = 0; i < options.species[s].initial.size(); ++i) {
      const auto& given = options.species[s].initial[i].maxwellian;
      if (!given) return std::nullopt;
      const auto key = fmt::format("species.{}.initial.{}.maxwellian.", s, i);
      PlasmaPart part;
      part.species = s;
      const auto& formula = setup.formulas.function(key + "density");
      const double density = mean_over_x(formula, setup.species.front().grid, false);
      if (density > 0)
        part.density_wave = 2.0 * wave_over_x(formula, setup.species.front().grid, false, k) / density;
      part.plasma_frequency = std::sqrt(std::max(density, 0.0) * species.charge * species.charge /
                                        (species.mass * epsilon0(setup)));
      for (int d = 0; d < setup.basis.vdim(); ++d) {
        auto& speed = part.thermal_speed[d];
        speed = !given->temperature.empty()
                    ? std::sqrt(mean_of(given->temperature, d, key + "temperature", setup) / species.mass)
                    : mean_of(given->thermal_speed, d, key + "thermal_speed", setup);
        if (!given->drift.empty()) part.drift[d] = mean_of(given->drift, d, key + "drift", setup);
      }
      if (part.plasma_frequency > 0) parts.push_back(part);
    }
  }
  if (parts.empty()) return std::nullopt;
  return parts;
}

std::array<double, 3> mean_magnetic_field(const RunOptions& options, const Setup& setup) {
  std::array<double, 3> mean{};
  add_means(options.field.initial.magnetic, "field.initial.magnetic", setup, false, mean);
  add_means(options.field.external.magnetic, "field.external.magnetic", setup, true, mean);
  return mean;
}

std::array<double, 3> mean_current(const RunOptions& options, const Setup& setup) {
  std::array<double, 3> mean{};
  add_means(options.field.current, "field.current", setup, true, mean);
  return mean;
}

}  // namespace quintet::vlasov
