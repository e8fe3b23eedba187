#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/device/ghost_plan.hpp"
#include "physics/particles/device/resident_atoms.hpp"

namespace quintet {

/// The most images of an atom that the range may reach on either side along one direction. A cell so small
/// that it reaches further is taken for a mistake.
inline constexpr int most_images = 20;

/// The ghosts of one rank: what was exchanged with whom, and the same again with new positions or forces.
///
/// Staged exchange (Plimpton 1995, J. Comput. Phys. 117, 1): along x, then y, then z, down and up. Each stage
/// passes on the ghosts of the stages before, so edges and corners need no messages of their own. Where the
/// range spans several bricks, atoms hop from rank to rank. A direction with one rank exchanges with itself:
/// periodic images. A ghost's position is its owner's plus a whole number of rows of the box as it is now.
class Ghosts final : public GhostRows {
 public:
  /// `grid`: ranks along each direction; rank = (c_0 grid_1 + c_1) grid_2 + c_2. `range`: cutoff + skin
  /// (angstrom).
  Ghosts(Comm comm, const std::array<int, 3>& grid, double range);

  /// Find out which atoms the neighbours need and fill the rows after the local atoms. Collective.
  /// Throws ResourceError if there are more than fit 32-bit indices, NumericalError if the cell has
  /// collapsed.
  void build(const Exec& exec, Atoms& atoms);
  /// Bring the ghosts to where their owners are now. Collective.
  void update_positions(const Exec& exec, Atoms& atoms);
  /// Add the rows of ghosts in an array [n_local + n_ghost, width] to their owners' and clear them.
  /// Collective.
  void return_rows(const Exec& exec, const Atoms& atoms, double* rows, int width);
  void send_rows(const Exec& exec, const Atoms& atoms, double* rows, int width) override;

  /// Plan of the exchange for atoms on a device, after build(); update_positions() follows it for such atoms.
  [[nodiscard]] const GhostPlan& plan(const Atoms& atoms);
  /// Build on a device, as build() does, from its local atoms where they were when neighbours were to be
  /// listed, in the box and `cell` (the same, with the range) of that time. Collective.
  void build_there(Atoms& atoms, const Box& box, const CellOfAtoms& cell);
  /// For atoms of the only rank, whose ghosts a device makes: images alone.
  void plan_images(int n_local, int n_ghost);
  /// Throws NumericalError if the cell has become so small that the range reaches over most_images of it.
  void check_reach(const Box& box) const;
  /// Add the forces on ghosts of a device to those on their owners. Collective.
  void return_resident_forces(ResidentAtoms& resident) const;

  /// Place of this rank in the grid.
  [[nodiscard]] const std::array<int, 3>& place() const { return place_; }

 private:
  /// One message down or up a direction and the one that comes in from the other side.
  struct Swap {
    int destination = -1, source = -1;  ///< ranks; -1: an open end
    int direction = 0;
    int image = 0;                   ///< the receiver sees the atoms moved by this many rows of `direction`
    int first_sent = 0, n_sent = 0;  ///< part of sent_
    int first_received = 0, n_received = 0;  ///< rows of the atoms
  };
  /// Rows [first, last) of the atoms.
  struct Rows {
    int first, last;
  };

  [[nodiscard]] Swap make_swap(int direction, int side, const Atoms& atoms) const;
  /// Staged exchange: exchange(direction, side, candidates) for each message, which returns the rows that
  /// came in. Nothing but the number of `atoms` is asked.
  template <class Exchange>
  void visit_stages(const Box& box, const Atoms& atoms, const Exchange& exchange) const;
  /// The rows of a face's neighbour: `candidates` within reach of it are sent.
  [[nodiscard]] BrickFace face_of(const Box& box, int direction, int side) const;
  /// Send those of `candidates` that the rank on this side needs; returns the rows that came in.
  Rows exchange(const Exec& exec, Atoms& atoms, int direction, int side, Rows candidates);
  Rows exchange_there(Atoms& atoms, const Box& box, const CellOfAtoms& cell, const BrickFace& face,
                      Rows candidates);
  void select(const Atoms& atoms, Swap& swap, int side, Rows candidates);
  void grow_buffers(int n_sent, int width);
  void update_resident(ResidentAtoms& resident, const Box& box) const;

  Comm comm_;
  std::array<int, 3> grid_, place_;
  double range_;
  std::vector<Swap> swaps_;
  Array<int> sent_;  ///< rows that were sent, swap by swap
  GhostPlan plan_;
  int n_sent_there_ = 0;  ///< rows of all messages and images of build_there()
  Array<double> buffer_;  ///< [width * most sent in one swap]
};

}  // namespace quintet
