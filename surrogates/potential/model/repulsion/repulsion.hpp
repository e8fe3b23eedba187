#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/model/repulsion/nuclear_pair.hpp"

namespace quintet::potential {

/// A force field with the repulsion of nuclei added: E = E_model + sum_(i<j) V(r_ij) w(r_ij).
///
/// Deep Potentials know nothing of distances shorter than their training data's; this keeps atoms apart
/// there. Beyond `outer` nothing changes, to the bit. An atom's share of a pair's energy is one half. On
/// the cores; an engine of a device adds the same itself (RepulsionKernel).
class Repulsion final : public ForceField {
 public:
  /// Throws InputError if a type's name is not an element symbol, or `outer` is beyond the model's cutoff.
  Repulsion(std::unique_ptr<ForceField> model, const RepulsionOptions& options);

  [[nodiscard]] double cutoff() const override { return model_->cutoff(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return model_->type_names(); }
  [[nodiscard]] int n_atom_parameters() const override { return model_->n_atom_parameters(); }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] std::optional<double> memory_needed(const Exec& exec, const Atoms& atoms,
                                                    const NeighbourList& list) override {
    return model_->memory_needed(exec, atoms, list);
  }
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  std::unique_ptr<ForceField> model_;
  RepulsionOptions options_;
  Array<NuclearPair> pairs_;  ///< [n_types * n_types]
};

}  // namespace quintet::potential
