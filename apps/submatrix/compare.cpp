#include "apps/submatrix/compare.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include <fmt/format.h>

#include "apps/submatrix/basis.hpp"
#include "apps/submatrix/compare_report.hpp"
#include "apps/submatrix/measured.hpp"
#include "apps/submatrix/system.hpp"
#include "apps/submatrix/with_petsc.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/diagonalise.hpp"
#include "physics/electronic/global_newton_schulz.hpp"
#include "physics/electronic/submatrix.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

double process_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// What all methods share.
struct Task {
  const System& system;
  const Basis& basis;
  std::optional<double> mu, n_pairs;
  double temperature = 0;                    ///< k_B T (hartree)
  const std::optional<Diagonalised>& exact;  ///< or nothing
};

void finish_row(MethodRow& row, const Task& task, const SubmatrixResult& sign) {
  const double before = process_seconds();
  const auto density =
      density_matrix(sign, task.basis, task.basis.k(task.system), task.basis.s(task.system), row.threshold);
  row.density_cpu_s = task.system.k.comm.maximum(process_seconds() - before);
  row.tr_dk = density.tr_dk;
  row.n_pairs = density.n_pairs;
  row.idempotency = density.idempotency;
  if (task.exact) row.d_error = largest_difference(task.basis.of_user(density.d), *task.exact);
  log::info("{}{}: {:.3g} s ({:.3g} s of CPU), Tr(DK) = {:.9f} hartree", row.method,
            row.threshold > 0 ? fmt::format(", {:.0e}", row.threshold) : "", row.cost.wall_s, row.cost.cpu_s,
            row.tr_dk);
}

MethodRow submatrices(const Task& task, const std::string& name, double threshold, double tolerance,
                      double& mu) {
  SubmatrixOptions options;
  options.threshold = threshold;
  options.single_precision = name == "polynomial_fp32";
  options.kernel = name == "eigen"           ? SubmatrixKernel::eigen
                   : name == "newton_schulz" ? SubmatrixKernel::newton_schulz
                                             : SubmatrixKernel::polynomial;
  options.mu = task.mu;
  options.n_pairs = task.n_pairs;
  options.pairs_tolerance = tolerance;
  options.temperature = task.temperature;
  Measurement measurement;
  const auto sign = evaluate_submatrices(task.basis.a, options);
  MethodRow row{"submatrices, " + name, threshold, measurement.finish(task.system.k.comm)};
  row.gflops = sign.flops * 1e-9;
  mu = sign.mu;
  finish_row(row, task, sign);
  return row;
}

/// `of_petsc`: by PETSc's products.
MethodRow global_iteration(const Task& task, double threshold, double mu, bool of_petsc) {
  Measurement measurement;
  GlobalSign sign =
      of_petsc ? petsc_sign(task.basis.a, mu, threshold) : global_newton_schulz(task.basis.a, mu, threshold);
  MethodRow row{of_petsc ? "whole matrix, petsc_newton_schulz" : "whole matrix, newton_schulz", threshold,
                measurement.finish(task.system.k.comm)};
  row.iterations = sign.iterations;
  SubmatrixResult result(std::move(sign.p));
  result.mu = mu;
  finish_row(row, task, result);
  return row;
}

/// Dense diagonalisation: K and S to D. `exact` is filled.
MethodRow dense(const System& system, const Task& task, std::optional<Diagonalised>& exact) {
  Measurement measurement;
  exact = diagonalise(system.k, system.s, task.mu, task.n_pairs, task.temperature);
  MethodRow row{"dense diagonalisation", 0, measurement.finish(system.k.comm)};
  row.tr_dk = exact->tr_dk;
  row.n_pairs = exact->n_pairs;
  row.whole = true;
  log::info("{}: {:.3g} s ({:.3g} s of CPU), Tr(DK) = {:.9f} hartree", row.method, row.cost.wall_s,
            row.cost.cpu_s, row.tr_dk);
  return row;
}

bool needs_no_temperature(const std::string& kernel) { return kernel == "newton_schulz"; }

}  // namespace

void compare(Context& context, const CompareOptions& options) {
  const System system = read_system(context, options.matrices, options.blocks);
  const int n_rows = system.blocking().n_rows();
  QUINTET_CHECK(!options.matrices.kohn_sham_down, "matrices.kohn_sham_down: compare takes one spin");
  const auto n_pairs = electrons_of_spin(options.ensemble, n_rows, options.temperature, 0);
  const auto reference = find_reference(context.comm(), options.reference, options.matrices.repeat);
  const bool diagonalised = n_rows <= options.dense_limit;
  if (diagonalised)
    context.require_memory(5.0 * sizeof(double) * n_rows * n_rows,
                           fmt::format("dense diagonalisation of {} orbitals", n_rows));
  if (!context.go_ahead()) return;

  Measurement measurement;
  const Basis basis =
      make_basis(system, *std::min_element(options.thresholds.begin(), options.thresholds.end()), false, {});
  Comparison comparison;
  comparison.orthogonalise = measurement.finish(context.comm());
  std::optional<Diagonalised> exact;
  const Task task{system, basis, options.ensemble.mu, n_pairs, thermal_energy(options.temperature), exact};
  if (diagonalised) {
    const auto phase = context.phase("dense");
    comparison.rows.push_back(dense(system, task, exact));
  }
  for (const double threshold : options.thresholds) {
    double mu = task.mu.value_or(0);
    for (const auto& kernel : options.kernels) {
      if (options.temperature > 0 && needs_no_temperature(kernel)) continue;
      const auto phase = context.phase("submatrices");
      comparison.rows.push_back(submatrices(task, kernel, threshold, options.ensemble.tolerance / 2, mu));
    }
    if (options.temperature > 0) continue;
    for (const bool of_petsc : {false, true}) {
      if (!(of_petsc ? options.petsc_newton_schulz : options.global_newton_schulz)) continue;
      const auto phase = context.phase("global");
      comparison.rows.push_back(global_iteration(task, threshold, mu, of_petsc));
    }
  }
  if (exact)
    comparison.exact_energy = exact->tr_dk;
  else
    comparison.exact_energy = reference.energy;
  report_comparison(context, comparison, system);
}

}  // namespace quintet::submatrix
