#include <cmath>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/flow/data/coarsen.hpp"
#include "surrogates/flow/data/interpolate.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace quintet::flow {
namespace {

constexpr double two_pi = 2 * std::numbers::pi;

BlockAxis uniform(int n, double lower, double upper, bool periodic) {
  BlockAxis axis{{}, periodic, lower, upper, !periodic, !periodic};
  for (int i = 0; i < n; ++i)
    axis.coordinates.push_back(lower + (i + (periodic ? 0.0 : 0.5)) * (upper - lower) / n);
  return axis;
}

BlockAxis chebyshev(int n) {
  BlockAxis axis{{}, false, -0.5, 0.5, true, true};
  for (int j = 0; j < n; ++j)
    axis.coordinates.push_back(-0.5 * std::cos(std::numbers::pi * (2 * j + 1) / (2 * n)));
  return axis;
}

BlockAxis frames(int n, double first, double spacing) {
  BlockAxis axis;
  for (int i = 0; i < n; ++i) axis.coordinates.push_back(first + i * spacing);
  axis.lower = axis.coordinates.front();
  axis.upper = axis.coordinates.back();
  return axis;
}

template <class Function>
FieldBlock block_of(BlockAxes axes, const Function& function) {
  FieldBlock block{std::move(axes), 1, {}};
  for (const double t : block.axes[0].coordinates)
    for (const double z : block.axes[1].coordinates)
      for (const double x : block.axes[2].coordinates) block.values.push_back(function(t, z, x));
  return block;
}

double linear(double t, double z, double x) { return 0.5 + 2 * t - 3 * z + 0.25 * x; }

constexpr LowResolutionFilter box = LowResolutionFilter::box, point = LowResolutionFilter::point;

TEST(Coarsen, a_linear_field_keeps_its_values_at_the_nodes_of_any_grid) {
  const auto block = block_of({frames(8, 3, 0.25), chebyshev(24), uniform(12, 0, 4, false)}, linear);
  for (const auto filter : {box, point}) {
    const auto coarse = coarsen(BlockView(block), {{4, 8, 3}, {point, filter, filter}});
    ASSERT_EQ(coarse.values.size(), 2u * 3 * 4);
    const auto expected = block_of(coarse.axes, linear);
    for (std::size_t i = 0; i < coarse.values.size(); ++i)
      EXPECT_NEAR(coarse.values[i], expected.values[i], 1e-6);
    EXPECT_EQ(coarse.axes[0].coordinates, (std::vector<double>{3.25, 4.25}));
    EXPECT_EQ(coarse.axes[1].lower, -0.5);
    EXPECT_TRUE(coarse.axes[1].wall_upper);
  }
}

TEST(Coarsen, the_box_filter_keeps_the_mean_over_the_domain) {
  const auto function = [](double t, double z, double x) {
    return std::exp(z) * std::sin(two_pi * x / 4 + t) + z * z;
  };
  const auto block = block_of({frames(4, 0, 1), chebyshev(32), uniform(16, 0, 4, true)}, function);
  const auto mean = [](const FieldBlock& one) {
    double sum = 0, weights = 0;
    std::size_t i = 0;
    const auto widths = [](const BlockAxis& axis) {
      return axis.widths.empty() ? cell_widths(axis) : axis.widths;
    };
    const auto w_t = widths(one.axes[0]), w_z = widths(one.axes[1]), w_x = widths(one.axes[2]);
    for (const double t : w_t)
      for (const double z : w_z)
        for (const double x : w_x) {
          sum += t * z * x * one.values[i++];
          weights += t * z * x;
        }
    return std::pair{sum / weights, weights};
  };
  const auto [fine, volume] = mean(block);
  const auto [coarse, coarse_volume] = mean(coarsen(BlockView(block), {{2, 8, 4}, {box, box, box}}));
  EXPECT_NEAR(volume, 4.0 * 1 * 4, 1e-12);
  EXPECT_NEAR(coarse_volume, volume, 1e-12);
  EXPECT_NEAR(coarse, fine, 1e-6);
}

TEST(Coarsen, the_reference_takes_every_fifth_frame_of_sixteen) {
  const auto block = block_of({frames(16, 0, 1), uniform(16, 0, 16, false), uniform(8, 0, 8, true)},
                              [](double t, double z, double x) { return 100 * t + (z - 0.5) + 0.01 * x; });
  const auto coarse = coarsen_as_reference(BlockView(block), {4, 8, 4});
  EXPECT_EQ(coarse.axes[0].coordinates, (std::vector<double>{0, 5, 10, 15}));
  ASSERT_EQ(coarse.values.size(), 4u * 2 * 2);
  EXPECT_FLOAT_EQ(coarse.values[0], 0);
  EXPECT_FLOAT_EQ(coarse.values[1], 0.07F);
  EXPECT_FLOAT_EQ(coarse.values[2], 15);
  EXPECT_FLOAT_EQ(coarse.values[4 * 1 + 3], 500 + 15.07F);
}

TEST(Coarsen, grids_that_the_factor_does_not_divide_are_refused) {
  const auto block = block_of({frames(4, 0, 1), uniform(6, 0, 1, false), uniform(8, 0, 1, true)}, linear);
  EXPECT_EQ(message_of<InputError>([&] {
              (void)coarsen(BlockView(block), {{1, 4, 1}, {}});
            }),
            "6 points along the second of three axes cannot be made 4 times fewer: choose a number that the "
            "factor divides");
  EXPECT_TRUE(contains(message_of<InputError>([&] {
                         (void)coarsen_as_reference(BlockView(block), {4, 2, 2});
                       }),
                       "needs 2 nodes"));
}

TEST(Interpolate, linear_fields_are_reproduced_up_to_the_walls) {
  const auto block = block_of({frames(5, 3, 0.25), chebyshev(9), uniform(7, -1, 4, false)}, linear);
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> t(3, 4), z(-0.5, 0.5), x(-1, 4);
  std::vector<double> points{3, -0.5, -1, 4, 0.5, 4};  // corners: beyond the last points
  for (int i = 0; i < 200; ++i) points.insert(points.end(), {t(generator), z(generator), x(generator)});
  std::vector<float> values(points.size() / 3);

  interpolate(BlockView(block), points, values);

  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], linear(points[3 * i], points[3 * i + 1], points[3 * i + 2]), 3e-6);
}

