#include "apps/application/cli/application.hpp"
#include "apps/submatrix/compare/compare.hpp"
#include "apps/submatrix/compare/with_petsc.hpp"
#include "apps/submatrix/evaluate/evaluate.hpp"
#include "apps/submatrix/inspect/inspect.hpp"
#include "apps/submatrix/plan/cost.hpp"
#include "apps/submatrix/plan/sizes.hpp"

/// Density matrices of sparse Kohn-Sham systems by the submatrix method.
int main(int argc, char** argv) {
  namespace submatrix = quintet::submatrix;
  return quintet::Application("submatrix", "Density matrices by the submatrix method",
                              submatrix::subsystems())
      .command<submatrix::EvaluateOptions>("evaluate", "Density matrix and energies of K and S",
                                           submatrix::evaluate)
      .cost<submatrix::EvaluateOptions>(submatrix::cost)
      .sizes<submatrix::EvaluateOptions>(submatrix::sizes)
      .command<submatrix::CompareOptions>(
          "compare", "Time, error and memory of several methods on one system", submatrix::compare)
      .plain_command("inspect", "What is understood of a file of a matrix or of real-space images",
                     submatrix::inspect_flags(), submatrix::inspect)
      .execute(argc, argv);
}
