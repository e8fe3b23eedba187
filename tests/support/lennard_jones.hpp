#pragma once

#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"

/// A small force field for tests: Lennard-Jones with shifted force, the same for all pairs of types.
///
///   phi(r) = u(r) - u(r_c) - (r - r_c) u'(r_c),  u(r) = 4 epsilon ((sigma/r)^12 - (sigma/r)^6),  r < r_c,
///
/// so that energy and force go to zero at the cutoff. E_i = 1/2 sum_j phi(r_ij); like any many-body field it
/// writes forces on ghosts, which return_forces() has to bring home.
class LennardJones : public quintet::ForceField {
 public:
  /// epsilon (eV), sigma (angstrom), cutoff (angstrom).
  explicit LennardJones(std::vector<std::string> type_names = {"Ar"}, double epsilon = 0.0104,
                        double sigma = 3.4, double cutoff = 8.5)
      : type_names_(std::move(type_names)), epsilon_(epsilon), sigma_(sigma), cutoff_(cutoff) {}

  using ForceField::compute;
  [[nodiscard]] double cutoff() const override { return cutoff_; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return type_names_; }
  [[nodiscard]] std::string description() const override {
    return "Lennard-Jones with shifted force, for tests";
  }
  quintet::Energetics compute(const quintet::Exec& exec, quintet::Atoms& atoms,
                              const quintet::NeighbourList& list, const quintet::ByAtom& by_atom) override;

 private:
  std::vector<std::string> type_names_;
  double epsilon_, sigma_, cutoff_;
};
