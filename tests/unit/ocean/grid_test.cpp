#include "physics/ocean/coordinates/grid.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::ocean {
namespace {

TEST(MiddleLongitude, is_that_of_the_shortest_arc) {
  EXPECT_DOUBLE_EQ(*middle_longitude({150, 160, 170}), 160);
  EXPECT_DOUBLE_EQ(*middle_longitude({0, 10, 340, 350}), 355);  // across Greenwich
  EXPECT_DOUBLE_EQ(*middle_longitude({0, 10, 20, 350}), 5);
  EXPECT_DOUBLE_EQ(*middle_longitude({42}), 42);
}

TEST(Longitudes, come_in_any_turn_and_order) {
  const std::vector<double> ring{5, 65, 125, 185, 245, 305};
  for (const auto& given : std::vector<std::vector<double>>{{5, 65, 125, 185, 245, 305},
                                                            {5, 65, 125, -175, -115, -55},
                                                            {-175, -115, -55, 5, 65, 125},
                                                            {65, 125, 185, 245, 305, 365},
                                                            {305, 245, 185, 125, 65, 5},
                                                            {125, 65, 5, -55, -115, -175},
                                                            {65, 5, 245, 125, 305, 185}}) {
    const auto axis = ordered_longitudes(given, "x");
    EXPECT_EQ(axis.coordinates, ring);
    for (std::size_t j = 0; j < ring.size(); ++j)
      EXPECT_DOUBLE_EQ(given[axis.source[j]] - 360 * std::floor(given[axis.source[j]] / 360), ring[j]);
    EXPECT_EQ(axis.note.empty(), given == ring);
  }
}

TEST(Longitudes, that_come_twice_are_named_as_they_stand) {
  const auto refusal = [](const std::vector<double>& given) -> std::string {
    try {
      static_cast<void>(ordered_longitudes(given, "x"));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal({0, 120, 240, 360}).find("comes twice, as 0 and 360"), std::string::npos);
  EXPECT_NE(refusal({5, 175, -175, 185}).find("comes twice, as -175 and 185"), std::string::npos);
  EXPECT_NE(refusal({-180, 0, 90, 180}).find("comes twice, as -180 and 180"), std::string::npos);
  EXPECT_NE(refusal({10, 20, 20.00005}), "");
  EXPECT_EQ(refusal({10, 20, 20.001}), "");
  EXPECT_NE(refusal({10, NAN}), "");
  EXPECT_NE(refusal({10, 1e20}), "");
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
