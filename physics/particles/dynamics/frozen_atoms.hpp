#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

struct FrozenOptions;

/// Ids of the atoms that the options freeze or that the start's file holds, in order, as the atoms are at the
/// start: those of replicated(start, copies). Throws InputError for types and ids that are not there, and
/// where nothing or everything is frozen.
[[nodiscard]] std::vector<std::int64_t> frozen_ids(const FrozenOptions& options, const Configuration& start,
                                                   const Copies& copies = {1, 1, 1});

/// Atoms that stay where they are: no force acts on them, they have no velocity and count no degrees of
/// freedom.
class FrozenAtoms {
 public:
  FrozenAtoms() = default;
  /// Ids in order.
  explicit FrozenAtoms(std::vector<std::int64_t> ids) : ids_(std::move(ids)) {}
  [[nodiscard]] bool none() const { return ids_.empty(); }
  [[nodiscard]] const std::vector<std::int64_t>& ids() const { return ids_; }
  [[nodiscard]] std::int64_t count() const { return ids_.size(); }
  /// Set the forces or velocities of frozen local atoms to zero.
  void hold_forces(const Exec& exec, const Atoms& atoms) const;
  void hold_velocities(const Exec& exec, const Atoms& atoms) const;

 private:
  void hold(const Exec& exec, const Atoms& atoms, const Vectors& rows) const;

  std::vector<std::int64_t> ids_;
};

}  // namespace quintet
