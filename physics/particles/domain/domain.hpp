#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// How space is shared out and how far ranks look.
struct DomainOptions {
  double cutoff = 0;                  ///< of the force field (angstrom)
  double skin = 2.0;                  ///< (angstrom)
  std::array<int, 3> ranks{0, 0, 0};  ///< grid of ranks; 0: chosen (least ghost surface)
  bool rows = true;  ///< list neighbours; false where the force field does (ForceField::needs_list)
  /// How far rows of the list reach without the skin, where ghosts reach further (angstrom).
  std::optional<double> list_cutoff = std::nullopt;
};

/// Domain decomposition into bricks of fractional space, one a rank: ghosts, migration, neighbour list.
///
/// Ghost atoms come by a staged exchange (x, then y, then z; Plimpton 1995), with as many hops a direction as
/// the range needs, so that boxes smaller than the cutoff see all their images; periodic images of a rank's
/// own atoms are ghosts too.
class Domain {
 public:
  /// Throws InputError if the requested grid does not multiply to the number of ranks, or if bricks would be
  /// thinner than the communication range allows: names the finest grid that works.
  Domain(const Comm& comm, const DomainOptions& options, const Box& box);
  ~Domain();

  /// Share out a configuration that rank 0 holds (others pass anything); rebuild() comes next. Collective.
  ///
  /// The box of the domain is that of `copies` of the configuration side by side, in the order of
  /// replicated(): each rank makes the copies of its own atoms. Rank 0 sends the configuration in parts, so
  /// that no rank holds more than its share and a part. Throws InputError on all ranks for arrays that do not
  /// fit together or positions that are not finite, ResourceError for more atoms on a rank than
  /// most_rows.
  [[nodiscard]] Atoms distribute(const Configuration& configuration, const Copies& copies = {1, 1, 1}) const;
  /// All atoms on rank 0 with velocities and forces, ordered by id, unwrapped if asked (empty elsewhere).
  /// Collective.
  [[nodiscard]] Configuration gather(const Atoms& atoms, bool unwrapped = false) const;
  /// Gather the atoms with ids first ... last: a part of a system that would not fit on one rank. Collective.
  [[nodiscard]] Configuration gather(const Atoms& atoms, bool unwrapped, std::int64_t first_id,
                                     std::int64_t last_id) const;

  /// Migrate atoms to the rank of their brick, rebuild ghosts and the neighbour list. Collective.
  /// Forces go with their atoms. Throws NumericalError on all ranks, with id, position, velocity and rank of
  /// the first atom that is not finite or absurdly far away, or if atoms are missing.
  void rebuild(const Exec& exec, Atoms& atoms);
  /// Send fresh positions to the ghosts, or rebuild if a pair that the list lacks may have come within the
  /// cutoff. Returns true if it rebuilt. Collective, one reduction.
  ///
  /// Let x be an atom's position now, x0 that at the last rebuild, D the deformation of the box since. Then
  /// u = |x - x0 D| is how far it has moved relative to the box, and a pair within the cutoff now was within
  /// (cutoff + 2 max u) ||D^-1|| then. With an unchanged box this is the usual rule: rebuild if an atom has
  /// moved by more than half the skin. With a list_cutoff the rule is kept for every shorter cutoff, too: it
  /// is linear in the cutoff, so that for one of 0 is enough.
  bool refresh(const Exec& exec, Atoms& atoms);
  /// Add the forces on ghosts to their owners' (reverse communication); the ghosts' become 0. Collective.
  void return_forces(const Exec& exec, Atoms& atoms) const;
  /// Add the rows of ghosts in any array [n_local + n_ghost, width] of sums over atoms to their owners', as
  /// return_forces() does. Collective.
  void return_rows(const Exec& exec, const Atoms& atoms, double* rows, int width) const;

  /// Without rows if the options say so.
  [[nodiscard]] const NeighbourList& list() const;
  [[nodiscard]] const std::array<int, 3>& rank_grid() const;
  [[nodiscard]] const Comm& comm() const;
  [[nodiscard]] std::int64_t rebuilds() const;  ///< so far
  /// Number of rebuilds so far that came one step after another: an atom then crosses half the skin in one
  /// step, so the skin is too thin or the step too long. No pair was missed: every step is checked.
  [[nodiscard]] std::int64_t dangerous_rebuilds() const;
  /// Positions (and box) of the local atoms at the last rebuild: what a checkpoint must hold for a bitwise
  /// restart.
  [[nodiscard]] const Vectors& built_positions() const;  ///< [n_local, 3] (angstrom)
  [[nodiscard]] const Box& built_box() const;
  /// Bring ghosts, neighbour list and positions to what they are in an uninterrupted run: build them from the
  /// positions and box of the last rebuild, atoms in their stored order, then take the current positions.
  /// Collective. Throws InputError on all ranks for an atom of no type or a number that is not finite.
  void restore(const Exec& exec, Atoms& atoms, const Vectors& built_positions, const Box& built_box);
  /// Hand the atoms over to a device, where refresh() and return_forces() then find them, and refresh()
  /// rebuilds: how many atoms change hands alone is the host's to know. Those of the only rank keep their
  /// order. Where rows are listed, and in rebuild(), atoms come home and are handed over again.
  /// Collective.
  void stay_on(const Exec& exec, Atoms& atoms, std::shared_ptr<ResidentAtoms> resident);

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
