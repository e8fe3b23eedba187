#include "apps/submatrix/evaluate/evaluate_headlines.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "io/log/counted.hpp"

namespace quintet::submatrix {

namespace {

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string files_text(const MatricesOptions& matrices) {
  std::string text = "K from " + name_of(matrices.kohn_sham);
  if (matrices.kohn_sham_down) text += " (spin down: " + name_of(*matrices.kohn_sham_down) + ")";
  text += matrices.overlap ? ", S from " + name_of(*matrices.overlap) : ", orthogonal basis";
  if (!matrices.repeat.empty()) text += fmt::format(", {} cells", fmt::join(matrices.repeat, " x "));
  return text;
}

std::string ensemble_text(const EnsembleOptions& ensemble, double kelvin) {
  std::string text = ensemble.mu ? fmt::format("chemical potential {:.6g} hartree", *ensemble.mu)
                                 : fmt::format("{:.10g} electrons", ensemble.electrons.value_or(0));
  if (ensemble.common_mu) text += ", one chemical potential of both spins";
  if (ensemble.unpaired != 0) text += fmt::format(", {:.6g} of them unpaired", ensemble.unpaired);
  return text + (kelvin > 0 ? fmt::format(", {:.6g} K", kelvin) : ", no temperature");
}

/// How far Tr(DK) of the last evaluation is off (hartree), and how that is known.
struct EnergyError {
  double hartree = 0;
  std::string how;
};

std::optional<EnergyError> energy_error(const std::vector<Evaluation>& evaluations) {
  const auto& last = evaluations.back();
  if (last.kernel == "dense") return EnergyError{last.energy_error, "rounding"};
  if (last.error_columns > 0) return EnergyError{last.energy_error, "by estimate"};
  return std::nullopt;
}

/// Why the whole result is in doubt, or "".
std::string doubt_of(const Evaluation& e, double kelvin) {
  if (kelvin == 0 && smallest_gap(e) < 0)
    return "The highest occupied level lies above the lowest empty one: mu is inside a band, or submatrices "
           "are too "
           "small.";
  if (const auto why = doubt(e, kelvin)) return *why + ": take a smaller threshold or larger blocks.";
  return {};
}

std::string time_text(double seconds) {
  return seconds < 120 ? fmt::format("{:.3g} s", seconds) : fmt::format("{:.3g} min", seconds / 60);
}

}  // namespace

void describe_evaluation(Context& context, const EvaluateOptions& options, const System& system,
                         const std::vector<std::string>& why_dense) {
  const auto& blocking = system.blocking();
  context.describe_run(
      "system", fmt::format("{}{} in {}; {}", counted(blocking.n_rows(), "orbital"),
                            system.n_atoms > 0 ? fmt::format(" of {}", counted(system.n_atoms, "atom")) : "",
                            counted(blocking.n_blocks(), "block"), files_text(options.matrices)));
  context.describe_run("held", ensemble_text(options.ensemble, options.temperature));
  std::vector<double> by_submatrices;
  for (std::size_t i = 0; i < why_dense.size(); ++i)
    if (why_dense[i].empty()) by_submatrices.push_back(options.method.thresholds[i]);
  std::string method =
      "density matrix D of one spin (D S D = D without a temperature; CP2K's closed-shell P is 2 D)";
  if (!by_submatrices.empty())
    method +=
        fmt::format(", by submatrices at filter thresholds {:.0e} hartree", fmt::join(by_submatrices, ", "));
  if (by_submatrices.size() < why_dense.size())
    method += ", by one dense diagonalisation: " +
              *std::find_if(why_dense.begin(), why_dense.end(), [](const auto& why) { return !why.empty(); });
  context.describe_run("method", method);
}

void add_headlines(Context& context, const EvaluateOptions& options, const System& system,
                   const std::vector<Evaluation>& evaluations) {
  const Evaluation& last = evaluations.back();
  const std::string doubts = doubt_of(last, options.temperature);
  const auto error = energy_error(evaluations);
  context.headline("band energy 2 Tr(DK)",
                   error ? fmt::format("{:.8f} ± {:.1g} hartree", 2 * last.tr_dk, 2 * error->hartree)
                         : fmt::format("{:.8f} hartree", 2 * last.tr_dk),
                   doubts);
  const double electrons = 2 * last.n_pairs, off = std::abs(electrons - std::round(electrons));
  constexpr double most_off = 0.1;
  context.headline(
      "electrons", fmt::format("{:.10g}", electrons),
      options.temperature == 0 && off > most_off
          ? std::string("No whole number at zero temperature: submatrices are too small, or mu is inside "
                        "a band.")
          : std::string());
  const std::string mu = has_two_mu(last)
                             ? fmt::format("{:.6f} (spin up), {:.6f} (spin down)", last.mu, *last.mu_down)
                             : fmt::format("{:.6f}", last.mu);
  context.headline("chemical potential",
                   mu + (last.mu_error > 0 ? fmt::format(" ± {:.1g}", last.mu_error) : "") + " hartree");
  if (options.temperature > 0)
    context.headline("entropy", fmt::format("{:.6g} k_B", 2 * last.entropy));
  else
    context.headline("gap", gap_text(last, "±"),
                     smallest_gap(last) > 0 ? std::string()
                                            : std::string("No gap around the chemical potential was found."));
  if (error) {
    const double mev = 1e3 * ev_per_hartree * error->hartree;
    context.headline("error of the energy, " + error->how,
                     system.n_atoms > 0 ? fmt::format("{:.1g} meV/atom", mev / system.n_atoms)
                                        : fmt::format("{:.1g} meV", mev),
                     doubts);
  } else {
    context.headline("error of the energy", "not estimated", doubts);
  }
  context.headline("time of P and D", time_text(last.seconds + last.density_seconds));
}

}  // namespace quintet::submatrix
