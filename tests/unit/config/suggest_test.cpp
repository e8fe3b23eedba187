#include <gtest/gtest.h>

#include "io/config/suggest.hpp"

using quintet::closest;
using quintet::edit_distance;

TEST(Suggest, edit_distance_counts_each_kind_of_slip_once) {
  EXPECT_EQ(edit_distance("steps", "steps"), 0u);
  EXPECT_EQ(edit_distance("steps", "step"), 1u);
  EXPECT_EQ(edit_distance("steps", "stepps"), 1u);
  EXPECT_EQ(edit_distance("steps", "staps"), 1u);
  EXPECT_EQ(edit_distance("steps", "setps"), 1u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggest, edit_distance_ignores_case_and_hyphens) { EXPECT_EQ(edit_distance("Cut-Off", "cut_off"), 0u); }

TEST(Suggest, edit_distance_is_symmetric) {
  EXPECT_EQ(edit_distance("temperature", "temprature_k"), edit_distance("temprature_k", "temperature"));
}

TEST(Suggest, closest_finds_the_nearest_name) {
  EXPECT_EQ(closest("temprature", {"time", "temperature", "pressure"}), "temperature");
  EXPECT_EQ(closest("DT", {"steps", "dt"}), "dt");
  EXPECT_EQ(closest("tiem", {"trim", "time"}), "time");
}

TEST(Suggest, closest_is_silent_when_nothing_is_near) {
  EXPECT_EQ(closest("zebra", {"time", "temperature"}), "");
  EXPECT_EQ(closest("x", {"y"}), "");
  EXPECT_EQ(closest("", {"y"}), "");
  EXPECT_EQ(closest("dt", {}), "");
  EXPECT_EQ(closest(std::string(100000, 'a'), {"aaaa"}), "");
}
