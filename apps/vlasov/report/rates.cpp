#include "apps/vlasov/report/rates.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "apps/vlasov/report/wave_report.hpp"
#include "io/log/log.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// How the window of a fit came about.
std::string window_text(const Theory& theory, const Window& window) {
  std::string how = "theory.window";
  if (!theory.window && theory.oscillates())
    how = "the longest run of maxima that follow one exponential";
  else if (!theory.window)
    how = "the greatest rise of constant slope";
  if (!theory.window && std::isfinite(theory.clean_until))
    how += fmt::format(", before the recurrence of the velocity cells, from {:.4g} on", theory.clean_until);
  return fmt::format("Fitted between times {:.4g} and {:.4g} ({})", window.begin, window.end, how);
}

/// Samples up to a time.
std::span<const double> until(const std::vector<double>& values, const std::vector<double>& time,
                              double end) {
  const auto n = std::upper_bound(time.begin(), time.end(), end) - time.begin();
  return std::span<const double>(values).first(n);
}

/// By the maxima of an energy, or the slope of its logarithm.
Rates rates_of_energy(const Theory& theory, const History& history) {
  const auto &time = history.column("time"), &energy = history.column(theory.quantity);
  const auto t = until(time, time, theory.clean_until), y = until(energy, time, theory.clean_until);
  Rates rates;
  if (theory.oscillates()) {
    const auto fit = fit_damped_oscillation(t, y, theory.window);
    rates = {fit.gamma,
             fit.gamma_uncertainty,
             std::copysign(fit.omega, theory.frequency()),
             fit.omega_uncertainty,
             fit.window,
             "",
             fit.reason};
  } else {
    const auto fit = fit_growth(t, y, theory.window);
    rates = {fit.rate, fit.uncertainty, 0, 0, fit.window, "", fit.reason};
  }
  rates.how = window_text(theory, rates.window);
  return rates;
}

}  // namespace

bool choose_measured(Theory& theory, const WaveFit& waves, const History& history) {
  if (theory.branches.size() < 2 || theory.growth_rate() >= 0) return false;
  double frequency = 0;
  if (waves) {
    frequency = waves.modes.front().omega.real();
  } else {
    const Rates rates = rates_of_energy(theory, history);
    if (!rates.reason.empty()) return false;
    frequency = rates.omega;
  }
  const auto nearest = nearest_branch(theory.branches, frequency, static_cast<bool>(waves));
  if (!nearest || theory.branches[*nearest].omega == theory.omega) return false;
  const auto expected = theory.omega;
  theory.choose(*nearest);
  // a real signal has each wave with both signs of its frequency
  log::info(
      "The run's strongest wave has frequency {:.4g}: it is compared with the root of frequency {:.5g}, rate "
      "{:.5g}, not with that of frequency {:.5g}, rate {:.5g}",
      std::copysign(frequency, theory.frequency()), theory.frequency(), theory.growth_rate(), expected.real(),
      expected.imag());
  return true;
}

Rates rates_of(const Theory& theory, const WaveFit& waves, const History& history) {
  Rates rates = rates_of_energy(theory, history);
  const WaveMode* wave = nearest_wave(waves, theory.omega);
  if (wave == nullptr || (rates.reason.empty() && rates.gamma_uncertainty <= wave->gamma_uncertainty))
    return rates;
  const double sign = wave->omega.real() * theory.frequency() < 0 ? -1 : 1;
  return {wave->omega.imag(),
          wave->gamma_uncertainty,
          sign * wave->omega.real(),
          wave->omega_uncertainty,
          waves.window,
          waves_window_text(theory, waves),
          ""};
}

}  // namespace quintet::vlasov
