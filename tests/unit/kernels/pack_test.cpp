#include "physics/kernels/pack.hpp"

#include <gtest/gtest.h>

#include "physics/kernels/pack_blocks.hpp"

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

template <class T, int W>
void blocks_turn_over_and_add_up() {
  Pack<T, W> rows[W], again[W];
  for (int i = 0; i < W; ++i) {
    T values[W];
    for (int l = 0; l < W; ++l) values[l] = static_cast<T>(W * i + l);
    rows[i] = again[i] = load<T, W>(values);
  }

  transpose<T, W>(rows);
  T sums[W];
  store<T, W>(sums, horizontal_sums<T, W>(again));

  for (int i = 0; i < W; ++i) {
    T values[W], sum = 0;
    store<T, W>(values, rows[i]);
    for (int l = 0; l < W; ++l) {
      EXPECT_EQ(values[l], W * l + i) << W;
      sum += static_cast<T>(W * i + l);
    }
    EXPECT_EQ(sums[i], sum) << W;
  }
}

TEST(Pack, blocks_turn_over_and_add_up) {
  blocks_turn_over_and_add_up<double, 1>();
  blocks_turn_over_and_add_up<float, 2>();
  blocks_turn_over_and_add_up<float, 4>();
  blocks_turn_over_and_add_up<double, pack_width<double>>();
  blocks_turn_over_and_add_up<float, pack_width<float>>();
}

}  // namespace
}  // namespace quintet
