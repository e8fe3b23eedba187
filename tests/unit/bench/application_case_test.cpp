#include "apps/quintet/bench/application_case.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"

using namespace quintet;
using namespace quintet::bench;
using Size = std::vector<std::int64_t>;

TEST(ApplicationCase, is_made_smaller_along_its_longest_side) {
  EXPECT_EQ(halved({64, 32}), (Size{32, 32}));
  EXPECT_EQ(halved({32, 32}), (Size{16, 32}));
  EXPECT_EQ(halved({5, 1, 4}), (Size{3, 1, 4}));
  EXPECT_EQ(halved({2, 1}), (Size{1, 1}));
  EXPECT_EQ(halved({1, 1}), Size{});
}

TEST(ApplicationCase, finds_its_size_in_the_input) {
  const auto& vlasov = application_case("vlasov");
  EXPECT_EQ(size_of(vlasov, parse_yaml("grid: {cells: [64, 32]}", "a")), (Size{64, 32}));
  EXPECT_THROW((void)size_of(vlasov, parse_yaml("grid: {lower: [0]}", "a")), InputError);
  EXPECT_THROW((void)size_of(vlasov, parse_yaml("time: {end: 1}", "a")), InputError);
  EXPECT_THROW((void)application_case("podlstm"), InputError);
}

TEST(ApplicationCase, reads_step_and_work_from_the_summary) {
  const auto run = parse_yaml("{cells: 512, atoms: 4000, steps: 20, timings_s: {start: 9, steps: 0.5}}", "a");
  EXPECT_DOUBLE_EQ(application_case("vlasov").step_s(run), 0.025);
  EXPECT_DOUBLE_EQ(application_case("vlasov").work(run), 512);
  EXPECT_DOUBLE_EQ(application_case("dpmd").work(run), 4000);
  const auto submatrix = parse_yaml("{gflops_per_s: 20, submatrices_s: 0.5, orbitals: 192}", "a");
  EXPECT_DOUBLE_EQ(application_case("submatrix").work(submatrix), 10);
  EXPECT_DOUBLE_EQ(application_case("submatrix").step_s(submatrix), 0.5);
}
