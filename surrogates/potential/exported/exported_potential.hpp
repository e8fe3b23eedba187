#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/domain/neighbour_list.hpp"
#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/exported/evaluation_bytes.hpp"
#include "surrogates/potential/exported/exported_model.hpp"
#include "surrogates/potential/exported/padded_rows.hpp"

namespace quintet::potential {

/// A model that another program has trained and exported for LibTorch, as a force field on the cores.
///
/// The energy is a sum over atoms, E = sum_i E_i, each of which knows the atoms within the cutoff. Local
/// models are evaluated for at most `most_centres` atoms at a time, so that memory does not grow with the
/// number of atoms. Models that pass messages see all atoms of a rank at once, and each ghost as its owner,
/// if that is there, as it is on one rank. Elsewhere ghosts have rows of their own, as far as messages go,
/// where the model takes such rows.
class ExportedPotential final : public ForceField {
 public:
  static constexpr int most_centres = 256;

  /// `path` is named in complaints. @param atom_virials whether they may be asked for
  ExportedPotential(std::string path, std::unique_ptr<ExportedModel> model, bool atom_virials = false);

  [[nodiscard]] double cutoff() const override;
  [[nodiscard]] double list_cutoff() const override { return facts_.cutoff; }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return facts_.type_names; }
  [[nodiscard]] std::string description() const override;
  /// Of models that pass messages, from small evaluations when it is asked first (EvaluationBytes); local
  /// ones need little.
  [[nodiscard]] std::optional<double> memory_needed(const Exec& exec, const Atoms& atoms,
                                                    const NeighbourList& list) override;
  using ForceField::compute;
  /// Errors: InputError where owners of ghosts are on other ranks and the model takes no rows of ghosts, and
  /// for virials by atom of a model that gives none, or that passes messages through periodic images and
  /// takes no rows of ghosts, or was not told of them.
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  void fill_with_messages(const Exec& exec, const Atoms& atoms, const NeighbourList& list,
                          bool virials = false);
  [[nodiscard]] bool find_owners(const Atoms& atoms);
  [[nodiscard]] const NeighbourList& list_of_all(const Exec& exec, const Atoms& atoms,
                                                 const NeighbourList& list);
  [[nodiscard]] bool sees_images() const { return system_.n_atoms() != system_.n_centres; }
  void require_rows_of_images() const;
  void add(const ByAtom& by_atom, int begin, Atoms& atoms, Energetics& total);
  void tell_overflow(Energetics& total);

  std::string path_;
  std::unique_ptr<ExportedModel> model_;
  ExportedFacts facts_;
  bool reaches_as_messages_;  ///< ghosts are there for the rows of others, also on one rank
  NeighbourListBuilder builder_;
  NeighbourList list_of_all_;  ///< with rows of ghosts
  std::uint64_t listed_ = 0;   ///< version of the list that it was made for
  PaddedRows rows_;
  ExportedSystem system_;
  ExportedResult result_;
  std::optional<EvaluationBytes> bytes_;
  double evaluated_ = 0;  ///< bytes of the largest evaluation so far
};

/// Open an exported model's file.
///
/// Errors: InputError for files that are no such model, models that need what is not given, and for options
/// that are the model's own affair (precision, compression); ResourceError where LibTorch is not there.
[[nodiscard]] std::unique_ptr<ExportedModel> open_exported_model(const std::string& path,
                                                                 const DeepPotentialOptions& options);

/// The force field of such a file. Errors: as above.
[[nodiscard]] std::unique_ptr<ForceField> make_exported_potential(const std::string& path,
                                                                  const DeepPotentialOptions& options);

/// The force field of a model's file of any kind: a Deep Potential of ours, or an exported model.
[[nodiscard]] std::unique_ptr<ForceField> make_potential(const std::string& path,
                                                         const DeepPotentialOptions& options);

}  // namespace quintet::potential