TEST(Interpolate, a_periodic_axis_wraps_and_a_grid_of_points_is_the_same_as_its_points) {
  const auto function = [](double t, double z, double x) {
    return (1 + t) * (2 + z) * std::cos(two_pi * x / 4);
  };
  const auto block = block_of({frames(3, 0, 1), chebyshev(6), uniform(8, 0, 4, true)}, function);
  const BlockAxes axes{frames(5, 0.1, 0.3), uniform(4, -0.4, 0.3, false), uniform(11, 0.2, 4.2, true)};
  auto shifted = axes;
  for (double& x : shifted[2].coordinates) x += 4 * 3;
  std::vector<double> points;
  for (const double t : axes[0].coordinates)
    for (const double z : axes[1].coordinates)
      for (const double x : axes[2].coordinates) points.insert(points.end(), {t, z, x - 8});
  std::vector<float> values(points.size() / 3);

  interpolate(BlockView(block), points, values);
  const auto grid = interpolate(BlockView(block), axes), far = interpolate(BlockView(block), shifted);

  ASSERT_EQ(grid.values.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(grid.values[i], values[i], 1e-5);
    EXPECT_NEAR(far.values[i], values[i], 1e-5);
  }
  // Between the last point and the first one's image: half of each.
  std::vector<float> between(1);
  interpolate(BlockView(block), std::vector<double>{0, block.axes[1].coordinates[2], 3.75}, between);
  const double z = block.axes[1].coordinates[2];
  EXPECT_NEAR(between[0], 0.5 * (function(0, z, 3.5) + function(0, z, 0)), 1e-6);
}

