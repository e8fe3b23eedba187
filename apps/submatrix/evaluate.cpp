#include "apps/submatrix/evaluate.hpp"

#include <algorithm>
#include <chrono>
#include <limits>

#include "apps/submatrix/evaluate_report.hpp"
#include "apps/submatrix/evaluation.hpp"
#include "apps/submatrix/output.hpp"
#include "apps/submatrix/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

using Clock = std::chrono::steady_clock;

SubmatrixOptions submatrix_options(const EvaluateOptions& options, double threshold,
                                   const std::optional<double>& electrons) {
  SubmatrixOptions result;
  result.threshold = threshold;
  result.kernel = options.method.kernel;
  result.single_precision = options.method.single_precision;
  result.polynomial_error = options.method.polynomial_error;
  result.newton_schulz_order = options.method.newton_schulz_order;
  result.columns_together = options.method.columns_together;
  result.memory_bytes = options.method.memory.value_or(0);
  result.mu = options.ensemble.mu;
  result.n_pairs = electrons;
  result.pairs_tolerance = options.ensemble.tolerance / 2;
  result.temperature = thermal_energy(options.temperature);
  return result;
}

/// Refuse a step function at a chemical potential inside a band.
void check_gap(const EvaluateOptions& options, const Evaluation& evaluation) {
  QUINTET_CHECK(
      options.temperature > 0 || !(evaluation.lumo - evaluation.homo < options.method.least_gap),
      "mu = {:.6g} hartree lies inside a band: the levels around it, {:.6g} and {:.6g} hartree, are closer "
      "than method.least_gap = {:.3g} hartree; choose mu (or the number of electrons) so that it lies in a "
      "gap, or give a temperature",
      evaluation.mu, evaluation.homo, evaluation.lumo, options.method.least_gap);
}

void announce_system(const System& system) {
  const auto& blocking = system.blocking();
  log::info("{} orbitals in {} blocks, {} elements of K; {:.4g} bytes of K and S on the first rank",
            blocking.n_rows(), blocking.n_blocks(), system.n_elements, system.k.bytes() + system.s.bytes());
}

/// A spin of the system, or both where they are alike.
struct Spin {
  System system;
  std::optional<double> electrons;  ///< to hold
  const char* suffix = "";          ///< of files
};

std::vector<Spin> read_spins(Context& context, const EvaluateOptions& options) {
  const bool open = options.matrices.kohn_sham_down.has_value();
  std::vector<Spin> spins;
  const auto add = [&](const MatricesOptions& matrices, int spin, const char* suffix) {
    System system = read_system(context, matrices, options.blocks);
    const auto electrons =
        electrons_of_spin(options.ensemble, system.blocking().n_rows(), options.temperature, spin);
    const auto phase = context.phase("share");
    const auto& thresholds = options.method.thresholds;
    share_by_cost(system, submatrix_options(options, *std::min_element(thresholds.begin(), thresholds.end()),
                                            electrons));
    spins.push_back({std::move(system), electrons, suffix});
  };
  add(options.matrices, open ? 1 : 0, "");
  if (!open) return spins;
  add(spin_down(options.matrices), -1, "_down");
  const int up = spins[0].system.blocking().n_rows(), down = spins[1].system.blocking().n_rows();
  QUINTET_CHECK(up == down, "{} has {} rows, but {} has {}: are they the two spins of one system?",
                options.matrices.kohn_sham, up, *options.matrices.kohn_sham_down, down);
  return spins;
}

/// One spin at one threshold; `write`: the matrices that the user wants.
Evaluation evaluate_spin(Context& context, const EvaluateOptions& options, const Spin& spin,
                         const Orthogonalised& basis, double threshold, bool write) {
  const System& system = spin.system;
  const auto sign = [&] {
    const auto phase = context.phase("submatrices");
    return evaluate_submatrices(basis.a, submatrix_options(options, threshold, spin.electrons));
  }();
  const auto start = Clock::now();
  const auto density = [&] {
    const auto phase = context.phase("density");
    return density_matrix(sign, basis, system.k, system.s, threshold);
  }();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  Evaluation evaluation = summary_of(threshold, sign, density, seconds);
  if (options.temperature > 0)  // levels at mu are partly full: there is no highest or lowest one
    evaluation.homo = evaluation.lumo = std::numeric_limits<double>::quiet_NaN();
  check_gap(options, evaluation);
  if (write) write_outputs(context, options.output, spin.suffix, threshold, system, basis, sign, density);
  return evaluation;
}

}  // namespace

void evaluate(Context& context, const EvaluateOptions& options) {
  const auto spins = read_spins(context, options);
  const System& system = spins.front().system;
  const auto reference = find_reference(context.comm(), options.reference, options.matrices.repeat);
  for (const auto& spin : spins) announce_system(spin.system);
  if (context.validating()) return;

  const auto& thresholds = options.method.thresholds;
  std::vector<Orthogonalised> bases;
  for (const auto& spin : spins) {
    const auto phase = context.phase("orthogonalise");
    bases.push_back(
        orthogonalise(spin.system.k, spin.system.s, *std::min_element(thresholds.begin(), thresholds.end())));
    log::info("S^-1/2 in {} iterations, residual {:.1e}", bases.back().iterations, bases.back().residual);
  }

  std::vector<Evaluation> evaluations;
  const auto n = static_cast<std::int64_t>(thresholds.size());
  for (const std::int64_t i : context.steps(1, n)) {
    std::vector<Evaluation> parts;
    for (std::size_t s = 0; s < spins.size(); ++s)
      parts.push_back(evaluate_spin(context, options, spins[s], bases[s],
                                    thresholds[static_cast<std::size_t>(i - 1)], i == n));
    evaluations.push_back(parts.size() == 1 ? parts[0] : mean_of(parts[0], parts[1]));
    announce(evaluations.back(), reference, static_cast<double>(system.n_atoms));
    context.show("Tr(DK)", evaluations.back().tr_dk, "hartree");
  }
  if (evaluations.empty()) return log::warning("Stopped before the first threshold: nothing is kept");
  report_evaluations(context, options, reference, system, bases.front(), evaluations);
}

}  // namespace quintet::submatrix
