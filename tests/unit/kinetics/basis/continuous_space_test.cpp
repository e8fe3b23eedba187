#include "physics/kinetics/space/continuous_space.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/support/field_space.hpp"

using namespace quintet::kinetics;

namespace {

constexpr std::array<std::array<bool, 2>, 3> free_walls{};

}  // namespace

TEST(ContinuousSpace, has_narrow_bands) {
  for (int order = 1; order <= 3; ++order)
    for (const bool periodic : {false, true}) {
      const ContinuousSpace line(fields::make_grid({32}, {1}, periodic), Basis(1, order, Family::serendipity),
                                 free_walls, true);
      EXPECT_EQ(line.n_free(), 32 * order - (periodic ? 1 : 0));
      EXPECT_LE(line.half_width(), periodic ? 2 * order : order);
      const ContinuousSpace plane(fields::make_grid({12, 20}, {1, 1}, periodic),
                                  Basis(2, order, Family::serendipity), free_walls, true);
      const int across = (2 * order - 1) * 12;  // unknowns of a layer of cells
      EXPECT_LE(plane.half_width(), (periodic ? 2 : 1) * across + 8 * order);
    }
}

TEST(ContinuousSpace, numbers_each_shared_function_once) {
  // Vertices, p - 1 functions an edge, and what lies inside of cells.
  for (const auto family : {Family::serendipity, Family::tensor})
    for (int order = 1; order <= 3; ++order) {
      const auto grid = fields::make_grid({3, 4}, {1, 1}, false);
      const Basis basis(2, order, family);
      const ContinuousSpace space(grid, basis, free_walls, false);
      const int inside = family == Family::tensor ? (order - 1) * (order - 1) : 0;
      EXPECT_EQ(space.n_free(), 4 * 5 + (3 * 5 + 4 * 4) * (order - 1) + 3 * 4 * inside);
      std::set<int> numbers;
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 4; ++j) {
          std::set<int> in_cell;
          for (int l = 0; l < basis.size(); ++l) in_cell.insert(space.number({i, j, 0}, l));
          EXPECT_EQ(in_cell.size(), static_cast<std::size_t>(basis.size()));
          numbers.insert(in_cell.begin(), in_cell.end());
        }
      EXPECT_EQ(numbers.size(), static_cast<std::size_t>(space.n_free()));
      EXPECT_EQ(*numbers.rbegin(), space.n_free() - 1);
    }
}

TEST(ContinuousSpace, gives_walls_to_the_earlier_direction) {
  const auto grid = fields::make_grid({2, 2}, {1, 1}, false);
  const Basis basis(2, 2, Family::serendipity);
  const ContinuousSpace space(grid, basis, {{{true, false}, {false, true}, {}}}, false);
  const auto held = [&](const std::array<int, 3>& cell, const MultiIndex& mode) {
    return space.number(cell, basis.find(mode)) - space.n_free();
  };
  EXPECT_EQ(held({0, 0, 0}, {0, 0}), 0);  // on the lower wall of x
  EXPECT_EQ(held({0, 1, 0}, {0, 1}), 0);  // where it meets the upper wall of y
  EXPECT_EQ(held({1, 1, 0}, {0, 1}), 3);  // on that one
  EXPECT_EQ(held({0, 0, 0}, {0, 2}), ContinuousSpace::zero);
  EXPECT_LT(held({1, 0, 0}, {1, 0}), 0);  // free
}
