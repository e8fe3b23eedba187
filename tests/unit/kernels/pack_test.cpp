#include "physics/kernels/pack.hpp"

#include <gtest/gtest.h>

namespace quintet {
namespace {

template <int W>
void shifts_move_by_one_lane() {
  double first[W], second[W], up[W], down[W];
  for (int l = 0; l < W; ++l) first[l] = l, second[l] = W + l;  // lanes of two packs in a row

  store<double, W>(up, shift_up<double, W>(load<double, W>(first), load<double, W>(second)));
  store<double, W>(down, shift_down<double, W>(load<double, W>(first), load<double, W>(second)));

  for (int l = 0; l < W; ++l) {
    EXPECT_EQ(up[l], l + 1);
    EXPECT_EQ(down[l], W + l - 1);
  }
}

TEST(Pack, shifts_move_by_one_lane) {
  shifts_move_by_one_lane<1>();
  shifts_move_by_one_lane<2>();
  shifts_move_by_one_lane<4>();
  if constexpr (pack_width<double> >= 8) shifts_move_by_one_lane<8>();
}

}  // namespace
}  // namespace quintet
