#include "surrogates/environments/floor_heating.hpp"

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

std::vector<double> profile_of(const FloorHeating& floor, const std::vector<float>& action) {
  std::vector<double> profile(floor.cells());
  floor.profile(action, profile);
  return profile;
}

TEST(FloorHeating, keeps_the_mean_and_the_bounds) {
  for (const double blend : {0.0, 0.3, 1.0}) {
    const FloorHeating floor({5, 0.6, blend}, axis(35));
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

TEST(FloorHeating, has_the_actions_themselves_in_the_middles_of_segments_where_they_fit) {
  const FloorHeating floor({4, 0.5, 0.5}, axis(32));
  const auto profile = profile_of(floor, {0.5F, -0.25F, -0.75F, 0.5F});
  const double levels[] = {0.25, -0.125, -0.375, 0.25};
  for (std::size_t s = 0; s < 4; ++s)
    for (const std::size_t i : {3U, 4U}) EXPECT_NEAR(profile[8 * s + i], levels[s], 1e-14);
  // Halfway where two meet: cells at both sides of the border average to the mean of the levels.
  EXPECT_NEAR(profile[7] + profile[8], levels[0] + levels[1], 1e-14);
  EXPECT_NEAR(profile[31] + profile[0], levels[3] + levels[0], 1e-14);
  EXPECT_TRUE(std::is_sorted(profile.begin() + 4, profile.begin() + 20, std::greater<>()));
}

TEST(FloorHeating, of_actions_moved_by_a_segment_is_moved_by_a_segment) {
  const FloorHeating floor({6, 1, 0.7}, axis(24));
  std::vector<float> action{0.3F, -0.8F, 2.0F, 0.0F, 0.1F, -0.4F};
  auto before = profile_of(floor, action);
  std::rotate(action.begin(), action.end() - 1, action.end());
  std::rotate(before.begin(), before.end() - 4, before.end());
  const auto after = profile_of(floor, action);
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(before[i], after[i], 1e-14);
}

TEST(FloorHeating, refuses_what_is_no_floor) {
  EXPECT_THROW(FloorHeating({5, 0.5, 0.5}, axis(32)), InputError);
  EXPECT_THROW(FloorHeating({1, 0.5, 0.5}, axis(32)), InputError);
  EXPECT_THROW(FloorHeating({4, 1.01, 0.5}, axis(32)), InputError);
  EXPECT_THROW(FloorHeating({4, 0, 0.5}, axis(32)), InputError);
  EXPECT_THROW(FloorHeating({4, 0.5, 1.5}, axis(32)), InputError);
  EXPECT_THROW(FloorHeating({4, 0.5, 0.5}, axis(32, false)), InputError);
  const FloorHeating floor({4, 0.5, 0.5}, axis(32));
  EXPECT_THROW((void)profile_of(floor, {0, NAN, 0, 0}), InputError);
  EXPECT_THROW((void)profile_of(floor, {0, INFINITY, 0, 0}), InputError);
}

}  // namespace
}  // namespace quintet::environments
