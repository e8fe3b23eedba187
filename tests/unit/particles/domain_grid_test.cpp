#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/particles/domain/domain_grid.hpp"

using namespace quintet;

namespace {

using Grid = std::array<int, 3>;

Box orthogonal(double x, double y, double z, std::array<bool, 3> periodic = {true, true, true}) {
  return Box({x, 0, 0, 0, y, 0, 0, 0, z}, periodic);
}

std::string refusal(int n, const Grid& wanted, double range, const Box& box) {
  try {
    static_cast<void>(choose_rank_grid(n, wanted, range, box));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(RankGrid, shares_out_the_longest_direction_first) {
  EXPECT_EQ(choose_rank_grid(2, {0, 0, 0}, 8, orthogonal(50, 120, 50)), (Grid{1, 2, 1}));
  EXPECT_EQ(choose_rank_grid(4, {0, 0, 0}, 8, orthogonal(50, 400, 50)), (Grid{1, 4, 1}));
  EXPECT_EQ(choose_rank_grid(8, {0, 0, 0}, 8, orthogonal(100, 100, 100)), (Grid{2, 2, 2}));
  EXPECT_EQ(choose_rank_grid(12, {0, 0, 0}, 8, orthogonal(100, 200, 300)), (Grid{1, 3, 4}));
}

TEST(RankGrid, leaves_an_open_direction_whole_where_that_saves_ghosts) {
  EXPECT_EQ(choose_rank_grid(2, {0, 0, 0}, 8, orthogonal(50, 50, 50, {true, true, false}))[2], 1);
}

TEST(RankGrid, keeps_what_was_asked_for) {
  EXPECT_EQ(choose_rank_grid(6, {0, 0, 3}, 8, orthogonal(100, 90, 50)), (Grid{2, 1, 3}));
  EXPECT_EQ(choose_rank_grid(6, {1, 6, 1}, 8, orthogonal(100, 90, 50)), (Grid{1, 6, 1}));
}

TEST(RankGrid, a_brick_may_be_a_third_of_the_range_thick) {
  EXPECT_EQ(choose_rank_grid(3, {3, 1, 1}, 8, orthogonal(8, 8, 8)), (Grid{3, 1, 1}));
}

TEST(RankGrid, too_fine_a_grid_is_refused_with_the_largest_that_works) {
  const auto message = refusal(64, {16, 2, 2}, 8, orthogonal(11, 6, 3));

  EXPECT_NE(message.find("[16, 2, 2] is too fine"), std::string::npos) << message;
  EXPECT_NE(message.find("= 8 A"), std::string::npos) << message;
  EXPECT_NE(message.find("the largest that works is [4, 2, 1]"), std::string::npos) << message;
}

TEST(RankGrid, a_number_of_ranks_that_fits_no_grid_is_refused_with_one_that_does) {
  const auto message = refusal(7, {0, 0, 0}, 8, orthogonal(11, 6, 3));

  EXPECT_NE(message.find("no grid of 7 ranks works"), std::string::npos) << message;
  EXPECT_NE(message.find("the largest that works is [4, 2, 1] (8 ranks); with 6 ranks: [3, 2, 1]"),
            std::string::npos)
      << message;
}

TEST(RankGrid, a_grid_of_another_number_of_ranks_is_refused) {
  EXPECT_NE(refusal(4, {3, 1, 1}, 8, orthogonal(50, 50, 50)).find("does not fit 4 ranks"), std::string::npos);
  EXPECT_NE(refusal(4, {3, 0, 0}, 8, orthogonal(50, 50, 50)).find("does not fit 4 ranks"), std::string::npos);
  EXPECT_NE(refusal(4, {2000000000, 2000000000, 2000000000}, 8, orthogonal(50, 50, 50)).find("does not fit"),
            std::string::npos);
  EXPECT_NE(refusal(4, {-2, -2, 1}, 8, orthogonal(50, 50, 50)).find("-2 is not a number of ranks"),
            std::string::npos);
}
