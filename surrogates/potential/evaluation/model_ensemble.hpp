#pragma once

#include <memory>
#include <vector>

#include "physics/particles/domain/domain.hpp"
#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/evaluation/deviation.hpp"

namespace quintet::potential {

/// The models that accompany the one that drives a run, to measure where they disagree.
class ModelEnsemble {
 public:
  /// `companions`: all models but the driving one, of the same types.
  ModelEnsemble(std::vector<std::unique_ptr<ForceField>> companions, const DeviationMeasure& measure);
  /// `domain` of the driving model with ghosts and rows of neighbours as far as the companions need them.
  [[nodiscard]] DomainOptions widened(DomainOptions domain) const;

  /// Deviation at the present positions. Collective; one evaluation of each companion.
  ///
  /// `atoms.force` and `total` are the driving model's: forces after Domain::return_forces(), energy and
  /// virial of all ranks. The atoms are left as they were, to the bit.
  Deviation measure(const Exec& exec, Atoms& atoms, const Domain& domain, const Energetics& total);
  /// e_F of the local atoms of the last measure(), [n_local] (eV/angstrom).
  [[nodiscard]] const Array<double>& by_atom() const { return by_atom_; }
  [[nodiscard]] std::size_t n_models() const { return companions_.size() + 1; }

  /// Throw ResourceError where an evaluation of the further models of these atoms would not fit into memory.
  void require_memory(const Exec& exec, const Atoms& atoms, const Domain& domain);

 private:
  void reserve(const Atoms& atoms);
  void evaluate(const Exec& exec, Atoms& atoms, const Domain& domain, const Energetics& total);

  std::vector<std::unique_ptr<ForceField>> companions_;
  DeviationMeasure measure_;
  std::vector<Vectors> forces_;  ///< of each model, the driving one first
  std::vector<Mat3> virials_;    ///< of each model (eV)
  std::vector<double> energies_;
  Array<double> by_atom_;
};

/// The same potentials, in the same order, of which those that find the same neighbours are evaluated in one
/// pass.
///
/// Each is a force field of its own, with the results of before to the bit. Those that share must be computed
/// one after the other, in their order, for the same positions: the first one evaluates all. By atom they
/// tell nothing.
[[nodiscard]] std::vector<std::unique_ptr<ForceField>> with_shared_neighbours(
    std::vector<std::unique_ptr<DeepPotential>> potentials);

}  // namespace quintet::potential
