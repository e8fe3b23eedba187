#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"

namespace quintet {

/// Formula of a pair potential.
enum class PairFormula { lennard_jones, morse };

/// V w of a pair and its derivative at a distance (eV, eV/angstrom).
struct PairValue {
  double value, slope;
};
struct PairEntry;

struct PairFormulaRow {
  PairFormula value;
  const char *name, *doc;
  bool has_stiffness;
  PairValue (*of)(const PairEntry& pair, double r);  ///< V and its derivative
};
[[nodiscard]] std::span<const PairFormulaRow> pair_formulas();

/// Potential between atoms of two types.
struct PairParameters {
  PairFormula formula = PairFormula::lennard_jones;
  std::vector<std::string> types;   ///< two
  std::optional<double> depth;      ///< epsilon (eV)
  std::optional<double> length;     ///< of lennard_jones sigma, of morse r_0 (angstrom)
  std::optional<double> stiffness;  ///< of morse alpha (1/angstrom)
  double cutoff = 10;               ///< (angstrom)
  double switch_width = 1;          ///< (angstrom) faded out over this before the cutoff; 0: cut
};
/// A pair as kernels take it; cutoff 0: the types do not interact.
struct PairEntry {
  PairValue (*of)(const PairEntry& pair, double r) = nullptr;
  double depth = 0, length = 0, stiffness = 0, inner = 0, cutoff = 0;
};
[[nodiscard]] PairValue pair_value(const PairEntry& pair, double r);

/// What is wrong with the numbers of a pair; empty if nothing.
[[nodiscard]] std::string problem_of(const PairParameters& pair);

/// E = sum_(i<j) V(r_ij) w(r_ij) of chosen pairs of types, w fading as switched_repulsion's: 1 up to cutoff -
/// switch_width, then 1 - 10 u^3 + 15 u^4 - 6 u^5.
///
///   lennard_jones: V = 4 epsilon ((sigma/r)^12 - (sigma/r)^6)
///   morse:         V = epsilon (x^2 - 2 x), x = exp(-alpha (r - r_0))
///
/// An atom's share of a pair's energy is one half.
class PairPotential final : public ForceField {
 public:
  /// Types are those that pairs name. Throws InputError for what problem_of() says, and for a pair of types
  /// that is given twice.
  explicit PairPotential(const std::vector<PairParameters>& pairs);

  [[nodiscard]] double cutoff() const override { return cutoff_; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return type_names_; }
  [[nodiscard]] std::string description() const override;
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  std::vector<std::string> type_names_;
  std::vector<PairParameters> pairs_;
  Array<PairEntry> entries_;  ///< [n_types * n_types]
  double cutoff_ = 0;
};

}  // namespace quintet
