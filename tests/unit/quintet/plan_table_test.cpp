#include "apps/quintet/plan/plan_table.hpp"

#include <gtest/gtest.h>

namespace quintet {
namespace {

Plan plan_of(double floor, double per_unit) {
  Plan plan{.who = "dpmd run", .file = "a.yaml", .machine = "here"};
  plan.model.work = 1000;
  plan.model.rate = {.floor = floor, .per_unit = per_unit};
  plan.rows.push_back({.cost = {.ranks = 1, .decomposition = "1"}});
  return plan;
}

TEST(PlanTable, a_timing_in_which_work_took_no_time_is_told) {
  EXPECT_NE(text_of(plan_of(0.1, 0)).find("plan again"), std::string::npos);
  EXPECT_EQ(text_of(plan_of(0.1, 1e-4)).find("plan again"), std::string::npos);
}

}  // namespace
}  // namespace quintet
