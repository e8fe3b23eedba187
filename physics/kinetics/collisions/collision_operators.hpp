#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "physics/kinetics/collisions/collision_engines.hpp"
#include "physics/kinetics/collisions/collision_operator.hpp"
#include "physics/kinetics/collisions/collisions.hpp"

namespace quintet::kinetics {

/// All that collisions, options and reports know of an operator.
struct CollisionOperatorRow {
  CollisionOptions::Operator value;
  std::string_view name;  ///< in YAML
  const char* words;      ///< in reports
  bool diffuses;          ///< smooths f in v; else f relaxes at the rate itself
  bool relaxes_exactly;   ///< has relax(), for species that collide with themselves alone
  bool always_conserves;  ///< else it can be told not to (CollisionOptions::conserving)
  int n_stages;           ///< of a super time step, and how much of
  double reach;           ///< (greatest eigenvalue times dt) one takes
  /// Throws InputError for velocity cells that it cannot work on.
  void (*check_cells)(const PhaseBasis& basis, const PhaseGrid& grid, const std::string& species);
  /// For species s, whose f the engines know. `uniform_rate`: A is the same everywhere.
  std::unique_ptr<CollisionOperator> (*make)(const Decomposition& decomposition, const PhaseBasis& basis,
                                             const PhaseBlock& block, const CollisionOptions& options,
                                             CollisionEngines& engines, int s, bool uniform_rate);
};

[[nodiscard]] std::span<const CollisionOperatorRow> collision_operators();

}  // namespace quintet::kinetics
