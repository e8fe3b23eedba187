#include "apps/submatrix/compare/compare.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <functional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/submatrix/compare/compare_report.hpp"
#include "apps/submatrix/compare/measured.hpp"
#include "apps/submatrix/compare/with_petsc.hpp"
#include "apps/submatrix/evaluate/evaluation.hpp"
#include "apps/submatrix/evaluate/occupied.hpp"
#include "apps/submatrix/input/basis.hpp"
#include "apps/submatrix/input/system.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/global/global_newton_schulz.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

double process_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Whether a kernel gives a step function at a given mu alone.
bool needs_mu(const ComparedKernel& kernel) {
  return quintet::row_of(submatrix_kernels, kernel.kernel).needs_mu;
}

double known(const std::optional<double>& mu) {
  QUINTET_CHECK(mu,
                "a Newton-Schulz iteration needs a chemical potential, and no other method of this "
                "comparison found one: "
                "give ensemble.mu instead of ensemble.electrons, or add the kernel eigen");
  return *mu;
}

/// What all methods are given.
struct Problem {
  const System& system;
  const Basis& basis;
  std::optional<double> mu;
  Held held;
  const std::optional<Diagonalised>& exact;  ///< or nothing
  Interrupt interrupt;
};

/// D and whether it holds; outside of the row's time. Throws as find_levels().
void finish_row(MethodRow& row, const Problem& problem, const SubmatrixResult& sign) {
  const double before = process_seconds();
  const auto density = density_matrix(sign, problem.basis, problem.basis.k(problem.system),
                                      problem.basis.s(problem.system), row.threshold);
  row.density_cpu_s = problem.system.k.comm.maximum(process_seconds() - before);
  row.tr_dk = density.tr_dk;
  row.n_pairs = density.n_pairs;
  row.idempotency = density.idempotency;
  if (problem.exact) row.d_error = largest_difference(problem.basis.of_user(density.d), *problem.exact);
  Evaluation evaluation = summary_of(row.threshold, sign, density, 0);
  find_levels(evaluation, problem.basis, sign, problem.held);
  row.doubtful = doubt(evaluation, problem.held.temperature).value_or("");
  if (!row.doubtful.empty())
    log::warning("{}, {:.0e}: doubtful: {}", row.method, row.threshold, row.doubtful);
  log::info("{}{}: {:.3g} s ({:.3g} s of CPU), Tr(DK) = {:.9f} hartree", row.method,
            row.threshold > 0 ? fmt::format(", {:.0e}", row.threshold) : "", row.cost.wall_s, row.cost.cpu_s,
            row.tr_dk);
}

void submatrices(const Problem& problem, const ComparedKernel& kernel, double tolerance,
                 std::optional<double>& mu, MethodRow& row) {
  SubmatrixOptions options;
  options.threshold = row.threshold;
  options.single_precision = kernel.single_precision;
  options.kernel = kernel.kernel;
  if (needs_mu(kernel))
    options.mu = known(mu);
  else
    (problem.mu ? options.mu : options.n_pairs) = problem.mu ? problem.mu : problem.held.n_pairs;
  options.pairs_tolerance = tolerance;
  options.temperature = thermal_energy(problem.held.temperature);
  options.estimate_error = true;
  options.interrupt = problem.interrupt;
  Measurement measurement;
  options.evaluated = [&] { row.cost = measurement.finish(problem.system.k.comm); };
  const auto sign = evaluate_submatrices(problem.basis.a, options);
  row.gflops = sign.flops * 1e-9;
  finish_row(row, problem, sign);
  mu = sign.mu;
}

void global_iteration(const Problem& problem, const std::optional<double>& mu, bool of_petsc,
                      MethodRow& row) {
  Measurement measurement;
  GlobalSign sign = of_petsc
                        ? petsc_sign(problem.basis.a, known(mu), row.threshold)
                        : global_newton_schulz(problem.basis.a, known(mu), row.threshold, problem.interrupt);
  row.cost = measurement.finish(problem.system.k.comm);
  row.iterations = sign.iterations;
  SubmatrixResult result(std::move(sign.p));
  result.mu = *mu;
  result.n_pairs = trace(result.p);
  finish_row(row, problem, result);
}

/// The row of a method that `run` fills; where it gives no right answer, the reason.
MethodRow row_of(const Problem& problem, std::string method, double threshold,
                 const std::function<void(MethodRow&)>& run) {
  give_up_if_asked(problem.system.k.comm, problem.interrupt);
  MethodRow row{std::move(method), threshold, {}};
  try {
    run(row);
  } catch (const Error& error) {
    if (error.code() != ExitCode::input && error.code() != ExitCode::numerical) throw;
    row.refused = error.what();
    log::warning("{}, {:.0e}: refused: {}", row.method, threshold, row.refused);
  }
  return row;
}

