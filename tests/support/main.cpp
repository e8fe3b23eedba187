#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

namespace {

/// Tells what failed on a rank whose tests are not listed: rank 0 may have passed them all.
class FailuresOfRank final : public ::testing::EmptyTestEventListener {
 public:
  explicit FailuresOfRank(int rank) : rank_(rank) {}
  void OnTestStart(const ::testing::TestInfo& test) override {
    test_ = std::string(test.test_suite_name()) + "." + test.name();
  }
  void OnTestPartResult(const ::testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "rank %d: %s: %s:%d: %s\n", rank_, test_.c_str(),
                 result.file_name() ? result.file_name() : "", result.line_number(), result.message());
  }

 private:
  int rank_;
  std::string test_;  ///< under way; GoogleTest may not be asked while it tells of a failure
};

}  // namespace

/// Runs all tests of one executable with MPI and Kokkos up; fails on all ranks if any rank failed.
int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  ::testing::InitGoogleTest(&argc, argv);
  if (!runtime.comm().is_root()) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(new FailuresOfRank(runtime.comm().rank()));
  }
  const int result = RUN_ALL_TESTS();
  return runtime.comm().maximum(result);
}
