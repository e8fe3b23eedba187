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
                                   const std::optional<double>& n_pairs) {
  SubmatrixOptions result;
  result.threshold = threshold;
  result.kernel = options.method.kernel;
  result.single_precision = options.method.single_precision;
  result.polynomial_error = options.method.polynomial_error;
  result.columns_together = options.method.columns_together;
  result.memory_bytes = options.method.memory.value_or(0);
  result.mu = options.ensemble.mu;
  result.n_pairs = n_pairs;
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

}  // namespace

void evaluate(Context& context, const EvaluateOptions& options) {
  const System system = read_system(context, options.matrices, options.blocks);
  const auto n_pairs = electron_pairs(options.ensemble, system.blocking().n_rows(), options.temperature);
  const auto reference = find_reference(context.comm(), options.reference, options.matrices.repeat);
  announce_system(system);
  if (context.validating()) return;

  const auto& thresholds = options.method.thresholds;
  const auto basis = [&] {
    const auto phase = context.phase("orthogonalise");
    return orthogonalise(system.k, system.s, *std::min_element(thresholds.begin(), thresholds.end()));
  }();
  log::info("S^-1/2 in {} iterations, residual {:.1e}", basis.iterations, basis.residual);

  std::vector<Evaluation> evaluations;
  const auto n = static_cast<std::int64_t>(thresholds.size());
  for (const std::int64_t i : context.steps(1, n)) {
    const double threshold = thresholds[static_cast<std::size_t>(i - 1)];
    const auto sign = [&] {
      const auto phase = context.phase("submatrices");
      return evaluate_submatrices(basis.a, submatrix_options(options, threshold, n_pairs));
    }();
    const auto start = Clock::now();
    const auto density = [&] {
      const auto phase = context.phase("density");
      return density_matrix(sign, basis, system.k, system.s, threshold);
    }();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    evaluations.push_back(summary_of(threshold, sign, density, seconds));
    if (options.temperature > 0)  // levels at mu are partly full: there is no highest or lowest one
      evaluations.back().homo = evaluations.back().lumo = std::numeric_limits<double>::quiet_NaN();
    check_gap(options, evaluations.back());
    announce(evaluations.back(), reference, static_cast<double>(system.n_atoms));
    context.show("Tr(DK)", density.tr_dk, "hartree");
    if (i == n) write_outputs(context, options.output, system, basis, sign, density);
  }
  if (evaluations.empty()) return log::warning("Stopped before the first threshold: nothing is kept");
  report_evaluations(context, options, reference, system, basis, evaluations);
}

}  // namespace quintet::submatrix
