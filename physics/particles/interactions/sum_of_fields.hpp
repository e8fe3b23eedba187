#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/forces/force_field.hpp"

namespace quintet {

/// One of several force fields that are added up, and the atoms it acts on.
struct FieldTerm {
  std::unique_ptr<ForceField> field;
  /// Names of types, which it must know: of all others it sees nothing. Empty: all types it knows.
  std::vector<std::string> types = {};
};

/// A sum of force fields, E(x) = sum_m E_m(x_m), x_m the atoms of the types that term m acts on.
///
/// Forces and virials add up as energies do. A term that acts on all types gets the atoms as they are,
/// another one those of its types, with ghosts and a list of their own. Types of the sum are those of the
/// first term, then what the others add.
class SumOfFields final : public ForceField {
 public:
  /// Throws InputError for a type that a term does not know.
  explicit SumOfFields(std::vector<FieldTerm> terms);
  ~SumOfFields() override;
  /// Add another term, before those that are shared; it reads as many numbers of each atom as those before,
  /// or none (InputError). Its types must not be new ones where atoms have been read.
  void add(FieldTerm term);
  /// Add the terms of `other` behind its first. False, and nothing is added, where the types of the sum would
  /// not be those of `other`.
  ///
  /// Where `other` was computed last for the same positions and list on all ranks, this sum takes what its
  /// terms gave, to the bit; not so by atom. compute() is then collective.
  [[nodiscard]] bool share_terms(const SumOfFields& other, const Comm& comm);

  [[nodiscard]] double cutoff() const override;
  [[nodiscard]] double list_cutoff() const override;
  /// Of the terms that read any: they must read the same.
  [[nodiscard]] int n_atom_parameters() const override;
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return type_names_; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool needs_list() const override;
  [[nodiscard]] std::optional<double> memory_needed(const Exec& exec, const Atoms& atoms,
                                                    const NeighbourList& list) override;
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  struct Part;  ///< a term, and the atoms it acts on
  Energetics compute(const Exec& exec, std::size_t k, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom);

  std::vector<std::shared_ptr<Part>> parts_;
  std::size_t n_own_ = 0;             ///< parts; those behind are of another sum
  std::shared_ptr<const Comm> comm_;  ///< of the ranks that share them
  std::vector<std::string> type_names_;
  Vectors force_;  ///< sum so far, by row
  Array<double> energy_;
  Tensors virial_;
};

}  // namespace quintet
