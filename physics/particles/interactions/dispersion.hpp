#pragma once

#include <memory>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"
#include "physics/particles/interactions/dispersion_parameters.hpp"
#include "physics/particles/interactions/dispersion_table.hpp"

namespace quintet {

struct DispersionOptions {
  DispersionDamping damping;
  DispersionReach reach;
};

/// London dispersion after Grimme, D3 with the damping of Becke and Johnson:
///
///   E = sum_(i<j) C6_ij f(r_ij) + s9 sum_(i<j<k) sqrt(C6_ij C6_ik C6_jk) t(r_ij, r_ik, r_jk),
///   C6_ij = sum_ab w_a(n_i) w_b(n_j) C6_ab,   n_i = sum_j 1/(1 + exp(-16 (R_ij/r_ij - 1))),
///
/// with f, t and w of dispersion_kernels.hpp. An atom's share of a pair's energy is one half, of a triple's
/// one third; its virial is that of its halves of bonds. Forces through n_j of a neighbour need what the
/// neighbour's owner sums over its own neighbours: numbers n_i and dE/dn_i are sent to ghosts in each
/// evaluation.
///
/// Every atom visits all its neighbours, so that nothing is scattered and results do not depend on threads.
/// Cost: 4/3 pi cutoff^3 density pairs an atom, of triples half their square.
class Dispersion final : public ForceField {
 public:
  /// Throws InputError for cutoffs that are not positive, or a switch wider than one.
  Dispersion(std::vector<std::string> type_names, DispersionTable table, const DispersionOptions& options);
  ~Dispersion() override;

  [[nodiscard]] double cutoff() const override;
  [[nodiscard]] double list_cutoff() const override { return 0; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return type_names_; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool needs_list() const override { return false; }
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  struct Engine;
  std::vector<std::string> type_names_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace quintet
