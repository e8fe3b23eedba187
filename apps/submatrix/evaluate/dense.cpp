#include "apps/submatrix/evaluate/dense.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/submatrix/evaluate/output.hpp"
#include "apps/submatrix/report/pictures.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// K, S, C and workspace of LAPACK, on the first rank.
double bytes_needed(double n_rows) { return 6 * sizeof(double) * n_rows * n_rows; }

bool fits(Context& context, double n_rows) {
  try {
    context.require_memory(bytes_needed(n_rows), "dense diagonalisation");
    return true;
  } catch (const ResourceError&) {
    return false;
  }
}

/// Rows of a submatrix over those of the matrix, on the mean.
double mean_part(const BlockMatrix& a, double threshold) {
  const auto sizes = submatrix_sizes(a, threshold);
  return std::accumulate(sizes.begin(), sizes.end(), 0.0) /
         (static_cast<double>(a.blocking->n_rows()) * sizes.size());
}

/// Elements and mean rows of a block column of this matrix where blocks below `threshold` are dropped.
struct PatternSize {
  double elements, rows;
};
PatternSize columns_of(const BlockMatrix& a, double threshold) {
  const double n = a.blocking->n_rows(), part = mean_part(a, threshold);
  return {part * n * n, part * n};
}

/// Seconds of a rank for a spin by submatrices at all thresholds. `a`: A, or K while A is not known; `basis`:
/// whether A is still to be made; `sharing`: as in predicted_costs_of().
double submatrix_seconds_of(const EvaluateOptions& options, const System& system, const BlockMatrix& a,
                            bool basis, std::size_t sharing) {
  constexpr double products_per_second = 6e9;  // operations of products of small blocks
  constexpr double level_seconds = 2e-7;   // an element of A: some 200 products with vectors for HOMO, LUMO
  constexpr double least_seconds = 0.005;  // of a threshold: its many small sums
  constexpr double beside_kernels = 2;     // moments, edges of the spectrum, samples for the errors
  constexpr double passes_at_temperature = 2;  // until N(mu) is met
  const auto& thresholds = options.method.thresholds;
  const double finest = *std::min_element(thresholds.begin(), thresholds.end());
  const double n = system.blocking().n_rows(), whole = columns_of(a, 0.01 * finest).elements;
  const double z_rows = n * inverse_sqrt_part(system.s, finest);
  double seconds = 0;
  for (const double threshold : thresholds) {
    const auto costs = predicted_costs(a, submatrix_options(options, threshold, std::nullopt));
    const double kernels = std::accumulate(costs.begin(), costs.end(), 0.0);
    const double p_rows = columns_of(a, threshold).rows;
    seconds +=
        least_seconds + (options.temperature > 0 ? passes_at_temperature : 1) * beside_kernels * kernels +
        (options.temperature > 0 ? 0 : level_seconds * whole) + 2 * n * z_rows * p_rows / products_per_second;
  }
  if (!basis) return seconds / a.comm.size();
  const double k_rows = columns_of(system.k, 0.01 * finest).rows;
  const CostModel series{.degree = 30};
  const Blocking& blocks = system.blocking();
  if (sharing > 0 && n * z_rows > n)
    seconds += series.polynomial(z_rows, n / blocks.n_blocks()) * blocks.n_blocks() / sharing;
  seconds += 4 * n * z_rows * k_rows / products_per_second;
  return seconds / a.comm.size();
}

/// Orbitals of each spin and how they are filled.
struct Filled {
  std::vector<Orbitals> orbitals;
  std::vector<Filling> fillings;
};

Filled fill_spins(const EvaluateOptions& options, const std::vector<Spin>& spins) {
  const double temperature = thermal_energy(options.temperature);
  Filled filled;
  for (const Spin& spin : spins) filled.orbitals.push_back(orbitals_of(spin.system.k, spin.system.s));
  std::optional<double> mu = options.ensemble.mu;
  if (options.ensemble.common_mu) {
    std::vector<double> all = filled.orbitals[0].level;
    all.insert(all.end(), filled.orbitals[1].level.begin(), filled.orbitals[1].level.end());
    std::sort(all.begin(), all.end());
    mu = fill(all, {}, spins[0].electrons, temperature).mu;
  }
  for (std::size_t s = 0; s < spins.size(); ++s) {
    const auto& level = filled.orbitals[s].level;
    QUINTET_CHECK(
        !options.ensemble.mu || (*mu > level.front() && *mu < level.back()),
        "mu = {} Hartree lies outside the spectrum, {:.4g} to {:.4g}: all orbitals would be empty or full; "
        "is it in Hartree?",
        *mu, level.front(), level.back());
    filled.fillings.push_back(
        fill(level, mu, mu ? std::optional<double>() : spins[s].electrons, temperature));
  }
  return filled;
}

