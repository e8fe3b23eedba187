#include "apps/application/application.hpp"
#include "apps/submatrix/compare.hpp"
#include "apps/submatrix/evaluate.hpp"
#include "apps/submatrix/with_petsc.hpp"

/// Density matrices of sparse Kohn-Sham systems by the submatrix method.
int main(int argc, char** argv) {
  namespace submatrix = quintet::submatrix;
  return quintet::Application("submatrix", "Density matrices by the submatrix method",
                              submatrix::subsystems())
      .command<submatrix::EvaluateOptions>("evaluate", "Density matrix and energies of K and S",
                                           submatrix::evaluate)
      .command<submatrix::CompareOptions>(
          "compare", "Time, error and memory of several methods on one system", submatrix::compare)
      .execute(argc, argv);
}
