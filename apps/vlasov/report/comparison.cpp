#include "apps/vlasov/report/comparison.hpp"

#include <algorithm>
#include <cmath>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/report/statistics.hpp"
#include "apps/vlasov/report/rates.hpp"
#include "apps/vlasov/report/wave_report.hpp"
#include "apps/vlasov/state/wave_signal.hpp"
#include "io/config/scalar.hpp"
#include "io/config/suggest.hpp"
#include "io/files/number_table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// First column and the one named `column` of a table.
Curve read_column(const std::string& path, const std::string& column, const std::string& label) {
  const auto table = read_number_table(path);
  QUINTET_CHECK(!table.names.empty() && table.n_rows() > 1,
                "{}: expected a line of names and lines of numbers, found {}", path, table.n_rows());
  const auto at = table.column(column);
  QUINTET_CHECK(at, "{}: no column '{}' (reference.column); there is {}{}", path, column,
                name_list(table.names), did_you_mean(column, table.names));
  table.require_numbers(0);
  table.require_numbers(*at);
  Curve curve{label, {}, {}, false, true};
  for (std::size_t row = 0; row < table.n_rows(); ++row) {
    const double x = table.at(row, 0);
    QUINTET_CHECK(curve.x.empty() || x > curve.x.back(), "{}: time {} does not rise", table.place(row), x);
    curve.x.push_back(x);
    curve.y.push_back(table.at(row, *at));
  }
  return curve;
}

void check_column(const std::string& name, const std::vector<HistoryColumn>& columns,
                  const std::string& key) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  QUINTET_CHECK(std::find(names.begin(), names.end(), name) != names.end(),
                "{}: the history has no column '{}'; it has {}{}", key, name, name_list(names),
                did_you_mean(name, names));
}

double interpolate(const std::vector<double>& x, const std::vector<double>& y, double at) {
  const auto above = std::lower_bound(x.begin(), x.end(), at);
  if (above == x.end() || (above == x.begin() && *above > at)) return std::nan("");
  if (above == x.begin()) return y.front();
  const std::size_t i = above - x.begin();
  const double part = (at - x[i - 1]) / (x[i] - x[i - 1]);
  return (1 - part) * y[i - 1] + part * y[i];
}

/// Greatest difference of the two where both are known, relative to the reference's greatest value.
double greatest_difference(const std::vector<double>& time, const std::vector<double>& values,
                           const Curve& reference) {
  double worst = 0, scale = 0;
  for (std::size_t i = 0; i < reference.x.size(); ++i) {
    const double ours = interpolate(time, values, reference.x[i]);
    scale = std::max(scale, std::abs(reference.y[i]));
    if (std::isfinite(ours)) worst = std::max(worst, std::abs(ours - reference.y[i]));
  }
  return worst / std::max(scale, 1e-300);
}

/// The theory's straight line through the middle of the fitted stretch.
Curve theory_line(const Theory& theory, const Window& window, const std::vector<double>& time,
                  const std::vector<double>& energy) {
  const double middle = 0.5 * (window.begin + window.end);
  double height = std::log(std::max(interpolate(time, energy, middle), 1e-300));
  if (theory.oscillates()) {  // through the highest point near the middle: a maximum
    const double period = M_PI / std::abs(theory.frequency());
    for (std::size_t i = 0; i < time.size(); ++i)
      if (std::abs(time[i] - middle) <= 0.5 * period && energy[i] > 0)
        height = std::max(height, std::log(energy[i]) - 2 * theory.growth_rate() * (time[i] - middle));
  }
  Curve line{fmt::format("{}: rate {:.5g}", theory.label, theory.growth_rate()), {}, {}, false, true};
  for (const double t : {window.begin, window.end}) {
    line.x.push_back(t);
    line.y.push_back(std::exp(height + 2 * theory.growth_rate() * (t - middle)));
  }
  return line;
}

