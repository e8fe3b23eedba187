#pragma once

#include <optional>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/advection/vlasov_operator.hpp"
#include "physics/kinetics/advection/wall_emission.hpp"
#include "physics/kinetics/space/budget.hpp"
#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

/// Flags of the edges of a block, [direction][side].
using Edges = std::array<std::array<bool, 2>, 6>;
/// Edges that need traces from another rank.
[[nodiscard]] Edges halo_edges(const Decomposition& decomposition);
/// Edges that need traces from outside: from another rank or a wall.
[[nodiscard]] Edges open_edges(const Decomposition& decomposition, const Species& species);
/// Edges of the domain through which nothing enters, or a copy of the inside: no trace from outside is kept.
[[nodiscard]] Edges empty_edges(const Species& species);

/// Values of f beyond the edges of a block: halos from other ranks, and walls.
///
/// Only traces travel (the basis on a face, not the cell): a side sends n_face_modes doubles a face.
class Exterior {
 public:
  Exterior(const Decomposition& decomposition, const PhaseBasis& basis, const Species& species,
           const VlasovOperator& vlasov);

  /// Take the traces of f at the block's edges and send them off.
  void start(const Exec& exec, const Distribution& f);
  /// Make what the walls emit at time t. After start() of all species (`all`), before finish(). Collective.
  void emit(const Exec& exec, double t, const std::vector<Exterior>& all);
  /// Wait for the neighbours' traces and make those of the other walls.
  const FaceTraces& finish(const Exec& exec);
  /// Boundary::fixed: keep the traces of this f as what lies outside.
  void hold(const Exec& exec, const Distribution& f);
  /// Count in `budget` what leaves through this rank's walls and what they emit in a time `weight`; particles
  /// have this mass. After finish().
  void add_outflow(double weight, double mass, Budget& budget) const;
  /// The particles of it as functions on a wall of x (VlasovOperator::Outflow); empty where this rank has no
  /// part of it.
  [[nodiscard]] std::vector<double> particle_outflow(int direction, int side) const;
  /// Doubles sent by one start().
  [[nodiscard]] std::size_t doubles_sent() const;

 private:
  /// An edge of this rank's block that is the domain's.
  struct Wall {
    int direction, side;
    Boundary kind;
    std::optional<Emission> emission;
    std::optional<WallEmission> emitter;     ///< of `emission`
    Amount emitted_by_one;                   ///< at one face by a flux whose first mode is 1, of mass 1
    VlasovOperator::CountedOutflow outflow;  ///< in the stage of the last finish()
  };
  void add_wall(const Decomposition& decomposition, const PhaseBasis& basis, const Species& species,
                int direction, int side);
  /// An edge with a rank beyond.
  struct Halo {
    int direction, side, rank;
  };
  /// Flux of this species that reaches an absorbing wall, after start(): functions on its faces, summed over
  /// velocity space. Collective over velocity_comm.
  [[nodiscard]] std::vector<double> incoming(const Exec& exec, int direction, int side) const;
  Array<double>& own(int direction, int side) { return own_.side[direction][side > 0]; }
  Array<double>& outside(int direction, int side) { return outside_.side[direction][side > 0]; }

  Comm comm_, velocity_comm_;
  const VlasovOperator& vlasov_;
  std::vector<Wall> walls_;
  std::vector<Halo> halos_;
  FaceTraces own_, outside_;
  std::vector<Comm::Pending> pending_;
  Amount emitted_;  ///< by the last emit(), a unit of time, of mass 1
};

}  // namespace quintet::kinetics
