#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "apps/submatrix/compare/equal_errors.hpp"

namespace quintet::submatrix {
namespace {

struct Run {
  double error, seconds;
};

/// Methods at thresholds 1e-2, 1e-3 ...; the exact energy is 0.
Comparison comparison(const std::vector<std::pair<std::string, std::vector<Run>>>& methods) {
  Comparison all;
  all.exact_energy = 0;
  for (const auto& [method, runs] : methods) {
    double threshold = 0.1;
    for (const auto& run : runs) {
      MethodRow row;
      row.method = method;
      row.threshold = threshold *= 0.1;
      row.tr_dk = run.error;
      row.cost.cpu_s = run.seconds;
      all.rows.push_back(row);
    }
  }
  return all;
}

TEST(CommonError, is_the_smallest_that_most_methods_reach) {
  const auto all = comparison({{"a", {{1e-2, 1}, {1e-6, 8}}},
                               {"b", {{1e-2, 2}, {1e-5, 9}}},
                               {"c", {{1e-2, 1.5}, {1e-3, 2}}},
                               {"d", {{1, 0.1}, {0.1, 0.2}}}});

  const auto common = at_common_error(all);

  ASSERT_TRUE(common);
  EXPECT_EQ(common->n_reach, 3);
  EXPECT_EQ(common->n_methods, 4);
  EXPECT_DOUBLE_EQ(common->fastest.error, 1e-3);
  EXPECT_EQ(common->fastest.method, "a");  // 8^(1/4) s
}

TEST(CommonError, of_two_or_three_methods_is_reached_by_all) {
  auto all = comparison({{"a", {{1e-6, 1}}}, {"b", {{1e-5, 2}}}, {"c", {{1e-2, 0.1}}}});
  EXPECT_DOUBLE_EQ(at_common_error(all)->fastest.error, 1e-2);
  EXPECT_EQ(at_common_error(all)->n_reach, 3);
  EXPECT_EQ(at_common_error(all)->fastest.method, "c");

  all.rows[2].refused = "for a test";

  EXPECT_DOUBLE_EQ(at_common_error(all)->fastest.error, 1e-5);
  EXPECT_EQ(at_common_error(all)->n_methods, 2);
}

TEST(CommonError, needs_two_methods_and_an_exact_energy) {
  auto all = comparison({{"a", {{1e-6, 1}}}, {"b", {{1e-5, 2}}}});
  EXPECT_TRUE(at_common_error(all));
  all.exact_energy.reset();
  EXPECT_FALSE(at_common_error(all));
  EXPECT_FALSE(at_common_error(comparison({{"a", {{1e-6, 1}}}})));
}

}  // namespace
}  // namespace quintet::submatrix