/// Measured beside theory, in words and numbers.
void tell(Context& context, const std::string& name, const std::string& what, double measured,
          double uncertainty, double theory) {
  context.summarise(
      name, measured,
      name == "growth_rate" ? "of the amplitude, 1/time; below 0: damping" : "angular, of the amplitude");
  context.summarise(name + "_uncertainty", uncertainty,
                    "of the fit, the cells and the steps, as far as they are known; two grids tell the rest");
  context.summarise(name + "_theory", theory);
  if (theory != 0) context.summarise(name + "_error_relative", (measured - theory) / std::abs(theory));
  const std::string with_error = text_with_error(measured, uncertainty, "");
  const double doubtful = 0.2;  // of the rate
  context.headline(name == "growth_rate" ? "growth rate" : "frequency",
                   fmt::format("{} (theory {:.5g})", with_error, theory),
                   uncertainty > doubtful * std::abs(measured) ? "no one exponential fits the window" : "");
  log::info("{}: {}, theory {:.6g}{}", what, with_error, theory,
            theory != 0 ? fmt::format(" ({:+.2f} %)", 100 * (measured - theory) / std::abs(theory)) : "");
}

/// The part of a collisional damping rate that steps with split collisions add. Between steps the heat flux
/// is damped by exp(-2 x), x = rate dt/2, and driven at once: what it leaves is x coth(x) times what it
/// should.
double split_error(const Theory& theory, double dt) {
  const double x = 0.5 * theory.split_rate * dt;
  return x > 0 ? 1 - std::tanh(x) / x : 0;
}

/// Parts of the uncertainty of a growth rate.
struct Uncertainty {
  double of_fit = 0, of_resonance = 0, of_velocity_cells = 0, of_x_cells = 0, of_split = 0, of_steps = 0;
  [[nodiscard]] double sum() const {
    return of_fit + of_resonance + of_velocity_cells + of_x_cells + of_split + of_steps;
  }
};

Uncertainty uncertainty_of(const Theory& theory, const Rates& rates, const std::vector<double>& dt) {
  const WaveErrors& grid = theory.of_grid;
  return {rates.gamma_uncertainty,
          theory.resonance_error * std::abs(rates.gamma),
          std::abs(grid.of_velocity_cells.imag()),
          std::abs(grid.of_streaming.imag()) + std::abs(grid.of_field.imag()),
          split_error(theory, dt.back()) * std::abs(rates.gamma),
          step_error(theory.omega, *std::max_element(dt.begin(), dt.end()))};
}

/// Say what would make an error bar smaller, where the fit is not what makes it.
void advise(const Theory& theory, const Uncertainty& parts) {
  const double others = parts.sum() - parts.of_fit;
  if (parts.of_resonance > std::max(parts.of_fit, 0.5 * others))
    log::info(
        "{:.2g} of the uncertainty comes from velocity cells that hardly resolve the resonance "
        "(|gamma|/k = {:.3g}): finer ones about {:.4g} help",
        parts.of_resonance, std::abs(theory.growth_rate()) / theory.wave_number, theory.phase_velocity());
  else if (parts.of_velocity_cells > std::max(parts.of_fit, 0.5 * others))
    log::info("{:.2g} of the uncertainty comes from the velocity cells: finer ones help",
              parts.of_velocity_cells);
  if (parts.of_x_cells > std::max(parts.of_fit, 0.5 * others))
    log::info(
        "{:.2g} of the uncertainty comes from the cells of x: finer ones, or a higher basis.order, help",
        parts.of_x_cells);
  if (parts.of_split > parts.of_fit)
    log::info(
        "{:.2g} of the uncertainty comes from split collisions, for which a mean free path below v dt acts "
        "like one of v dt: shorter steps (time.dt), or collisions.integration: explicit, help",
        parts.of_split);
}

