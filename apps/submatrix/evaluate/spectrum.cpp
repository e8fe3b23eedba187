#include "apps/submatrix/evaluate/spectrum.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/submatrix/evaluate/shared_products.hpp"
#include "apps/submatrix/input/system_options.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

/// Electrons of both spins at one chemical potential each.
Estimate electrons_at(const std::vector<SpectralDensity>& spectra, double mu_up, double mu_down,
                      double temperature) {
  if (spectra.size() == 1) return 2 * spectra[0].count(mu_up, temperature);
  return spectra[0].count(mu_up, temperature) + spectra[1].count(mu_down, temperature);
}

std::string spin_name(std::size_t n_spins, std::size_t spin) {
  return n_spins == 1 ? "" : spin == 0 ? "up" : "down";
}

}  // namespace

std::vector<SpectralDensity> spectra_of(Context& context, const EvaluateOptions& options,
                                        const std::vector<Basis>& bases) {
  std::vector<SpectralDensity> spectra;
  if (options.spectrum.vectors == 0) return spectra;
  if (bases.empty()) {
    const char* why =
        "no S^-1/2 K S^-1/2 was made, since the whole matrix was diagonalised; method.dense: never makes one";
    log::warning("No spectrum: {}", why);
    context.summarise("spectrum_refused", why);
    return spectra;
  }
  const auto phase = context.phase("spectrum");
  SpectrumOptions wanted;
  wanted.vectors = options.spectrum.vectors;
  wanted.resolution = options.spectrum.resolution;
  wanted.interrupt = [&context] { return context.stop_noticed(); };
  for (const auto& basis : bases) {
    wanted.layout = layout_for(context, options, basis.a, options.spectrum.spmm, wanted.vectors, "spectrum",
                               spectra.empty() ? "" : "_down");
    spectra.push_back(spectral_density(basis.a, wanted));
  }
  log::info("Density of states: {} from {}, peaks {:.3g} hartree wide",
            counted(spectra.front().n_moments(), "moment"),
            counted(spectra.front().n_vectors(), "random vector"), spectra.front().resolution());
  return spectra;
}

void report_spectra(Context& context, const EvaluateOptions& options,
                    const std::vector<SpectralDensity>& spectra, const Evaluation& last) {
  if (spectra.empty()) return;
  const double temperature = thermal_energy(options.temperature);
  const Estimate at_mu = electrons_at(spectra, last.mu, last.mu_down.value_or(last.mu), temperature);
  log::info("Density of states: {:.6g} +- {:.2g} electrons at mu; 2 Tr P is {:.10g}", at_mu.value,
            at_mu.deviation, 2 * last.n_pairs);
  context.summarise("spectrum_electrons_at_mu", at_mu.value,
                    "from the density of states, whose peaks are smoothed");
  context.summarise("spectrum_electrons_at_mu_standard_error", at_mu.deviation);
  context.summarise("spectrum_moments", spectra.front().n_moments());
  context.summarise("spectrum_vectors", spectra.front().n_vectors());
  context.summarise("spectrum_resolution_hartree", spectra.front().resolution());

  auto group = context.results().root().group("spectrum");
  Plot states;
  states.title = "Density of states";
  states.x_label = "energy (hartree)";
  states.y_label = "levels of one spin a hartree";
  double lower = spectra[0].energies().front(), upper = spectra[0].energies().back();
  for (std::size_t s = 0; s < spectra.size(); ++s) {
    const SpectralDensity& spectrum = spectra[s];
    const std::string name = spin_name(spectra.size(), s);
    const auto ending = name.empty() ? name : "_" + name;
    const auto write = [&](const std::string& what, const char* units, const char* text,
                           const std::vector<double>& values) {
      group.write(what + ending, std::span<const double>(values), {values.size()},
                  {units, {"energy" + ending}, text});
    };
    write("energy", "hartree", "Chebyshev's points", spectrum.energies());
    write("weight", "hartree", "What an energy stands for in an integral", spectrum.weights());
    write("density_of_states", "1/hartree", "Levels of one spin a hartree", spectrum.density());
    states.curves.push_back({name.empty() ? name : "spin " + name, spectrum.energies(), spectrum.density()});
    lower = std::min(lower, spectrum.energies().front());
    upper = std::max(upper, spectrum.energies().back());
  }
  const double most = *std::max_element(states.curves[0].y.begin(), states.curves[0].y.end());
  Curve mark{"chemical potential", {last.mu, last.mu}, {0, most}};
  mark.dashed = true;
  states.curves.push_back(mark);
  states.caption = fmt::format(
      "Of S^-1/2 K S^-1/2, by kernel polynomials: {} of {}; a level is a peak of standard deviation {:.3g} "
      "hartree. It integrates to the number of orbitals.",
      counted(spectra[0].n_moments(), "moment"), counted(spectra[0].n_vectors(), "random vector"),
      spectra[0].resolution());

  constexpr int n_points = 201;
  std::vector<double> mus, electrons, errors;
  for (int i = 0; i < n_points; ++i) {
    const double mu = lower + (upper - lower) * i / (n_points - 1);
    const Estimate n = electrons_at(spectra, mu, mu, temperature);
    mus.push_back(mu);
    electrons.push_back(n.value);
    errors.push_back(n.deviation);
  }
  const auto write = [&](const char* what, const char* units, const char* text,
                         const std::vector<double>& values) {
    group.write(what, std::span<const double>(values), {values.size()}, {units, {"mu"}, text});
  };
  write("mu", "hartree", "Chemical potential of both spins", mus);
  write("electrons", "1", "Electrons of both spins at this mu", electrons);
  write("electrons_standard_error", "1", "Over the random vectors", errors);
  Plot count;
  count.title = "Electrons and chemical potential";
  count.x_label = "mu (hartree)";
  count.y_label = "electrons";
  count.curves.push_back({"", mus, electrons});
  count.curves.push_back({"2 Tr P", {last.mu}, {2 * last.n_pairs}, true});
  count.caption = fmt::format("At the chemical potential {:.6g} ± {:.2g}; 2 Tr P is {:.10g}.", at_mu.value,
                              at_mu.deviation, 2 * last.n_pairs);
  context.report().section("Spectrum");
  context.report().plot(states);
  context.report().plot(count);
}

}  // namespace quintet::submatrix
