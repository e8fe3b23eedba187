#include "physics/particles/interactions/pair_potential.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"

namespace quintet {

namespace {

PairValue lennard_jones(const PairEntry& pair, double r) {
  const double s = pair.length / r, s2 = s * s, s6 = s2 * s2 * s2;
  return {4 * pair.depth * (s6 * s6 - s6), -24 * pair.depth * (2 * s6 * s6 - s6) / r};
}

PairValue morse(const PairEntry& pair, double r) {
  const double x = std::exp(-pair.stiffness * (r - pair.length));
  return {pair.depth * (x * x - 2 * x), -2 * pair.stiffness * pair.depth * (x * x - x)};
}

constexpr PairFormulaRow rows[] = {
    {PairFormula::lennard_jones, "lennard_jones", "4 depth ((length/r)^12 - (length/r)^6)", false,
     lennard_jones},
    {PairFormula::morse, "morse", "depth (x^2 - 2 x), x = exp(-stiffness (r - length))", true, morse},
};

}  // namespace

std::span<const PairFormulaRow> pair_formulas() { return rows; }

std::string problem_of(const PairParameters& pair) {
  const PairFormulaRow& row = row_of(rows, pair.formula);
  if (pair.types.size() != 2) return fmt::format("types has {} names; expected two", pair.types.size());
  if (!pair.depth || !pair.length) return fmt::format("{} needs depth and length", row.name);
  if (row.has_stiffness && !pair.stiffness) return fmt::format("{} needs stiffness", row.name);
  if (!row.has_stiffness && pair.stiffness) return fmt::format("{} has no stiffness: leave it out", row.name);
  if (!(pair.switch_width < pair.cutoff))
    return fmt::format("switch = {:g} is not below cutoff = {:g} angstrom", pair.switch_width, pair.cutoff);
  return "";
}

PairValue pair_value(const PairEntry& pair, double r) {
  if (r >= pair.cutoff) return {0, 0};
  const PairValue v = pair.of(pair, r);
  if (r <= pair.inner) return v;
  const double width = pair.cutoff - pair.inner, u = (r - pair.inner) / width;
  const double w = 1 - u * u * u * (10 - u * (15 - 6 * u)), dw = -30 * u * u * (1 - u) * (1 - u) / width;
  return {v.value * w, v.slope * w + v.value * dw};
}

PairPotential::PairPotential(const std::vector<PairParameters>& pairs) : pairs_(pairs) {
  for (const auto& pair : pairs_) {
    const std::string problem = problem_of(pair);
    QUINTET_CHECK(problem.empty(), "a pair potential of {}: {}", name_list(pair.types), problem);
    for (const auto& name : pair.types)
      if (std::find(type_names_.begin(), type_names_.end(), name) == type_names_.end())
        type_names_.push_back(name);
  }
  const int n = type_names_.size();
  entries_ = Array<PairEntry>("pairs::entries", std::size_t(n) * n);
  for (std::size_t k = 0; k < entries_.extent(0); ++k) entries_(k) = PairEntry{};
  const auto index = [&](const std::string& name) {
    return static_cast<int>(std::find(type_names_.begin(), type_names_.end(), name) - type_names_.begin());
  };
  for (const auto& pair : pairs_) {
    const int t = index(pair.types[0]), u = index(pair.types[1]);
    QUINTET_CHECK(entries_(t * n + u).cutoff == 0, "the pair {} and {} has two potentials; give it one",
                  pair.types[0], pair.types[1]);
    entries_(t * n + u) = entries_(u * n + t) = {
        row_of(rows, pair.formula).of,   *pair.depth, *pair.length, pair.stiffness.value_or(0),
        pair.cutoff - pair.switch_width, pair.cutoff};
    cutoff_ = std::max(cutoff_, pair.cutoff);
  }
}

std::string PairPotential::description() const {
  std::string text;
  for (const auto& pair : pairs_)
    text += fmt::format("{}{} of {}-{} within {:g} angstrom", text.empty() ? "" : ", ",
                        row_of(rows, pair.formula).name, pair.types[0], pair.types[1], pair.cutoff);
  return text;
}

/// The list is full: an atom takes the whole force of a pair, half of its energy and virial, ghosts nothing.
Energetics PairPotential::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                  const ByAtom& by_atom) {
  const Vectors position = atoms.position, force = atoms.force;
  const Array<int> type = atoms.type;
  const Array<PairEntry> entries = entries_;
  const int n_types = type_names_.size();
  const Array<double> energies = by_atom.energy;
  const Tensors virials = by_atom.virial;
  const bool with_energies = energies.extent(0) > 0, with_virials = virials.extent(0) > 0;
  const double squared = cutoff_ * cutoff_;
  Kokkos::deep_copy(exec, force, 0.0);
  if (with_virials) Kokkos::deep_copy(exec, virials, 0.0);
  exec.fence();
  const auto sums =
      blocked_sum<10>(exec, "pairs::compute", atoms.n_local, [=](int i, std::array<double, 10>& sum) {
        double own = 0, total[9]{};
        for (std::size_t c = list.offset(i); c < list.offset(i + 1); ++c) {
          const int j = list.neighbour(c);
          const double d[3] = {position(j, 0) - position(i, 0), position(j, 1) - position(i, 1),
                               position(j, 2) - position(i, 2)};
          const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
          if (r2 >= squared) continue;
          const double r = std::sqrt(r2);
          const PairValue v = pair_value(entries(type(i) * n_types + type(j)), r);
          own += 0.5 * v.value;
          for (int k = 0; k < 3; ++k) {
            force(i, k) += v.slope * d[k] / r;  // -dV/dx_i = V' d/r, d from i to j
            for (int l = 0; l < 3; ++l) total[3 * k + l] -= 0.5 * v.slope * d[k] * d[l] / r;
          }
        }
        sum[0] += own;
        for (int kl = 0; kl < 9; ++kl) sum[1 + kl] += total[kl];
        if (with_energies) energies(i) = own;
        for (int kl = 0; with_virials && kl < 9; ++kl) virials(i, kl) = total[kl];
      });
  Energetics result;
  result.energy = sums[0];
  for (int kl = 0; kl < 9; ++kl) result.virial[kl] = sums[1 + kl];
  return result;
}

}  // namespace quintet
