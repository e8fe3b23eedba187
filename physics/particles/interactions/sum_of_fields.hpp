#pragma once

#include <memory>
#include <string>
#include <vector>

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
  /// Add another term. Its types must not be new ones where atoms have been read.
  void add(FieldTerm term);

  [[nodiscard]] double cutoff() const override;
  [[nodiscard]] double list_cutoff() const override;
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return type_names_; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] bool needs_list() const override;
  using ForceField::compute;
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override;

 private:
  struct Part;  ///< a term, and the atoms it acts on
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<std::string> type_names_;
  Vectors force_;  ///< sum so far, by row
  Array<double> energy_;
  Tensors virial_;
};

}  // namespace quintet