// The error bar is the fit's and the grid's together: a difference within it is no difference.
void report_theory(Context& context, const Theory& theory, const WaveFit& waves, const History& history,
                   Plot& plot) {
  const Rates rates = rates_of(theory, waves, history);
  if (!rates.reason.empty()) {
    log::warning("No rate of {} could be fitted: {}", theory.quantity, rates.reason);
    plot.caption = fmt::format("No rate could be fitted: {}.", rates.reason);
    return;
  }
  const Uncertainty parts = uncertainty_of(theory, rates, history.column("dt"));
  tell(context, "growth_rate", "Growth rate", rates.gamma, parts.sum(), theory.growth_rate());
  if (rates.omega != 0 && theory.frequency() != 0)
    tell(context, "frequency", "Frequency", rates.omega,
         rates.omega_uncertainty + parts.of_resonance + theory.of_grid.frequency() + parts.of_steps,
         theory.frequency());
  if (theory.knows_grid || parts.of_resonance > 0)
    context.summarise(
        "growth_rate_uncertainty_of_velocity_cells", parts.of_resonance + parts.of_velocity_cells,
        theory.knows_grid
            ? "by the dispersion relation on them and how they resolve a growing wave's resonance"
            : "by how they resolve a growing wave's resonance");
  if (theory.knows_grid)
    context.summarise("growth_rate_uncertainty_of_x_cells", parts.of_x_cells,
                      "by fluxes at their faces and by Poisson's equation");
  advise(theory, parts);
  context.summarise("fit_begin", rates.window.begin, "time");
  context.summarise("fit_end", rates.window.end, "time");
  plot.curves.push_back(
      theory_line(theory, rates.window, history.column("time"), history.column(theory.quantity)));
  plot.caption =
      rates.how +
      ". The error bar is the greater of the standard error and the change between parts of the "
      "window, and " +
      (theory.knows_grid ? "what cells and steps change of the root of the dispersion relation."
                         : "the error of the steps; of the cells it has no more than how they resolve the "
                           "resonance of a growing wave whose theory is known.");
  log::info("{}", rates.how);
}

/// A column of the history as a person would write it: "integral of Ex^2" of ex_squared, "electric energy".
std::string in_words(std::string column) {
  const std::string end = "_squared";
  if (column.size() == 2 + end.size() && column.ends_with(end))
    return fmt::format("integral of {}{}^2", column[0] == 'e' ? 'E' : 'B', column[1]);
  std::ranges::replace(column, '_', ' ');
  return column;
}

}  // namespace

Comparison read_comparison(const RunOptions& options, const Setup& setup) {
  Comparison comparison;
  const auto columns = history_columns(setup);
  comparison.theory = make_theory(options, setup);
  if (comparison.theory) check_column(comparison.theory->quantity, columns, "theory.quantity");
  if (setup.wave) comparison.wave = wave_name(*setup.wave);
  if (options.reference.file) {
    check_column(options.reference.quantity, columns, "reference.quantity");
    comparison.reference =
        read_column(*options.reference.file, options.reference.column, options.reference.label);
    comparison.reference_quantity = options.reference.quantity;
  }
  return comparison;
}

void report_comparison(Context& context, const Comparison& comparison, const History& history) {
  const auto& time = history.column("time");
  const auto log_plot = [&](const std::string& quantity) {
    Plot plot;
    plot.title = in_words(quantity);
    plot.x_label = "time";
    plot.y_label = plot.title;
    const auto& values = history.column(quantity);
    plot.log_y = std::ranges::none_of(values, [](double value) { return value < 0; });
    plot.curves.push_back({"this run", time, values});
    return plot;
  };
  if (comparison.theory) {
    context.report().section("Beside theory");
    Theory theory = *comparison.theory;
    Plot plot = log_plot(theory.quantity);
    const auto waves_of = [&] {
      WaveFit waves;
      waves.reason = "the history has no signed amplitude of " + theory.quantity;
      return comparison.wave.empty() ? waves : fit_history(comparison.wave, theory, history);
    };
    WaveFit waves = waves_of();
    if (choose_measured(theory, waves, history)) waves = waves_of();  // until its own recurrence
    report_theory(context, theory, waves, history, plot);
    context.report().plot(plot);
    if (!comparison.wave.empty()) report_waves(context, theory, waves);
  }
  if (comparison.reference) {
    context.report().section("Beside " + comparison.reference->label);
    Plot plot = log_plot(comparison.reference_quantity);
    plot.curves.push_back(*comparison.reference);
    const double worst =
        greatest_difference(time, history.column(comparison.reference_quantity), *comparison.reference);
    context.summarise("reference_difference_relative", worst);
    plot.caption = fmt::format("Greatest difference: {:.3g} of the reference's greatest value.", worst);
    context.report().plot(plot);
  }
}

}  // namespace quintet::vlasov
