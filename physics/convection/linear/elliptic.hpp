#pragma once

#include <memory>

#include "physics/convection/linear/line_operator.hpp"

namespace quintet::convection {

/// Solves the linear equations of a step. Boundaries are homogeneous: what walls bring stands on the
/// right-hand side.
class EllipticSolver {
 public:
  virtual ~EllipticSolver() = default;
  /// Make ready for diffusion over a time `a`: equations (1 - a d L) q = r, d the diffusivity of the unknown.
  /// Collective.
  virtual void set_step(double a) = 0;
  /// Replace r in `field` by the solution of (1 - a d L) q = r, for u, w or b. Neighbours are not filled.
  /// Collective.
  virtual void diffuse(Unknown unknown, const Field& field) = 0;
  /// Solve as diffuse() of one unknown does, for u, w and b of `state` at once. Collective.
  virtual void diffuse(const BoussinesqState& state) {
    diffuse(Unknown::u, state.u);
    diffuse(Unknown::w, state.w);
    diffuse(Unknown::b, state.b);
  }
  /// Replace r in `field` by the solution of L q = r with no flux through walls, of zero volume mean. The
  /// volume mean of r should be 0 (what is left of it is dropped). Collective.
  virtual void poisson(const Field& field) = 0;
  /// Iterations since the last call, 0 of a direct solver; for the report.
  [[nodiscard]] virtual long take_iterations() { return 0; }
};

/// The direct solver: Fourier, cosine or sine transforms along x, elimination along z. Throws InputError if
/// cells along x are unequal, or their number has no fast transform.
[[nodiscard]] std::unique_ptr<EllipticSolver> make_transform_solver(const Problem& problem, const Grid& grid);

/// The direct solver for any cells: products with the eigenvectors of the differences along x (fast
/// diagonalisation), elimination along z: 4 n_x flops more a cell and solve, and 64 n_x^2 bytes. Source:
/// Lynch, Rice & Thomas 1964, Numer. Math. 6, 185.
[[nodiscard]] std::unique_ptr<EllipticSolver> make_modes_solver(const Problem& problem, const Grid& grid);

}  // namespace quintet::convection
