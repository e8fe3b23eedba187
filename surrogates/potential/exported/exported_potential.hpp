#pragma once

#include <memory>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/exported/exported_model.hpp"
#include "surrogates/potential/exported/padded_rows.hpp"

namespace quintet::potential {

/// A model that another program has trained and exported for LibTorch, as a force field on the cores.
///
/// The energy is a sum over atoms, E = sum_i E_i, each of which knows the atoms within the cutoff. Local
/// models are evaluated for at most `most_centres` atoms at a time, so that memory does not grow with the
/// number of atoms. Models that pass messages see all atoms of a rank at once, and each ghost as its owner,
/// which must be there: on one rank it is.
class ExportedPotential final : public ForceField {
 public:
  static constexpr int most_centres = 256;

  /// `path` is named in complaints.
  ExportedPotential(std::string path, std::unique_ptr<ExportedModel> model);

  [[nodiscard]] double cutoff() const override { return model_->facts().cutoff; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override {
    return model_->facts().type_names;
  }
  [[nodiscard]] std::string description() const override;
  using ForceField::compute;
  /// Errors: InputError where a model that passes messages has owners of ghosts on other ranks, and for
  /// virials by atom of a model that gives none.
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  void find_owners(const Atoms& atoms);
  void add(const ByAtom& by_atom, int begin, Atoms& atoms, Energetics& total);
  void tell_overflow(Energetics& total);

  std::string path_;
  std::unique_ptr<ExportedModel> model_;
  PaddedRows rows_;
  ExportedSystem system_;
  ExportedResult result_;
};

/// The force field of an exported model's file.
///
/// Errors: InputError for files that are no such model, models that need what is not given, and for options
/// that are the model's own affair (precision, compression); ResourceError where LibTorch is not there.
[[nodiscard]] std::unique_ptr<ForceField> make_exported_potential(const std::string& path,
                                                                  const DeepPotentialOptions& options);

/// The force field of a model's file of any kind: a Deep Potential of ours, or an exported model.
[[nodiscard]] std::unique_ptr<ForceField> make_potential(const std::string& path,
                                                         const DeepPotentialOptions& options);

}  // namespace quintet::potential
