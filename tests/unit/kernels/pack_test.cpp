#include "physics/kernels/pack.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "physics/kernels/pack_lanes.hpp"

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
void blocks_turn_over() {
  Pack<T, W> rows[W];
  for (int i = 0; i < W; ++i) {
    T values[W];
    for (int l = 0; l < W; ++l) values[l] = static_cast<T>(W * i + l);
    rows[i] = load<T, W>(values);
  }

  transpose<T, W>(rows);

  for (int i = 0; i < W; ++i) {
    T values[W];
    store<T, W>(values, rows[i]);
    for (int l = 0; l < W; ++l) EXPECT_EQ(values[l], W * l + i) << W;
  }
}

TEST(Pack, blocks_turn_over) {
  blocks_turn_over<double, 1>();
  blocks_turn_over<float, 2>();
  blocks_turn_over<float, 4>();
  blocks_turn_over<double, pack_width<double>>();
  blocks_turn_over<float, pack_width<float>>();
}

template <class T, int W>
void each_lane_is_the_sum_of_a_pack() {
  Pack<T, W> packs[W];
  for (int i = 0; i < W; ++i) {
    T lanes[W];
    for (int l = 0; l < W; ++l) lanes[l] = static_cast<T>(100 * i + l);
    packs[i] = load<T, W>(lanes);
  }
  T sums[W];
  store<T, W>(sums, horizontal_sums<T, W>(packs));
  for (int i = 0; i < W; ++i)
    EXPECT_EQ(sums[i], static_cast<T>(100 * i * W + W * (W - 1) / 2)) << i << " of " << W;
}

TEST(Pack, horizontal_sums_are_one_pack) {
  each_lane_is_the_sum_of_a_pack<double, 1>();
  each_lane_is_the_sum_of_a_pack<double, 2>();
  each_lane_is_the_sum_of_a_pack<double, 4>();
  each_lane_is_the_sum_of_a_pack<double, pack_width<double>>();
  each_lane_is_the_sum_of_a_pack<float, pack_width<float>>();
}

TEST(Pack, lanes_below_a_limit_are_stored_without_gaps) {
  constexpr int w = pack_width<double>;
  // Rows exactly as large as they are: nothing beyond the last one may be read.
  const int n = w + 3;
  std::vector<double> rows;
  for (int i = 0; i < 3 * n; ++i) rows.push_back(i);
  int index[w];
  for (int l = 0; l < w; ++l) index[l] = (5 * l + n / 2) % n;  // the limit's row and the last one, too
  Pack<double> columns[3];
  load_rows(rows.data(), index, columns);
  for (int l = 0; l < w; ++l)
    for (int k = 0; k < 3; ++k) EXPECT_EQ(columns[k][l], 3 * index[l] + k);

  const double limit = 3.0 * (n / 2);  // is not below itself
  const unsigned lanes = lanes_below(columns[0], limit);
  std::vector<double> kept;
  std::vector<int> kept_index;
  for (int l = 0; l < w; ++l) {
    EXPECT_EQ(lanes >> l & 1U, static_cast<unsigned>(3 * index[l] < limit)) << l;
    if (3 * index[l] >= limit) continue;
    kept.push_back(3 * index[l] + 2);
    kept_index.push_back(index[l]);
  }
  std::vector<double> to(2 * w, -1.0);
  std::vector<int> to_index(2 * w, -1);
  store_lanes(to.data(), columns[2], lanes);
  store_lanes(to_index.data(), index, lanes);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(to[i], kept[i]);
    EXPECT_EQ(to_index[i], kept_index[i]);
  }
  for (int i = w; i < 2 * w; ++i) {  // a pack at most
    EXPECT_EQ(to[i], -1.0);
    EXPECT_EQ(to_index[i], -1);
  }
}

}  // namespace
}  // namespace quintet