/// The pattern of all blocks, values not set.
BlockMatrix all_blocks(const BlockMatrix& like) {
  BlockMatrix m = empty_like(like);
  const Blocking& blocks = *m.blocking;
  m.row.clear();
  m.offset.clear();
  m.column_begin = {0};
  std::int64_t n_values = 0;
  for (int c = m.first; c < m.last; ++c) {
    for (int r = 0; r < blocks.n_blocks(); ++r) {
      m.row.push_back(r);
      m.offset.push_back(n_values);
      n_values += std::int64_t{blocks.size(r)} * blocks.size(c);
    }
    m.column_begin.push_back(m.n_blocks());
  }
  m.value.assign(n_values, 0.0);
  return m;
}

void write_densely(Context& context, const EvaluateOptions& options, const Spin& spin,
                   const Orbitals& orbitals, const Filling& filling, const BlockMatrix& d) {
  std::vector<double> energies;
  for (std::size_t i = 0; i < orbitals.level.size(); ++i)
    energies.push_back(filling.occupation[i] * orbitals.level[i]);
  const double electrons = 2 * filling.n_pairs;
  write_outputs(context, options.output, spin.suffix, electrons,
                {{"density", [&] { return d; }, norm_outside(orbitals, filling.occupation, d)},
                 {"energy_weighted", [&] { return sum_over_orbitals(orbitals, energies, d); }},
                 {"kohn_sham", [&] { return spin.system.k; }},
                 {"overlap", [&] { return spin.system.s; }}});
}

/// The numbers of a spin from its density matrix on the blocks of K and S.
Evaluation numbers_of(const Spin& spin, const Orbitals& orbitals, const Filling& filling,
                      const BlockMatrix& d) {
  const System& system = spin.system;
  const std::size_t n = orbitals.level.size();
  Evaluation result;
  result.kernel = "dense";
  result.tr_dk = dot(d, system.k);
  result.n_pairs = filling.n_pairs;
  result.n_pairs_of_d = dot(d, system.s);
  result.mu = filling.mu;
  result.homo = filling.homo;
  result.lumo = filling.lumo;
  result.entropy = filling.entropy;
  result.rest = result.density_error = norm_outside(orbitals, filling.occupation, d);
  std::vector<double> root(n);
  std::transform(filling.occupation.begin(), filling.occupation.end(), root.begin(),
                 [](double f) { return std::sqrt(f); });
  result.idempotency = rounding_defect(orbitals, root, system.s, std::vector<double>(n, 1.0));
  result.commutator = rounding_defect(orbitals, root, system.k, orbitals.level);
  result.blocks = static_cast<double>(d.comm.sum(static_cast<long>(d.n_blocks()))) / d.blocking->n_blocks();
  result.n_mean = result.n_max = n;
  result.n_submatrices = 1;
  result.condition = orbitals.condition;
  result.error_columns = d.blocking->n_blocks();  // all are exact but for rounding
  result.energy_error = result.commutator * std::sqrt(result.n_pairs);
  return result;
}

}  // namespace

Costs predicted_costs_of(const EvaluateOptions& options, const std::vector<Spin>& spins, const BlockMatrix* a,
                         std::size_t sharing) {
  const System& system = spins.front().system;
  const double n_rows = system.blocking().n_rows(), n_spins = spins.size();
  const double bytes_of_k = system.k.comm.sum(static_cast<double>(system.k.bytes()));
  return {
      n_spins * dense_seconds(n_rows),
      n_spins * submatrix_seconds_of(options, system, a != nullptr ? *a : system.k, a == nullptr, sharing),
      bytes_needed(n_rows), matrices_beside_k * n_spins * bytes_of_k};
}

