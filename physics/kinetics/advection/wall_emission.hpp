#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

/// The trace that brings a wanted flux in through one wall of this rank's block, laid out as FaceTraces, with
/// the velocities of a Maxwellian at rest, of which half comes in:
///
///     g(v) = c exp(-v^2/(2 vth^2)) for v_d into the domain, else 0,   c such that int |v_d| g dv = 1
///
/// as this grid has it: the discrete flux is 1 to round-off.
///
/// Fluxes are functions on the wall: modes of the face basis of each face, [n faces, n_face_modes], a unit of
/// area and time. The ends of velocity cells must meet v_d = 0, so that upwind fluxes are either in or out.
class WallEmission {
 public:
  /// Collective over velocity_comm. Throws InputError, which names the species, if the grid holds no such
  /// particles.
  WallEmission(const Decomposition& decomposition, const PhaseBasis& basis, const PhaseBlock& block,
               int direction, int side, double thermal_speed, const std::string& species);

  /// out = flux times g, in the host's memory.
  void emit(const std::vector<double>& flux, const Array<double>& out) const;
  /// g: coefficient of each velocity group and cell, row-major, [n_groups, cells of the block].
  [[nodiscard]] const std::vector<double>& shape() const { return shape_; }

  [[nodiscard]] int direction() const { return direction_; }
  [[nodiscard]] int side() const { return side_; }
  [[nodiscard]] int n_faces() const { return n_faces_; }
  [[nodiscard]] int n_face_modes() const { return n_face_modes_; }
  /// The function 1 on the wall has this coefficient of its first mode.
  [[nodiscard]] double one() const { return one_; }

 private:
  /// Call function(row, cell of the row, v_d, half_dv, volume over the mean) for cells with v_d into the
  /// domain.
  template <class Function>
  void for_cells(const Function& function) const;
  [[nodiscard]] int n_group(int g) const;
  /// Where shape_ has a group of a cell.
  [[nodiscard]] std::int64_t place(int g, int row, int cell) const {
    return (std::int64_t{g} * block_.n_rows() + row) * block_.n_last() + cell;
  }
  /// g with c = 1; its flux.
  double make_shape(double thermal_speed, const Comm& velocity_comm);

  PhaseBasis basis_;
  PhaseBlock block_;
  int direction_, side_, n_faces_, n_face_modes_, n_lin_;
  double one_ = 1;
  std::vector<int> offset_;    ///< of each group in a pack's trace
  std::vector<double> shape_;  ///< g
};

}  // namespace quintet::kinetics
