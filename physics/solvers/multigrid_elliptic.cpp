#include "physics/solvers/multigrid_elliptic.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>

#include <petscksp.h>

#include "io/log/error.hpp"
#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_rows.hpp"
#include "physics/solvers/petsc_vector.hpp"

namespace quintet {

using namespace convection;

namespace {

struct DestroySolver {
  void operator()(_p_KSP* solver) const { KSPDestroy(&solver); }
};
struct DestroyNullSpace {
  void operator()(_p_MatNullSpace* space) const { MatNullSpaceDestroy(&space); }
};
using PetscSolver = std::unique_ptr<_p_KSP, DestroySolver>;
using PetscNullSpace = std::unique_ptr<_p_MatNullSpace, DestroyNullSpace>;

PetscVector vector_like(const PetscMatrix& matrix) {
  Vec made = nullptr;
  check_petsc(MatCreateVecs(matrix.get(), &made, nullptr), "MatCreateVecs");
  return PetscVector(made);
}

/// One unknown's equations: (V + c S) q = V r, where S = -V L is symmetric with V the control volumes (and 1
/// on walls).
struct Equations {
  PetscMatrix stiffness, matrix;
  PetscVector volumes, right, solution;
  PetscSolver solver;
  double coefficient = 0;
};

class MultigridSolver : public EllipticSolver {
 public:
  MultigridSolver(const Problem& problem, const Grid& grid, double tolerance)
      : problem_(problem), grid_(grid), comm_(*static_cast<const MPI_Comm*>(grid.comm().native())) {
    QUINTET_CHECK(static_cast<double>(grid.x.n()) * grid.z.n() < std::numeric_limits<PetscInt>::max() / 8.0,
                  "{} x {} cells are more than this PETSc counts; use one with 64-bit indices", grid.x.n(),
                  grid.z.n());
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p})
      assemble(unknown, tolerance);
  }

