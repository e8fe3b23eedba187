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
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"

namespace quintet::submatrix {

using namespace electronic;

double dense_bytes(double n_rows) { return 6 * sizeof(double) * n_rows * n_rows; }

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
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

Evaluation evaluate_densely(Context& context, const EvaluateOptions& options, const std::vector<Spin>& spins,
                            const std::function<void(const Evaluation&)>& check) {
  const auto phase = context.phase("dense");
  const double n_rows = spins.front().system.blocking().n_rows();
  context.require_memory(dense_bytes(n_rows),
                         fmt::format("dense diagonalisation of {}", counted(n_rows, "orbital")));
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
      "Dense diagonalisation of {}: condition number of S about {:.2g}; rounding: ||C^T S C - 1|| {:.1e}, "
      "||C^T K C - e|| {:.1e} hartree over the occupied orbitals",
      counted(n_rows, "orbital"), parts.front().condition, parts.front().idempotency,
      parts.front().commutator);
  return parts.size() == 1 ? parts[0] : mean_of(parts[0], parts[1]);
}

}  // namespace quintet::submatrix
