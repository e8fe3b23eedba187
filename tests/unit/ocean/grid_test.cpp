#include "physics/ocean/grid.hpp"

#include <gtest/gtest.h>

namespace quintet::ocean {
namespace {

TEST(MiddleLongitude, is_that_of_the_shortest_arc) {
  EXPECT_DOUBLE_EQ(*middle_longitude({150, 160, 170}), 160);
  EXPECT_DOUBLE_EQ(*middle_longitude({0, 10, 340, 350}), 355);  // across Greenwich
  EXPECT_DOUBLE_EQ(*middle_longitude({0, 10, 20, 350}), 5);
  EXPECT_DOUBLE_EQ(*middle_longitude({42}), 42);
}

TEST(MiddleLongitude, is_not_there_all_round) {
  std::vector<double> ring;
  for (int i = 0; i < 180; ++i) ring.push_back(1 + 2 * i);
  EXPECT_FALSE(middle_longitude(ring));
  EXPECT_FALSE(middle_longitude({}));
  ring.resize(170);
  EXPECT_DOUBLE_EQ(*middle_longitude(ring), 170);
}

}  // namespace
}  // namespace quintet::ocean