  void set_step(double a) override {
    if (a_ == a) return;
    a_ = a;
    for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b}) {
      Equations& equations = of(unknown);
      const Mat matrix = equations.matrix.get();
      check_petsc(MatCopy(equations.stiffness.get(), matrix, SAME_NONZERO_PATTERN), "MatCopy");
      check_petsc(MatScale(matrix, a * diffusivity(problem_, unknown)), "MatScale");
      check_petsc(MatDiagonalSet(matrix, equations.volumes.get(), ADD_VALUES), "MatDiagonalSet");
      check_petsc(KSPSetOperators(equations.solver.get(), matrix, matrix), "KSPSetOperators");
    }
  }

  using EllipticSolver::diffuse;
  void diffuse(Unknown unknown, const Field& field) override { solve(unknown, field, 1.0); }

  void poisson(const Field& field) override {
    solve(Unknown::p, field, -1.0);
    double sum = 0;
    for (int j = 0; j < field.rows; ++j)
      for (int i = 0; i < field.n; ++i)
        sum += grid_.z.widths[grid_.first_row() + j] * grid_.x.widths[i] * field.row(j)[i];
    const double mean = grid_.comm().sum(sum) / (grid_.x.length() * grid_.z.length());
    for (int j = 0; j < field.rows; ++j)
      for (int i = 0; i < field.n; ++i) field.row(j)[i] -= mean;
  }

  long take_iterations() override { return std::exchange(iterations_, 0); }

 private:
  [[nodiscard]] Equations& of(Unknown unknown) { return equations_[static_cast<std::size_t>(unknown)]; }

  void assemble(Unknown unknown, double tolerance) {
    const LineOperator x = x_operator(problem_, grid_, unknown), z = z_operator(problem_, grid_, unknown);
    const int n = grid_.x.n(), n_z = grid_.z.n();
    PetscRows rows;
    const auto add = [&](std::int64_t to, double number) {
      if (number != 0) rows.add(to, number);  // walls have no neighbour
    };
    std::vector<double> volumes;
    for (int j = 0; j < grid_.rows_here(); ++j) {
      const int k = grid_.first_row() + j;
      for (int i = 0; i < n; ++i) {
        const bool wall =
            (unknown == Unknown::w && k == 0) || (unknown == Unknown::u && i == 0 && !grid_.x.periodic);
        const std::int64_t here = std::int64_t{k} * n + i;
        volumes.push_back(wall ? 1.0 : x.weight[i] * z.weight[k]);
        if (wall) {  // q = r = 0
          rows.add(here, 1.0);
          rows.finish_row();
          continue;
        }
        const double left = z.weight[k] * x.lower[i], right = z.weight[k] * x.upper[i];
        const double below = x.weight[i] * z.lower[k], above = x.weight[i] * z.upper[k];
        const double walls = z.weight[k] * x.wall[i] + x.weight[i] * z.wall[k];
        if (k > 0) add(here - n, -below);
        add(std::int64_t{k} * n + (i + n - 1) % n, -left);
        add(here, left + right + below + above + walls);
        add(std::int64_t{k} * n + (i + 1) % n, -right);
        if (k + 1 < n_z) add(here + n, -above);
        rows.finish_row();
      }
    }
    Equations& equations = of(unknown);
    equations.stiffness = matrix_of(comm_, rows);
    equations.right = vector_like(equations.stiffness);
    equations.solution = vector_like(equations.stiffness);
    equations.volumes = vector_like(equations.stiffness);
    double* values = nullptr;
    check_petsc(VecGetArray(equations.volumes.get(), &values), "VecGetArray");
    std::copy(volumes.begin(), volumes.end(), values);
    check_petsc(VecRestoreArray(equations.volumes.get(), &values), "VecRestoreArray");
    make_solver(equations, unknown, tolerance);
  }

  void make_solver(Equations& equations, Unknown unknown, double tolerance) {
    const bool pressure = unknown == Unknown::p;
    KSP made = nullptr;
    check_petsc(KSPCreate(comm_, &made), "KSPCreate");
    equations.solver.reset(made);
    check_petsc(KSPSetOptionsPrefix(made, pressure ? "pressure_" : "diffusion_"), "KSPSetOptionsPrefix");
    check_petsc(KSPSetType(made, KSPCG), "KSPSetType");
    check_petsc(KSPSetTolerances(made, tolerance, PETSC_DEFAULT, PETSC_DEFAULT, 500), "KSPSetTolerances");
    PC preconditioner = nullptr;
    check_petsc(KSPGetPC(made, &preconditioner), "KSPGetPC");
    check_petsc(PCSetType(preconditioner, pressure ? PCGAMG : PCJACOBI), "PCSetType");
    check_petsc(KSPSetFromOptions(made), "KSPSetFromOptions");
    if (!pressure) {
      Mat copy = nullptr;
      check_petsc(MatDuplicate(equations.stiffness.get(), MAT_COPY_VALUES, &copy), "MatDuplicate");
      equations.matrix.reset(copy);
      return;
    }
    MatNullSpace constants = nullptr;
    check_petsc(MatNullSpaceCreate(comm_, PETSC_TRUE, 0, nullptr, &constants), "MatNullSpaceCreate");
    constants_.reset(constants);
    check_petsc(MatSetNullSpace(equations.stiffness.get(), constants), "MatSetNullSpace");
    check_petsc(MatSetNearNullSpace(equations.stiffness.get(), constants), "MatSetNearNullSpace");
    check_petsc(KSPSetOperators(made, equations.stiffness.get(), equations.stiffness.get()),
                "KSPSetOperators");
  }

  /// The right-hand side is factor V r; the solution takes its place.
  void solve(Unknown unknown, const Field& field, double factor) {
    Equations& equations = of(unknown);
    const std::size_t n = field.n;
    double* right = nullptr;
    const double* values = nullptr;
    check_petsc(VecGetArray(equations.right.get(), &right), "VecGetArray");
    check_petsc(VecGetArrayRead(equations.volumes.get(), &values), "VecGetArrayRead");
    for (int j = 0; j < field.rows; ++j)
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = j * n + i;
        right[k] = factor * values[k] * field.row(j)[i];
      }
    check_petsc(VecRestoreArrayRead(equations.volumes.get(), &values), "VecRestoreArrayRead");
    check_petsc(VecRestoreArray(equations.right.get(), &right), "VecRestoreArray");
    if (unknown == Unknown::p)
      check_petsc(MatNullSpaceRemove(constants_.get(), equations.right.get()), "MatNullSpaceRemove");

    check_petsc(KSPSolve(equations.solver.get(), equations.right.get(), equations.solution.get()),
                "KSPSolve");
    KSPConvergedReason reason{};
    PetscInt iterations = 0;
    check_petsc(KSPGetConvergedReason(equations.solver.get(), &reason), "KSPGetConvergedReason");
    check_petsc(KSPGetIterationNumber(equations.solver.get(), &iterations), "KSPGetIterationNumber");
    iterations_ += iterations;
    if (reason < 0)
      throw NumericalError(fmt::format(
          "conjugate gradients for {} ended after {} iterations without converging ({}); a greater "
          "solver.tolerance or a smaller time.cfl helps",
          unknown == Unknown::p ? "the pressure" : "diffusion", iterations, KSPConvergedReasons[reason]));

    check_petsc(VecGetArrayRead(equations.solution.get(), &values), "VecGetArrayRead");
    for (int j = 0; j < field.rows; ++j) std::copy_n(values + j * n, n, field.row(j));
    check_petsc(VecRestoreArrayRead(equations.solution.get(), &values), "VecRestoreArrayRead");
  }

  Problem problem_;
  Grid grid_;
  MPI_Comm comm_;
  PetscNullSpace constants_;
  std::array<Equations, 4> equations_;
  double a_ = -1;
  long iterations_ = 0;
};

}  // namespace

std::unique_ptr<EllipticSolver> make_multigrid_solver(const Problem& problem, const Grid& grid,
                                                      double tolerance) {
  return std::make_unique<MultigridSolver>(problem, grid, tolerance);
}

}  // namespace quintet