/// Dense diagonalisation: K and S to D. `exact` is filled.
MethodRow dense(const System& system, const Problem& problem, std::optional<Diagonalised>& exact) {
  Measurement measurement;
  exact = diagonalise(system.k, system.s, problem.mu, problem.mu ? std::nullopt : problem.held.n_pairs,
                      thermal_energy(problem.held.temperature));
  MethodRow row{"dense diagonalisation", 0, measurement.finish(system.k.comm)};
  row.tr_dk = exact->tr_dk;
  row.n_pairs = exact->n_pairs;
  row.whole = true;
  Evaluation levels;
  levels.mu = exact->mu;
  levels.homo = exact->homo;
  levels.lumo = exact->lumo;
  check_occupied(levels, problem.held);
  log::info("{}: {:.3g} s ({:.3g} s of CPU), Tr(DK) = {:.9f} hartree", row.method, row.cost.wall_s,
            row.cost.cpu_s, row.tr_dk);
  return row;
}

}  // namespace

void compare(Context& context, const CompareOptions& options) {
  const System system = read_system(context, options.matrices, options.blocks);
  const int n_rows = system.blocking().n_rows();
  QUINTET_CHECK(!options.matrices.kohn_sham_down, "matrices.kohn_sham_down: compare takes one spin");
  const auto n_pairs = electrons_of_spin(options.ensemble, n_rows, options.temperature, 0);
  QUINTET_CHECK(
      !n_pairs || !is_trivial(*n_pairs, n_rows),
      "ensemble.electrons: {} electrons fill all {} orbitals: D is S^-1, and there is nothing to compare; "
      "`submatrix evaluate` gives it",
      *options.ensemble.electrons, n_rows);
  const auto reference = find_reference(context.comm(), options.reference, options.matrices.repeat);
  const bool diagonalised = n_rows <= options.dense_limit;
  if (diagonalised)
    context.require_memory(5.0 * sizeof(double) * n_rows * n_rows,
                           fmt::format("dense diagonalisation of {}", counted(n_rows, "orbital")));
  if (!context.go_ahead()) return;

  Measurement measurement;
  const Basis basis =
      make_basis(system, *std::min_element(options.thresholds.begin(), options.thresholds.end()), false,
                 interrupt_of(context), nullptr);
  Comparison comparison;
  comparison.orthogonalise = measurement.finish(context.comm());
  std::optional<Diagonalised> exact;
  const Problem problem{
      system,
      basis,
      options.ensemble.mu,
      {n_pairs, n_pairs.has_value(), options.temperature, options.least_gap, system.guessed_unit},
      exact,
      interrupt_of(context)};
  auto& rows = comparison.rows;
  if (diagonalised) {
    const auto phase = context.phase("dense");
    rows.push_back(dense(system, problem, exact));
  }
  const auto kernels = compared_kernels();
  for (const double threshold : options.thresholds) {
    std::optional<double> mu = exact ? exact->mu : problem.mu;
    for (const auto& name : options.kernels) {
      const ComparedKernel& kernel = row_named(kernels, name);
      if (options.temperature > 0 && needs_mu(kernel)) continue;
      const auto phase = context.phase("submatrices");
      rows.push_back(row_of(problem, "submatrices, " + name, threshold, [&](MethodRow& row) {
        submatrices(problem, kernel, options.ensemble.tolerance / 2, mu, row);
      }));
    }
    if (options.temperature > 0) continue;
    for (const bool of_petsc : {false, true}) {
      if (!(of_petsc ? options.petsc_newton_schulz : options.global_newton_schulz)) continue;
      const auto phase = context.phase("global");
      rows.push_back(
          row_of(problem, of_petsc ? "whole matrix, petsc_newton_schulz" : "whole matrix, newton_schulz",
                 threshold, [&](MethodRow& row) { global_iteration(problem, mu, of_petsc, row); }));
    }
  }
  QUINTET_CHECK(std::any_of(rows.begin(), rows.end(),
                            [](const auto& row) { return !row.whole && row.refused.empty(); }),
                "no sparse method gave a right answer; {}, {:.0e}: {}", rows.back().method,
                rows.back().threshold, rows.back().refused);
  if (exact)
    comparison.exact_energy = exact->tr_dk;
  else
    comparison.exact_energy = reference.energy;
  report_comparison(context, comparison, system);
}

}  // namespace quintet::submatrix
