#include "apps/vlasov/report/wave_report.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/report/statistics.hpp"
#include "io/log/log.hpp"

namespace quintet::vlasov {

using namespace kinetics;

WaveFit fit_history(const std::string& name, const Theory& theory, const History& history) {
  const auto &time = history.column("time"), &real = history.column(name + "_real"),
             &imaginary = history.column(name + "_imag");
  std::vector<double> t;
  std::vector<std::complex<double>> signal;
  for (std::size_t i = 0; i < time.size(); ++i)
    if (std::isfinite(real[i]) && time[i] <= theory.clean_until) {  // NaN: rows from before the theory
      t.push_back(time[i]);
      signal.emplace_back(real[i], imaginary[i]);
    }
  return fit_waves(t, signal, theory.window, theory.growth_rate() > 0);
}

const WaveMode* nearest_wave(const WaveFit& fit, std::complex<double> root) {
  const WaveMode* best = nullptr;
  const auto distance = [&](const WaveMode& mode) {
    return std::min(std::abs(mode.omega - root), std::abs(mode.omega + std::conj(root)));
  };
  constexpr double near = 0.5;  // of |root|
  for (const auto& mode : fit.modes)
    if (distance(mode) < near * std::abs(root) && (best == nullptr || distance(mode) < distance(*best)))
      best = &mode;
  return best;
}

std::string waves_window_text(const Theory& theory, const WaveFit& waves) {
  return fmt::format(
      "Fitted between times {:.4g} and {:.4g} ({}) by a matrix pencil of the signed amplitude, "
      "{:.2g} not explained by any wave",
      waves.window.begin, waves.window.end,
      theory.window ? "theory.window" : "the longest interval with rates as certain as any", waves.noise);
}

std::string root_text(std::complex<double> root) {
  return fmt::format("frequency {:.5g}, rate {:.5g}", root.real(), root.imag());
}

/// "frequency 1.4, rate -0.15, excited 0.03 times as much as the strongest".
std::string branch_text(const Branch& branch) {
  return root_text(branch.omega) + (std::isnan(branch.excited)
                                        ? std::string()
                                        : fmt::format(", {:.2g} of the strongest at t = 0", branch.excited));
}

void report_waves(Context& context, const Theory& theory, const WaveFit& waves) {
  std::string roots = "Root of the theory: " + branch_text(theory);
  const auto others = theory.others();
  for (const auto& other : others) roots += "; another one: " + branch_text(other);
  if (!others.empty()) log::info("{}", roots);
  context.summarise("waves", waves.modes.size(), "in the signed amplitude");
  if (!waves) {
    log::info("No waves in the signed amplitude: {}", waves.reason);
    return;
  }
  std::string steady;
  if (const double amplitude = std::abs(waves.steady.amplitude); amplitude > 0) {
    steady = fmt::format(" beside a steady part of {:.3g}", amplitude);
    context.summarise("wave_steady_amplitude", amplitude,
                      "of the signed amplitude: what neither swings nor changes");
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < waves.modes.size(); ++i) {
    const WaveMode& mode = waves.modes[i];
    rows.push_back({text_with_error(mode.omega.real(), mode.omega_uncertainty, ""),
                    text_with_error(mode.omega.imag(), mode.gamma_uncertainty, ""),
                    fmt::format("{:.3g}", std::abs(mode.amplitude)), fmt::format("{:.2g}", mode.share)});
    const auto name = fmt::format("wave_{}_", i + 1);
    context.summarise(name + "frequency", mode.omega.real(), "angular; below 0: against k");
    context.summarise(name + "growth_rate", mode.omega.imag(), "of the amplitude, 1/time");
    context.summarise(name + "share", mode.share,
                      "of the signal's square without its steady part, if it were alone");
  }
  context.report().table({"frequency", "growth rate", "amplitude", "share"}, rows,
                         fmt::format("Waves{}. {}. Amplitudes are those at the start of the window. {}.",
                                     steady, waves_window_text(theory, waves), roots));
}

}  // namespace quintet::vlasov
