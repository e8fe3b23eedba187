#include "physics/convection/linear/linear_means.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "physics/convection/grid.hpp"

using namespace quintet::convection;

namespace {

using Intervals = std::vector<std::pair<double, double>>;

KnownPoints centres_of(const Axis& axis) {
  return {axis.centres, axis.faces.front(), axis.faces.back(), axis.periodic};
}

}  // namespace

TEST(LinearMeans, are_exact_for_a_line_between_walls_whatever_the_cells) {
  const Axis fine = make_axis(-0.5, 0.5, 13, Spacing::tanh, 1.5, false);
  const auto line = [](double z) { return 0.2 - 1.7 * z; };
  for (const int n : {3, 13, 40}) {
    Intervals cells;
    for (int k = 0; k < n; ++k) cells.emplace_back(-0.5 + double(k) / n, -0.5 + double(k + 1) / n);
    const LinearMeans means(centres_of(fine), {true, line(-0.5)}, {true, line(0.5)}, cells);
    for (int k = 0; k < n; ++k)
      EXPECT_NEAR(means.mean(k, [&](int i) { return line(fine.centres[i]); }),
                  line(0.5 * (cells[k].first + cells[k].second)), 1e-14);
  }
}

TEST(LinearMeans, without_values_at_walls_have_no_slope_there) {
  const Axis fine = make_axis(0, 1, 8, Spacing::uniform, 0, false);
  const LinearMeans means(centres_of(fine), {}, {}, {{0, 1.0 / 32}, {31.0 / 32, 1}});
  EXPECT_NEAR(means.mean(0, [](int i) { return 3.0 + i; }), 3, 1e-14);
  EXPECT_NEAR(means.mean(1, [](int i) { return 3.0 + i; }), 10, 1e-14);
}

TEST(LinearMeans, keep_the_mean_over_a_period_and_go_round) {
  const Axis fine = make_axis(0, 2, 12, Spacing::uniform, 0, true);
  const auto value = [](int i) { return std::sin(1.0 + 2.7 * i); };
  const Intervals cells{{-0.2, 0.3}, {0.3, 1.1}, {1.1, 1.8}};
  const LinearMeans means(centres_of(fine), {}, {}, cells);
  double sum = 0, whole = 0;
  for (int k = 0; k < 3; ++k) sum += (cells[k].second - cells[k].first) * means.mean(k, value);
  for (int i = 0; i < 12; ++i) whole += value(i) / 6;
  EXPECT_NEAR(sum, whole, 1e-13);
}

TEST(LinearMeans, are_of_second_order) {
  const auto error = [](int n) {
    const Axis fine = make_axis(0, 1, n, Spacing::uniform, 0, true);
    const double k = 2 * std::numbers::pi;
    const LinearMeans means(centres_of(fine), {}, {}, {{0.13, 0.31}});
    const double exact = (std::cos(k * 0.13) - std::cos(k * 0.31)) / (k * 0.18);
    return std::abs(means.mean(0, [&](int i) { return std::sin(k * fine.centres[i]); }) - exact);
  };
  EXPECT_NEAR(std::log2(error(32) / error(128)), 4, 0.8);
}
