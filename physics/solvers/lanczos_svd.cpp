#include "physics/solvers/lanczos_svd.hpp"

#include <memory>

#include <slepcsvd.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_vector.hpp"

namespace quintet {
namespace {

using ocean::TallMatrix;

/// SLEPc's own start and stop, around each use: PETSc is up already.
struct SlepcSession {
  SlepcSession() { check_petsc(SlepcInitializeNoArguments(), "SlepcInitializeNoArguments"); }
  ~SlepcSession() { SlepcFinalize(); }
  SlepcSession(const SlepcSession&) = delete;
  SlepcSession& operator=(const SlepcSession&) = delete;
};

/// Data from which PETSc's products are computed.
struct Factors {
  const Comm& comm;
  const TallMatrix& x;
  PetscInt first = 0, last = 0;  ///< of the columns that this rank's vectors hold
};

/// Elements of a vector on all ranks.
std::vector<double> whole(const Factors& factors, Vec vector) {
  const PetscScalar* values = nullptr;
  check_petsc(VecGetArrayRead(vector, &values), "VecGetArrayRead");
  const auto all = factors.comm.all_gather(std::span<const double>(values, factors.last - factors.first));
  check_petsc(VecRestoreArrayRead(vector, &values), "VecRestoreArrayRead");
  return all;
}

PetscErrorCode multiply(Mat matrix, Vec in, Vec out) {
  Factors* factors = nullptr;
  check_petsc(MatShellGetContext(matrix, &factors), "MatShellGetContext");
  const auto& x = factors->x;
  const auto v = whole(*factors, in);
  PetscScalar* values = nullptr;
  check_petsc(VecGetArrayWrite(out, &values), "VecGetArrayWrite");
  for (int p = 0; p < x.rows(); ++p) {
    const double* row = x.row(p);
    double sum = 0;
    for (int t = 0; t < x.columns(); ++t) sum += row[t] * v[t];
    values[p] = sum;
  }
  check_petsc(VecRestoreArrayWrite(out, &values), "VecRestoreArrayWrite");
  return 0;
}

PetscErrorCode multiply_transposed(Mat matrix, Vec in, Vec out) {
  Factors* factors = nullptr;
  check_petsc(MatShellGetContext(matrix, &factors), "MatShellGetContext");
  const auto& x = factors->x;
  std::vector<double> sums(x.columns());
  const PetscScalar* u = nullptr;
  check_petsc(VecGetArrayRead(in, &u), "VecGetArrayRead");
  for (int p = 0; p < x.rows(); ++p) {
    const double *row = x.row(p), factor = u[p];
    for (int t = 0; t < x.columns(); ++t) sums[t] += factor * row[t];
  }
  check_petsc(VecRestoreArrayRead(in, &u), "VecRestoreArrayRead");
  factors->comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  PetscScalar* values = nullptr;
  check_petsc(VecGetArrayWrite(out, &values), "VecGetArrayWrite");
  std::copy(sums.begin() + factors->first, sums.begin() + factors->last, values);
  check_petsc(VecRestoreArrayWrite(out, &values), "VecRestoreArrayWrite");
  return 0;
}

struct DestroyMat {
  void operator()(_p_Mat* mat) const { MatDestroy(&mat); }
};
struct DestroySvd {
  void operator()(_p_SVD* svd) const { SVDDestroy(&svd); }
};

}  // namespace

ocean::SingularTriplets lanczos_svd(const Comm& comm, const TallMatrix& x, int k) {
  const SlepcSession session;
  MPI_Comm native = *static_cast<const MPI_Comm*>(comm.native());
  const int n = x.columns();
  Factors factors{comm, x};
  Mat made_matrix = nullptr;
  check_petsc(MatCreateShell(native, x.rows(), PETSC_DECIDE, PETSC_DETERMINE, n, &factors, &made_matrix),
              "MatCreateShell");
  const std::unique_ptr<_p_Mat, DestroyMat> matrix(made_matrix);
  check_petsc(MatShellSetOperation(matrix.get(), MATOP_MULT, reinterpret_cast<void (*)()>(multiply)),
              "MatShellSetOperation");
  check_petsc(MatShellSetOperation(matrix.get(), MATOP_MULT_TRANSPOSE,
                                   reinterpret_cast<void (*)()>(multiply_transposed)),
              "MatShellSetOperation");
  check_petsc(MatGetOwnershipRangeColumn(matrix.get(), &factors.first, &factors.last),
              "MatGetOwnershipRangeColumn");

  SVD made_svd = nullptr;
  check_petsc(SVDCreate(native, &made_svd), "SVDCreate");
  const std::unique_ptr<_p_SVD, DestroySvd> svd(made_svd);
  check_petsc(SVDSetOperators(svd.get(), matrix.get(), nullptr), "SVDSetOperators");
  check_petsc(SVDSetType(svd.get(), SVDTRLANCZOS), "SVDSetType");
  check_petsc(SVDSetWhichSingularTriplets(svd.get(), SVD_LARGEST), "SVDSetWhichSingularTriplets");
  check_petsc(SVDSetDimensions(svd.get(), k, PETSC_DEFAULT, PETSC_DEFAULT), "SVDSetDimensions");
  check_petsc(SVDSetTolerances(svd.get(), 1e-12, 1000), "SVDSetTolerances");
  check_petsc(SVDSolve(svd.get()), "SVDSolve");
  PetscInt found = 0;
  check_petsc(SVDGetConverged(svd.get(), &found), "SVDGetConverged");
  if (found < k)
    throw NumericalError(fmt::format(
        "the Lanczos method found {} of {} singular triplets; choose pod.method: snapshots", found, k));

  Vec made_right = nullptr, made_left = nullptr;
  check_petsc(MatCreateVecs(matrix.get(), &made_right, &made_left), "MatCreateVecs");
  const PetscVector right(made_right), left(made_left);
  ocean::SmallMatrix vectors(n, k);
  for (int m = 0; m < k; ++m) {
    PetscReal value = 0;
    check_petsc(SVDGetSingularTriplet(svd.get(), m, &value, left.get(), right.get()),
                "SVDGetSingularTriplet");
    const auto v = whole(factors, right.get());
    for (int t = 0; t < n; ++t) vectors.at(t, m) = v[t];
  }
  return svd_within(comm, x, product(x, vectors), k);
}

}  // namespace quintet
