#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/environment.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Arithmetic of descriptor and networks; coordinates, forces, virial and sums are always float64.
enum class Precision {
  model,  ///< as the file says
  fp64,
  mixed,  ///< float32 networks
  bf16,   ///< mixed, but products of the fitting networks are of numbers rounded to bfloat16
};

struct DeepPotentialOptions {
  Precision precision = Precision::model;
  Compression compression = Compression::automatic;
  SelRule sel_rule = SelRule::per_type;
  std::vector<double> frame_parameters{};  ///< of all frames, for models that read them; empty: the model's
  std::vector<AtomParameters>
      atom_parameters{};      ///< by type, for models that read them; empty: the atoms' own
  bool atom_virials = false;  ///< they may be asked for: models that pass messages then reach further
};

/// The Deep Potential as a force field.
///
/// Atoms are evaluated in batches of one type, each in a core's caches: environment -> embedding ->
/// descriptor
/// -> fitting net, and back. Workers (threads) take batches in a fixed order, so that results do not depend
/// on timing. Source: Zhang et al. 2018 (NeurIPS 31, eqs. 5-12); Lu et al. 2022 (2201.01446) for tables and
/// empty slots.
class DeepPotential final : public ForceField {
 public:
  DeepPotential(Model model, const DeepPotentialOptions& options);
  ~DeepPotential() override;

  [[nodiscard]] double cutoff() const override;
  [[nodiscard]] const std::vector<std::string>& type_names() const override;
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] int n_atom_parameters() const override;
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;
  [[nodiscard]] const Model& model() const;

  /// Whether products are rounded: Precision::bf16.
  [[nodiscard]] bool rounds() const;
  /// By type the number of this rank's atoms, then the sum of their descriptors' kept entries: [n_types, 1 +
  /// entries]. Only where products are rounded.
  [[nodiscard]] std::vector<double> sum_descriptors(const Exec& exec, const Atoms& atoms,
                                                    const NeighbourList& list);
  /// The descriptors about which products are rounded, [n_types, entries]: the closer to those of the atoms
  /// to come, the smaller what is rounded (networks::Chain has the equations). Before the first call they are
  /// 0.
  void round_about(std::span<const double> descriptors);

  /// Whether each atom's neighbours and their order are those that another one finds, in the same precision.
  [[nodiscard]] bool finds_neighbours_of(const DeepPotential& other) const;
  /// compute() of several, to the bit, each of which finds_neighbours_of() the first: neighbours are found
  /// once.
  /// @param forces of each of them, [n_all, 3] (eV/angstrom); atoms.force stays as it is
  [[nodiscard]] static std::vector<Energetics> compute_together(std::span<DeepPotential* const> potentials,
                                                                const Exec& exec, const Atoms& atoms,
                                                                const NeighbourList& list,
                                                                std::span<const Vectors> forces);

  struct Engine;  ///< float32 or float64 evaluation

 private:
  std::unique_ptr<Engine> engine_;
};

}  // namespace quintet::potential
