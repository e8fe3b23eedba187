#include <csignal>

#include <gtest/gtest.h>
#include <petscksp.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_subsystem.hpp"

using namespace quintet;

namespace {

/// PETSc up for one test.
class Petsc : public testing::Test {
 protected:
  int argc_ = 0;
  char** argv_ = nullptr;
  void (*handler_before_)(int) = std::signal(SIGFPE, SIG_DFL);
  Runtime runtime_{argc_, argv_, 1, {petsc_subsystem()}};
};

template <class Expected, class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const Expected& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_F(Petsc, works_on_the_communicator_of_the_run) {
  const int n_ranks = runtime_.comm().size();
  Vec x = nullptr;
  PetscReal norm = 0.0;

  check_petsc(VecCreateMPI(PETSC_COMM_WORLD, 4, PETSC_DETERMINE, &x), "VecCreateMPI");
  check_petsc(VecSet(x, 3.0), "VecSet");
  check_petsc(VecNorm(x, NORM_1, &norm), "VecNorm");
  check_petsc(VecDestroy(&x), "VecDestroy");

  EXPECT_EQ(norm, 12.0 * n_ranks);
  EXPECT_NE(runtime_.description().find("PETSc 3."), std::string::npos);
}

TEST_F(Petsc, leaves_the_signals_alone) { EXPECT_EQ(std::signal(SIGFPE, handler_before_), SIG_DFL); }

TEST_F(Petsc, errors_keep_their_text_and_are_not_printed) {
  testing::internal::CaptureStderr();
  Vec x = nullptr;
  check_petsc(VecCreateSeq(PETSC_COMM_SELF, 3, &x), "VecCreateSeq");

  const auto message = message_of<InternalError>([&] { check_petsc(VecSetType(x, "velcro"), "VecSetType"); });

  check_petsc(VecDestroy(&x), "VecDestroy");
  EXPECT_EQ(message.find("PETSc's VecSetType failed: "), 0U) << message;
  EXPECT_NE(message.find("velcro"), std::string::npos) << message;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(Petsc, zero_pivot_is_numerical) {
  const auto solve_singular = [] {
    Mat a = nullptr;
    Vec b = nullptr;
    KSP ksp = nullptr;
    PC pc = nullptr;
    check_petsc(MatCreateSeqAIJ(PETSC_COMM_SELF, 2, 2, 2, nullptr, &a), "MatCreateSeqAIJ");
    for (const PetscInt i : {0, 1}) {
      for (const PetscInt j : {0, 1}) check_petsc(MatSetValue(a, i, j, 0.0, INSERT_VALUES), "MatSetValue");
    }
    check_petsc(MatAssemblyBegin(a, MAT_FINAL_ASSEMBLY), "MatAssemblyBegin");
    check_petsc(MatAssemblyEnd(a, MAT_FINAL_ASSEMBLY), "MatAssemblyEnd");
    check_petsc(MatCreateVecs(a, &b, nullptr), "MatCreateVecs");
    check_petsc(KSPCreate(PETSC_COMM_SELF, &ksp), "KSPCreate");
    check_petsc(KSPSetOperators(ksp, a, a), "KSPSetOperators");
    check_petsc(KSPGetPC(ksp, &pc), "KSPGetPC");
    check_petsc(PCSetType(pc, PCLU), "PCSetType");
    check_petsc(KSPSetErrorIfNotConverged(ksp, PETSC_TRUE), "KSPSetErrorIfNotConverged");
    const auto code = KSPSolve(ksp, b, b);
    KSPDestroy(&ksp);
    VecDestroy(&b);
    MatDestroy(&a);
    check_petsc(code, "KSPSolve");
  };

  const auto message = message_of<NumericalError>(solve_singular);

  EXPECT_NE(message.find("ivot"), std::string::npos) << message;
}