std::string cheaper_dense(Context& context, const EvaluateOptions& options, const Costs& costs) {
  const auto& method = options.method;
  constexpr double least_saving = 0.1;  // (s): below, nobody waits, and submatrices tell their errors
  if (method.dense != Dense::automatic || method.kernel != SubmatrixKernel::automatic ||
      method.columns_together != 0 || wants_orthogonal(options.output) || options.check.vectors > 0 ||
      options.spectrum.vectors > 0 || options.device != Device::cpu)
    return {};
  if (costs.submatrix_seconds - costs.dense_seconds < least_saving) return {};
  if (costs.dense_bytes > method.memory.value_or(std::numeric_limits<double>::infinity()) ||
      !fits(context, std::sqrt(costs.dense_bytes / bytes_needed(1))))
    return {};
  return fmt::format("it is predicted to take {:.2g} s, submatrices {:.2g} s for {}", costs.dense_seconds,
                     costs.submatrix_seconds,
                     method.thresholds.size() == 1
                         ? "the threshold"
                         : fmt::format("all {} thresholds", method.thresholds.size()));
}

bool may_be_dense(Context& context, const EvaluateOptions& options, const System& system) {
  constexpr double most_seconds = 600;
  const double n_rows = system.blocking().n_rows();
  const auto& method = options.method;
  if (method.kernel != SubmatrixKernel::automatic) return false;
  return method.dense == Dense::automatic && dense_seconds(n_rows) <= most_seconds &&
         !wants_orthogonal(options.output) &&
         bytes_needed(n_rows) <= method.memory.value_or(std::numeric_limits<double>::infinity()) &&
         fits(context, n_rows);
}

std::string why_dense(Context& context, const EvaluateOptions& options, const System& system,
                      double threshold, const BlockMatrix* a) {
  const auto& method = options.method;
  if (method.dense == Dense::always) return "method.dense is always";
  if (method.dense == Dense::never || method.kernel != SubmatrixKernel::automatic ||
      method.columns_together != 0 || wants_orthogonal(options.output))
    return {};
  constexpr double nearly_all = 0.9;
  const double part = a != nullptr
                          ? mean_part(*a, threshold)
                          : std::max(mean_part(system.k, threshold), inverse_sqrt_part(system.s, threshold));
  const int n_rows = system.blocking().n_rows();
  if (part < nearly_all || !fits(context, n_rows)) return {};
  return fmt::format("at threshold {:.0e} a submatrix has {:.0f} % of all {} orbitals on the mean", threshold,
                     100 * part, n_rows);
}

Evaluation evaluate_densely(Context& context, const EvaluateOptions& options, const std::vector<Spin>& spins,
                            const std::function<void(const Evaluation&)>& check) {
  const auto phase = context.phase("dense");
  const double n_rows = spins.front().system.blocking().n_rows();
  context.require_memory(bytes_needed(n_rows), fmt::format("dense diagonalisation of {} orbitals", n_rows));
  auto start = Clock::now();
  const Filled filled = fill_spins(options, spins);
  const double seconds = seconds_since(start) / spins.size();
  std::vector<Evaluation> parts;
  for (std::size_t s = 0; s < spins.size(); ++s) {
    const Spin& spin = spins[s];
    start = Clock::now();
    const bool whole = options.output.pattern == DensityPattern::whole && !options.output.matrices.empty();
    const BlockMatrix pattern = whole ? all_blocks(spin.system.k) : add(0, spin.system.k, 0, spin.system.s);
    const BlockMatrix d = sum_over_orbitals(filled.orbitals[s], filled.fillings[s].occupation, pattern);
    parts.push_back(numbers_of(spin, filled.orbitals[s], filled.fillings[s], d));
    parts.back().whole = whole;
    if (options.temperature > 0)  // as for submatrices
      parts.back().homo = parts.back().lumo = std::numeric_limits<double>::quiet_NaN();
    check(parts.back());
    parts.back().seconds = d.comm.maximum(seconds);
    parts.back().density_seconds = d.comm.maximum(seconds_since(start));
    parts.back().flops = 9 * std::pow(n_rows, 3);
    write_densely(context, options, spin, filled.orbitals[s], filled.fillings[s], d);
  }
  log::info(
      "Dense diagonalisation of {} orbitals: condition number of S about {:.2g}; rounding: ||C^T S C - 1|| "
      "{:.1e}, "
      "||C^T K C - e|| {:.1e} hartree over the occupied orbitals",
      n_rows, parts.front().condition, parts.front().idempotency, parts.front().commutator);
  return parts.size() == 1 ? parts[0] : mean_of(parts[0], parts[1]);
}

}  // namespace quintet::submatrix
