#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/forces/force_field.hpp"

namespace quintet {

/// The atoms of some types, as a force field sees them that acts on these alone.
///
/// Their rows, local ones first, and the pairs of the list between them are found anew with each list;
/// positions are copied in each evaluation.
class AtomGroup {
 public:
  AtomGroup() = default;
  /// @param all types of the atoms; `types` those of the group; `known` the force field's
  AtomGroup(const std::vector<std::string>& all, const std::vector<std::string>& types,
            const std::vector<std::string>& known);

  /// Whether it is all atoms, with the force field's numbers of types.
  [[nodiscard]] bool is_all() const { return is_all_; }
  /// ForceField::memory_needed() of the group.
  std::optional<double> memory_needed(const Exec& exec, ForceField& field, const Atoms& atoms,
                                      const NeighbourList& list);
  /// ForceField::compute() of the group; rows of other atoms are 0.
  Energetics compute(const Exec& exec, ForceField& field, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom);

 private:
  class Rows;
  void choose(const Atoms& atoms, const NeighbourList& list, bool with_list);
  void take(const Atoms& atoms, const NeighbourList& list, bool with_list);

  bool is_all_ = true;
  std::vector<int> known_type_;  ///< by type of the atoms; -1: not in the group
  std::vector<std::string> known_;
  std::uint64_t version_ = 0;  ///< of the list that the group was chosen with
  std::vector<int> row_;       ///< of the atoms, by row of the group
  Atoms part_;
  std::shared_ptr<Rows> ghost_rows_;  ///< of part_
  NeighbourList list_;
  Array<double> energy_;
  Tensors virial_;
};

}  // namespace quintet
