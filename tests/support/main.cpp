#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

/// Runs all tests of one executable with MPI and Kokkos up; fails on all ranks if any rank failed.
int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  ::testing::InitGoogleTest(&argc, argv);
  if (!runtime.comm().is_root()) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  const int result = RUN_ALL_TESTS();
  return runtime.comm().maximum(result);
}
