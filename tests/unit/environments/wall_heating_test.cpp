#include "surrogates/environments/wall_heating.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::environments {
namespace {

convection::Axis axis(int n, bool periodic = true) {
  return convection::make_axis(0, 2, n, convection::Spacing::uniform, 0, periodic);
}

std::vector<double> profile_of(const WallHeating& floor, const std::vector<float>& action) {
  std::vector<double> profile(floor.cells());
  floor.profile(action, profile);
  return profile;
}

TEST(WallHeating, keeps_the_mean_and_the_bounds) {
  for (const double blend : {0.0, 0.3, 1.0}) {
    const WallHeating floor({5, 0.6, blend}, axis(35));
    for (const float size : {0.1F, 1.0F, 30.0F}) {
      const auto profile = profile_of(floor, {size, -2 * size, 0.3F * size, size, 5 * size});
      EXPECT_NEAR(std::accumulate(profile.begin(), profile.end(), 0.0), 0, 1e-13);
      const double most = std::abs(*std::max_element(
          profile.begin(), profile.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
      EXPECT_LE(most, 0.6 * (1 + 1e-14));
      if (size > 1) {
        EXPECT_NEAR(most, 0.6, 1e-12);
      }
    }
  }
}

TEST(WallHeating, has_the_actions_themselves_in_the_middles_of_segments_where_they_fit) {
  const WallHeating floor({4, 0.5, 0.5}, axis(32));
  const auto profile = profile_of(floor, {0.5F, -0.25F, -0.75F, 0.5F});
  const double levels[] = {0.25, -0.125, -0.375, 0.25};
  for (std::size_t s = 0; s < 4; ++s)
    for (const std::size_t i : {3U, 4U}) EXPECT_NEAR(profile[8 * s + i], levels[s], 1e-14);
  // Halfway where two meet: cells at both sides of the border average to the mean of the levels.
  EXPECT_NEAR(profile[7] + profile[8], levels[0] + levels[1], 1e-14);
  EXPECT_NEAR(profile[31] + profile[0], levels[3] + levels[0], 1e-14);
  EXPECT_TRUE(std::is_sorted(profile.begin() + 4, profile.begin() + 20, std::greater<>()));
}

TEST(WallHeating, of_actions_moved_by_a_segment_is_moved_by_a_segment) {
  const WallHeating floor({6, 1, 0.7}, axis(24));
  std::vector<float> action{0.3F, -0.8F, 2.0F, 0.0F, 0.1F, -0.4F};
  auto before = profile_of(floor, action);
  std::rotate(action.begin(), action.end() - 1, action.end());
  std::rotate(before.begin(), before.end() - 4, before.end());
  const auto after = profile_of(floor, action);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-14);
}

/// Between corners, on cells of unequal widths and any number of segments.
TEST(WallHeating, between_corners_keeps_the_mean_over_the_wall_and_reaches_to_the_corners) {
  const auto along = convection::make_axis(-0.5, 0.5, 23, convection::Spacing::tanh, 1.7, false);
  for (const double blend : {0.0, 0.4, 1.0})
    for (const int n : {2, 3, 7}) {
      const WallHeating wall({n, 0.6, blend}, along, "left side");
      std::vector<float> action;
      for (int s = 0; s < n; ++s) action.push_back(std::sin(1.0F + 2.3F * s));
      std::vector<double> levels(n), profile = profile_of(wall, action);
      wall.bounded(action, levels);
      double mean = 0;
      for (int i = 0; i < along.n(); ++i) mean += along.widths[i] * profile[i];
      EXPECT_NEAR(mean, 0, 1e-14);
      EXPECT_NEAR(profile.front(), levels.front(), 1e-14);
      EXPECT_NEAR(profile.back(), levels.back(), 1e-14);
      for (const double value : profile) EXPECT_LE(std::abs(value), 0.6 * (1 + 1e-14));
      // seen in a mirror
      std::reverse(action.begin(), action.end());
      std::reverse(profile.begin(), profile.end());
      const auto mirrored = profile_of(wall, action);
      for (int i = 0; i < along.n(); ++i) EXPECT_NEAR(mirrored[i], profile[i], 1e-14);
    }
}

/// On many equal cells the mean over a cell is the value at its centre, to second order.
TEST(WallHeating, between_corners_has_the_profile_of_a_ring_but_at_its_seam) {
  const std::vector<float> action{0.5F, -0.25F, -0.75F, 0.5F};
  const auto round = profile_of(WallHeating({4, 0.5, 0.5}, axis(256)), action),
             closed = profile_of(WallHeating({4, 0.5, 0.5}, axis(256, false)), action);
  for (std::size_t i = 32; i < 224; ++i) EXPECT_NEAR(closed[i], round[i], 1e-3);
}

TEST(WallHeating, refuses_what_is_no_floor) {
  EXPECT_THROW(WallHeating({5, 0.5, 0.5}, axis(32)), InputError);
  EXPECT_THROW(WallHeating({1, 0.5, 0.5}, axis(32)), InputError);
  EXPECT_THROW(WallHeating({4, 1.01, 0.5}, axis(32)), InputError);
  EXPECT_THROW(WallHeating({4, 0, 0.5}, axis(32)), InputError);
  EXPECT_THROW(WallHeating({4, 0.5, 1.5}, axis(32)), InputError);
  EXPECT_NO_THROW(WallHeating({5, 0.5, 0.5}, axis(32, false)));
  EXPECT_THROW(WallHeating({33, 0.5, 0.5}, axis(32, false)), InputError);
  const WallHeating floor({4, 0.5, 0.5}, axis(32));
  EXPECT_THROW((void)profile_of(floor, {0, NAN, 0, 0}), InputError);
  EXPECT_THROW((void)profile_of(floor, {0, INFINITY, 0, 0}), InputError);
}

}  // namespace
}  // namespace quintet::environments