TEST(Interpolate, cubics_are_reproduced_at_any_spacing_and_lines_beyond_the_last_points) {
  const auto cubic = [](double t, double z, double x) {
    return 1 + t * t * t - 2 * t * z * z + 3 * z * z * z * x - 0.1 * x * x * x;
  };
  for (const int n : {4, 9}) {
    const auto block = block_of({frames(n, 0, 1.0 / n), chebyshev(n), uniform(n, -1, 4, false)}, cubic);
    const auto& axes = block.axes;
    std::mt19937 generator(7);
    std::uniform_real_distribution<double> u(0, 1);
    std::vector<double> points;
    for (int i = 0; i < 200; ++i)
      for (const auto& axis : axes)
        points.push_back(axis.coordinates.front() +
                         u(generator) * (axis.coordinates.back() - axis.coordinates.front()));
    std::vector<float> values(points.size() / 3);
    interpolate_by_cubics(BlockView(block), points, values);
    for (std::size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(values[i], cubic(points[3 * i], points[3 * i + 1], points[3 * i + 2]), 1e-5);
  }
  const auto block = block_of({frames(5, 3, 0.25), chebyshev(9), uniform(7, -1, 4, false)}, linear);
  std::vector<float> corners(2);
  interpolate_by_cubics(BlockView(block), std::vector<double>{3, -0.5, -1, 4, 0.5, 4}, corners);
  EXPECT_NEAR(corners[0], linear(3, -0.5, -1), 3e-6);
  EXPECT_NEAR(corners[1], linear(4, 0.5, 4), 3e-6);
}

TEST(Interpolate, cubics_wrap_round_a_period_and_err_with_the_fourth_power_of_the_spacing) {
  const auto wave = [](double, double, double x) { return std::sin(two_pi * x / 4 + 0.3); };
  const auto error_of = [&](int n) {
    const auto block = block_of({frames(1, 0, 1), uniform(4, 0, 1, false), uniform(n, 0, 4, true)}, wave);
    double worst = 0;
    for (int i = 0; i < 97; ++i) {
      const double x = -2 + 8.0 * i / 97;
      std::vector<float> value(1);
      interpolate_by_cubics(BlockView(block), std::vector<double>{0, 0.5, x}, value);
      worst = std::max(worst, std::abs(value[0] - wave(0, 0, x)));
    }
    return worst;
  };
  EXPECT_NEAR(std::log2(error_of(12) / error_of(24)), 4, 0.3);
}

TEST(Interpolate, the_error_of_a_smooth_field_falls_with_the_square_of_the_spacing) {
  const auto function = [](double t, double z, double x) {
    return std::sin(t) * std::cos(two_pi * z) * std::sin(two_pi * x);
  };
  std::vector<double> errors;
  for (const int n : {16, 32, 64}) {
    const auto block =
        block_of({frames(n + 1, 0, 2.0 / n), uniform(n, -0.5, 0.5, false), uniform(n, 0, 1, true)}, function);
    std::mt19937 generator(3);
    std::uniform_real_distribution<double> t(0, 2), z(-0.45, 0.45), x(0, 1);
    std::vector<double> points;
    for (int i = 0; i < 3000; ++i) points.insert(points.end(), {t(generator), z(generator), x(generator)});
    std::vector<float> values(points.size() / 3);
    interpolate(BlockView(block), points, values);
    double error = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      error = std::max(error,
                       std::abs(values[i] - function(points[3 * i], points[3 * i + 1], points[3 * i + 2])));
    errors.push_back(error);
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.25);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.15);
}

TEST(Interpolate, points_outside_are_refused) {
  const auto block = block_of({frames(3, 0, 1), chebyshev(6), uniform(8, 0, 4, true)}, linear);
  std::vector<float> value(1);
  const auto refused = [&](double t, double z, double x) {
    return message_of<InputError>([&] {
      interpolate(BlockView(block), std::vector<double>{t, z, x}, value);
    });
  };
  EXPECT_EQ(refused(1, 0.6, 0), "a point at 0.6 lies outside the block, which reaches from -0.5 to 0.5");
  EXPECT_TRUE(contains(refused(2.1, 0, 0), "a point at 2.1 lies outside the block"));
  EXPECT_TRUE(contains(refused(std::nan(""), 0, 0), "a point at nan lies outside the block"));
  EXPECT_TRUE(contains(refused(1, 0, std::nan("")), "a point at nan lies outside the block"));
  EXPECT_EQ(refused(2, 0.5, 4), "");
}

}  // namespace
}  // namespace quintet::flow
