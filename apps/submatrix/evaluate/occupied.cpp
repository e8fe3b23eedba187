#include "apps/submatrix/evaluate/occupied.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/submatrix/frontier.hpp"

namespace quintet::submatrix {

using namespace electronic;

void check_occupied(const Evaluation& evaluation, const Held& held) {
  if (held.temperature > 0) return;
  QUINTET_CHECK(
      !(evaluation.lumo - evaluation.homo < held.least_gap),
      "mu = {:.6g} hartree lies inside a band: the levels around it, {:.6g} and {:.6g} hartree, are closer "
      "than least_gap = {:.3g} hartree; choose mu (or the number of electrons) so that it lies in a gap, or "
      "give a temperature",
      evaluation.mu, evaluation.homo, evaluation.lumo, held.least_gap);
  constexpr double largest_gap = 1;
  const double gap = evaluation.lumo - evaluation.homo;
  QUINTET_CHECK(
      !(held.guessed_unit && std::isfinite(gap) && gap > largest_gap),
      "matrices.kohn_sham says no unit, and taken for hartree the gap is {:.4g} hartree, {:.4g} eV, "
      "more than the ionisation energy of any atom (0.90 hartree): K seems to be in eV or Ry; say "
      "matrices.units: eV, Ry or hartree (and look at ensemble.mu, which has a unit of its own)",
      gap, gap * ev_per_hartree);
  QUINTET_CHECK(
      !held.electrons || evaluation.pairs_error < 0.5,
      "the submatrices miss about {:.2g} electrons of one spin at mu = {:.6g} hartree, by estimate: which "
      "orbitals are occupied is not known; take a smaller threshold, larger blocks or a temperature",
      evaluation.pairs_error, evaluation.mu);
}

namespace {

constexpr double most_off = 0.1;  // orbitals between what was counted and what there are

/// Compare the orbitals of P with those of all levels, which are exact.
void check_number(Evaluation& evaluation, const SubmatrixResult& sign, const FrontierLevels& levels,
                  const Held& held) {
  if (std::isnan(levels.n_pairs)) return;
  const double off = std::abs(sign.n_pairs - levels.n_pairs),
               off_of_d = held.n_pairs ? 0 : std::abs(evaluation.n_pairs_of_d - levels.n_pairs);
  evaluation.pairs_error = std::max(evaluation.pairs_error, off);
  QUINTET_CHECK(
      std::max(off, off_of_d) < most_off,
      "at mu = {:.6g} hartree the whole matrix has {:.6g} occupied orbitals, the density matrix "
      "{:.6g} (Tr DS {:.6g}): submatrices of threshold {:.0e} do not resolve them; take a smaller threshold, "
      "larger blocks or method.dense: always",
      sign.mu, levels.n_pairs, sign.n_pairs, evaluation.n_pairs_of_d, evaluation.threshold);
}

}  // namespace

void find_levels(Evaluation& evaluation, const Basis& basis, const SubmatrixResult& sign, const Held& held,
                 DeviceProducts* device) {
  const FrontierOptions options{.device = device, .temperature = sign.temperature};
  if (held.temperature > 0) {
    evaluation.homo = evaluation.lumo = std::numeric_limits<double>::quiet_NaN();
    if (basis.a.blocking->n_rows() <= options.dense_rows)
      check_number(evaluation, sign, frontier_levels(basis.a, sign.p, sign.mu, options), held);
    return;
  }
  const auto levels = frontier_levels(basis.a, sign.p, sign.mu, options);
  evaluation.homo = levels.homo;
  evaluation.lumo = levels.lumo;
  // S^-1/2's residual R = Z S Z - 1 moves a level e by e x^T R x, twice the root mean square standing for x^T
  // R x; what the products K Z and Z K Z leave out moves it by what they may (orthogonalise())
  const auto of_overlap = [&](double level) {
    return 2 * basis.residual * std::abs(level) + 0.01 * basis.threshold;
  };
  evaluation.homo_error = levels.homo_error + of_overlap(levels.homo);
  evaluation.lumo_error = levels.lumo_error + of_overlap(levels.lumo);
  const bool counted = levels.n_below >= 0;
  const double n = counted ? levels.n_below : sign.n_pairs;
  QUINTET_CHECK(
      !held.n_pairs || std::abs(*held.n_pairs - n) < most_off,
      "at mu = {:.6g} hartree, where {} orbitals are to be occupied, {} has {:.6g}: the number of electrons "
      "cuts into a band that submatrices of threshold {:.0e} do not resolve; take a smaller threshold, "
      "larger "
      "blocks, a temperature or another number",
      sign.mu, *held.n_pairs, counted ? "the whole matrix" : "the density matrix", n, evaluation.threshold);
  check_number(evaluation, sign, levels, held);
  check_occupied(evaluation, held);
  // Any mu in the gap holds the number: told is the limit of low temperatures between levels alike.
  if (held.n_pairs && std::isfinite(levels.lumo - levels.homo))
    evaluation.mu = 0.5 * (levels.homo + levels.lumo);
}

}  // namespace quintet::submatrix
