#include "apps/submatrix/evaluate/threshold.hpp"

#include <chrono>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/submatrix/evaluate/output.hpp"
#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/energy_weighted_density.hpp"
#include "physics/electronic/density/probe.hpp"
#include "physics/electronic/submatrix/submatrix_spins.hpp"

namespace quintet::submatrix {

using namespace electronic;

Held held_of(const EvaluateOptions& options, const Spin& spin, bool counted) {
  const auto& ensemble = options.ensemble;
  return {counted && !ensemble.common_mu ? spin.electrons : std::nullopt, ensemble.electrons.has_value(),
          options.temperature, options.method.least_gap, spin.system.guessed_unit};
}

namespace {

using Clock = std::chrono::steady_clock;

/// P of each spin at one threshold.
std::vector<SubmatrixResult> signs_of(Context& context, const EvaluateOptions& options,
                                      const std::vector<Spin>& spins, const std::vector<Basis>& bases,
                                      DeviceSubmatrices* device, double threshold) {
  const auto phase = context.phase("submatrices");
  std::vector<SubmatrixResult> signs;
  if (options.ensemble.common_mu) {
    auto both = submatrix_options(options, threshold, spins[0].electrons);
    both.interrupt = interrupt_of(context);
    both.device = device;
    both.pairs_tolerance = options.ensemble.tolerance;
    auto [up, down] = evaluate_spins(bases[0].a, bases[1].a, both);
    signs.push_back(std::move(up));
    signs.push_back(std::move(down));
  } else {
    for (std::size_t s = 0; s < spins.size(); ++s) {
      auto one = submatrix_options(options, threshold, spins[s].electrons);
      one.interrupt = interrupt_of(context);
      one.device = device;
      signs.push_back(evaluate_submatrices(bases[s].a, one));
    }
  }
  return signs;
}

/// P of one spin against a series of all of A, on random vectors.
void check_on_vectors(Context& context, const EvaluateOptions& options, const Basis& basis,
                      const SubmatrixResult& sign, const SpmmLayout& layout, Evaluation& evaluation) {
  const auto phase = context.phase("check");
  ProbeOptions probe;
  probe.vectors = options.check.vectors;
  probe.error = options.check.error;
  probe.layout = layout;
  probe.interrupt = interrupt_of(context);
  const ProbedError probed =
      probe_error(sign.p, basis.a, {sign.mu, sign.temperature, 0},
                  {evaluation.homo, evaluation.homo_error, evaluation.lumo, evaluation.lumo_error}, probe);
  evaluation.probe_vectors = probed.vectors;
  evaluation.probe_degree = probed.degree;
  evaluation.probed_error = probed.norm.value;
  evaluation.probed_deviation = probed.norm.deviation;
  evaluation.probe_series_error = probed.series_error;
  evaluation.probe_refused = probed.refused;
}

/// One spin at one threshold; `write`: the matrices that the user wants.
Evaluation evaluate_spin(Context& context, const EvaluateOptions& options, const Way& way, std::size_t s,
                         const Spin& spin, const SubmatrixResult& sign, DeviceSubmatrices* device,
                         double threshold, bool write) {
  const System& system = spin.system;
  const Basis& basis = way.bases[s];
  const auto start = Clock::now();
  const auto density = [&] {
    const auto phase = context.phase("density");
    return density_matrix(sign, basis, basis.k(system), basis.s(system), threshold, device,
                          write ? options.output.pattern : DensityPattern::of_k_and_s);
  }();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  Evaluation evaluation = summary_of(threshold, sign, density, seconds);
  evaluation.whole = write && options.output.pattern == DensityPattern::whole;
  if (basis.local)  // these are of D in that basis, which is not the one that is written
    evaluation.rest = evaluation.density_error = std::numeric_limits<double>::quiet_NaN();
  {
    const auto phase = context.phase("frontier");
    find_levels(evaluation, basis, sign, held_of(options, spin, true), device);
  }
  const bool trivial = spin.electrons && is_trivial(*spin.electrons, system.blocking().n_rows());
  if (!way.check.empty() && trivial && !options.ensemble.common_mu)
    evaluation.probe_refused = "all orbitals of a spin are empty or full: P is exact";
  else if (!way.check.empty())
    check_on_vectors(context, options, basis, sign, way.check[s], evaluation);
  if (!write) return evaluation;
  const auto energy_weighted = [&] {
    return basis.of_user(energy_weighted_density(sign, basis, density.d, threshold));
  };
  write_outputs(context, options.output, spin.suffix, 2 * density.n_pairs,
                {{"density", [&] { return basis.of_user(density.d); }, basis.local ? 0 : density.rest},
                 {"energy_weighted", energy_weighted},
                 {"orthogonal", [&] { return basis.a; }},
                 {"inverse_sqrt", [&] { return basis.inverse_sqrt; }},
                 {"orthogonal_density", [&] { return sign.p; }},
                 {"kohn_sham", [&] { return system.k; }},
                 {"overlap", [&] { return system.s; }}});
  return evaluation;
}

}  // namespace

Evaluation evaluate_threshold(Context& context, const EvaluateOptions& options,
                              const std::vector<Spin>& spins, const Way& way, DeviceSubmatrices* device,
                              double threshold, bool write) {
  const auto signs = signs_of(context, options, spins, way.bases, device, threshold);
  std::vector<Evaluation> parts;
  for (std::size_t s = 0; s < spins.size(); ++s) {
    give_up_if_asked(context.comm(), interrupt_of(context));
    parts.push_back(evaluate_spin(context, options, way, s, spins[s], signs[s], device, threshold, write));
  }
  return parts.size() == 1 ? parts[0] : mean_of(parts[0], parts[1]);
}

}  // namespace quintet::submatrix
