#include "apps/quintet/bench/quiet.hpp"

#include <gtest/gtest.h>

using quintet::bench::objection;
using quintet::bench::Quiet;

TEST(Quiet, machine_meets_no_objection) {
  EXPECT_EQ(objection({.cores = 2}), "");
  EXPECT_EQ(
      objection(
          {.own_share = 0.99, .others_cores = 0.05, .stolen_cores = 0.01, .slots_share = 0.95, .cores = 2}),
      "");
  EXPECT_EQ(objection({.others_cores = 3, .cores = 96}), "");  // what runs now and then on a large node
}

TEST(Quiet, is_not_a_machine_that_others_use) {
  EXPECT_NE(objection({.own_share = 0.5, .cores = 2}).find("a rank got 50 % of a core's time"),
            std::string::npos);
  EXPECT_NE(objection({.others_cores = 0.5, .cores = 2}).find("other programs use 0.5 of 2 cores"),
            std::string::npos);
  EXPECT_NE(objection({.stolen_cores = 0.1, .cores = 2}).find("other virtual machines take 0.10 of 2"),
            std::string::npos);
  EXPECT_NE(objection({.slots_share = 0.7, .cores = 2}).find("leaves 70 % of its slots"), std::string::npos);
}

TEST(Quiet, look_sees_shares_that_can_be) {
  const auto quiet = quintet::bench::look_around(quintet::Comm::self());
  EXPECT_TRUE(quiet.own_share > 0 && quiet.own_share < 1.1) << quiet.own_share;
  EXPECT_TRUE(quiet.slots_share > 0 && quiet.slots_share <= 1) << quiet.slots_share;
  EXPECT_TRUE(quiet.others_cores >= 0 && quiet.others_cores < 1.2 * quiet.cores) << quiet.others_cores;
}
