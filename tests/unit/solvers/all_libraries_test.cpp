#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <gtest/gtest.h>
#include <petscvec.h>
#include <Kokkos_Core.hpp>

#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_session.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/solvers/petsc_error.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"

using namespace quintet;

namespace {

/// What is up: M(PI), K(okkos), P(ETSc).
std::string what_is_up() {
  PetscBool petsc = PETSC_FALSE;
  PetscInitialized(&petsc);
  return std::string(mpi_is_up() ? "M" : "") + (Kokkos::is_initialized() ? "K" : "") +
         (petsc == PETSC_TRUE ? "P" : "");
}

/// A subsystem that writes down what is up when it starts and stops.
Subsystem witness(std::vector<std::string>& seen) {
  return {"witness", [&seen](const Comm&, int) { seen.push_back(what_is_up()); },
          [&seen] { seen.push_back(what_is_up()); }};
}

/// sum of i^2 for i = 1 ... n, over all ranks, by each library: a norm in PETSc, a reduction in Kokkos, a
/// product of torch on the same memory.
void expect_same_sum(const Comm& comm) {
  constexpr int n = 7;
  const double expected = 140.0 * comm.size();
  const Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace> view("row", 1, n);
  for (int i = 0; i < n; ++i) view(0, i) = i + 1;

  double by_kokkos = 0.0;
  Kokkos::parallel_reduce(
      "test::square", Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, n),
      [=](int i, double& sum) { sum += view(0, i) * view(0, i); }, by_kokkos);
  const auto row = at::from_blob(view.data(), {1, n}, at::TensorOptions(at::kDouble));
  const double by_torch = row.matmul(row.t()).item<double>();
  Vec x = nullptr;
  PetscReal by_petsc = 0.0;
  check_petsc(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, n, PETSC_DETERMINE, view.data(), &x),
              "VecCreateMPIWithArray");
  check_petsc(VecNorm(x, NORM_2, &by_petsc), "VecNorm");
  check_petsc(VecDestroy(&x), "VecDestroy");

  EXPECT_EQ(comm.sum(by_kokkos), expected);
  EXPECT_EQ(comm.sum(by_torch), expected);
  EXPECT_NEAR(by_petsc * by_petsc, expected, 1e-12 * expected);
}

/// Kokkos and torch got the threads that the run chose.
void expect_same_threads(const Runtime& runtime) {
  const Kokkos::DefaultHostExecutionSpace space;
  EXPECT_EQ(at::get_num_threads(), runtime.threads().per_rank);
  EXPECT_EQ(at::get_num_interop_threads(), 1);
  if (std::string(space.name()) != "Serial") {
    EXPECT_EQ(space.concurrency(), runtime.threads().per_rank);
  }
}

}  // namespace

/// Own main(): the order of start and stop is what is tested.
int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::vector<std::string> seen{what_is_up()};
  {
    Runtime runtime(argc, argv, 0, {witness(seen), petsc_subsystem(), torch_subsystem(), witness(seen)});
    if (runtime.comm().is_root()) quintet::log::info("{}", runtime.description());
    EXPECT_NE(blas_in_use(), "none");
    expect_same_threads(runtime);
    expect_same_sum(runtime.comm());
  }
  seen.push_back(what_is_up());
  EXPECT_EQ(seen, (std::vector<std::string>{"", "MK", "MKP", "MKP", "MK", ""}));
  return testing::Test::HasFailure() ? 1 : 0;
}
