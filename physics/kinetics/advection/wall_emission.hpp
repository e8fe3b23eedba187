#pragma once

#include <vector>

#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

/// Particles at one wall of this rank's block: the flux that reaches it, from the trace of f there, and the
/// trace that brings a wanted flux back in. Traces are laid out as FaceTraces.
///
/// Fluxes are functions on the wall: modes of the face basis of each face, [n faces, n_face_modes], a unit of
/// area and time. The ends of velocity cells must meet v_d = 0, so that upwind fluxes are either in or out.
class WallEmission {
 public:
  /// Collective over velocity_comm.
  WallEmission(const Decomposition& decomposition, const PhaseBasis& basis, const PhaseBlock& block,
               int direction, int side);

  /// Flux that reaches the wall, summed over velocity space. Collective over velocity_comm.
  [[nodiscard]] std::vector<double> incoming(const Array<double>& trace) const;
  /// Emit with the velocities of a Maxwellian at rest, of which half comes in:
  ///
  ///     g(v) = c exp(-v^2/(2 vth^2)) for v_d into the domain, else 0,   c such that int |v_d| g dv = 1
  ///
  /// as this grid has it: the discrete flux is 1 to round-off. Collective over velocity_comm. Throws
  /// InputError if the grid holds no such particles.
  void set_thermal_speed(double thermal_speed, const std::string& species);
  /// out = flux times g.
  void emit(const std::vector<double>& flux, const Array<double>& out) const;

  [[nodiscard]] int n_faces() const { return n_faces_; }
  [[nodiscard]] int n_face_modes() const { return n_face_modes_; }
  /// The function 1 on the wall has this coefficient of its first mode.
  [[nodiscard]] double one() const { return one_; }

 private:
  /// Call function(row, pack, lane, v_d, half_dv, volume over the mean) for the cells on one side of v_d = 0:
  /// sign 1: above.
  template <class Function>
  void for_cells(int sign, const Function& function) const;
  [[nodiscard]] double* group(double* face, int row, int pack, int g) const;
  [[nodiscard]] int n_group(int g) const;
  void reduce(std::vector<double>& values) const;

  Comm velocity_comm_;
  PhaseBasis basis_;
  PhaseBlock block_;
  int direction_, side_, n_faces_, n_face_modes_, n_lin_, first_degree_;
  double one_ = 1, measure_ = 1;  ///< int phi_0 ... dv of a velocity cell of mean width
  std::vector<int> offset_;       ///< of each group in a pack's trace
  std::vector<double> shape_;     ///< g: [n_rows, n_packs, n_groups, lanes]
};

}  // namespace quintet::kinetics
