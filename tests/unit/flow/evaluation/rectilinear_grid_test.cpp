#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "evaluation_support.hpp"
#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

TEST(RectilinearGrid, derivatives_are_exact_for_polynomials_of_degree_4_up_to_the_walls) {
  for (const auto& z : {clustered("z", 12), chebyshev("z", 9)}) {
    const RectilinearGrid grid({z, clustered("x", 10, 1.2)});
    const auto f =
        sampled(grid, [](double z, double x) { return std::pow(z, 4) - z * z * x + 3 * std::pow(x, 4) - x; });
    EXPECT_LT(
        greatest_difference(grid.derivative(f, 0, 1),
                            sampled(grid, [](double z, double x) { return 4 * z * z * z - 2 * z * x; })),
        1e-11);
    EXPECT_LT(greatest_difference(grid.derivative(f, 0, 2),
                                  sampled(grid, [](double z, double x) { return 12 * z * z - 2 * x; })),
              1e-9);
    EXPECT_LT(
        greatest_difference(grid.derivative(f, 1, 1),
                            sampled(grid, [](double z, double x) { return 12 * x * x * x - 1 - z * z; })),
        1e-11);
    EXPECT_LT(greatest_difference(grid.derivative(f, 1, 2),
                                  sampled(grid, [](double, double x) { return 36 * x * x; })),
              1e-9);
  }
}

TEST(RectilinearGrid, ends_are_reached_with_and_without_a_value_known_there) {
  const RectilinearGrid grid({clustered("z", 12), ring("x", 4, 2)});
  const auto f =
      sampled(grid, [](double z, double x) { return std::pow(z - 0.5, 4) + std::cos(std::numbers::pi * x); });
  const auto value = grid.at_end(f, 0, 1, 0), slope = grid.at_end(f, 0, 0, 1);
  for (int j = 0; j < 4; ++j) {
    EXPECT_NEAR(value[j], std::cos(std::numbers::pi * 0.5 * j), 1e-12);
    EXPECT_NEAR(slope[j], -4, 1e-10);
  }
  // A value that is known replaces a point: z^5 is beyond the rules, but its error falls with the value at
  // the wall.
  const auto steep = sampled(grid, [](double z, double) { return std::pow(z + 0.5, 5); });
  const double without = grid.at_end(steep, 0, 1, 1)[0],
               with = grid.at_end(steep, 0, 1, 1, {{std::nullopt, 1.0}})[0];
  EXPECT_LT(std::abs(with - 5), 0.3 * std::abs(without - 5));
}

/// Error of the second derivative of sin(3 z + 1) at n points.
double second_derivative_error(const FieldAxis& z) {
  const RectilinearGrid grid({z, ring("x", 4, 1)});
  const auto f = sampled(grid, [](double z, double) { return std::sin(3 * z + 1); });
  return greatest_difference(grid.derivative(f, 0, 2),
                             sampled(grid, [](double z, double) { return -9 * std::sin(3 * z + 1); }));
}

TEST(RectilinearGrid,
     second_derivatives_converge_at_third_order_at_least_on_a_clustered_grid_and_at_its_walls) {
  const double coarse = second_derivative_error(clustered("z", 24)),
               fine = second_derivative_error(clustered("z", 48));
  EXPECT_GT(std::log2(coarse / fine), 2.7);
}

TEST(RectilinearGrid, derivatives_converge_at_fourth_order_on_a_ring_across_its_seam) {
  double error[2];
  for (const int k : {0, 1}) {
    const RectilinearGrid grid({ring("x", 16 << k, 3), clustered("z", 4)});
    const auto f =
        sampled(grid, [](double x, double) { return std::sin(2 * std::numbers::pi / 3 * x + 0.4); });
    error[k] =
        greatest_difference(grid.derivative(f, 0, 1), sampled(grid, [](double x, double) {
                              return 2 * std::numbers::pi / 3 * std::cos(2 * std::numbers::pi / 3 * x + 0.4);
                            }));
  }
  EXPECT_NEAR(std::log2(error[0] / error[1]), 4, 0.1);
}

TEST(RectilinearGrid, means_are_exact_for_cubics_from_wall_to_wall_with_positive_weights) {
  for (const auto& z : {clustered("z", 12), clustered("z", 33, 2.5), chebyshev("z", 24)}) {
    const RectilinearGrid grid({z, ring("x", 6, 2)});
    EXPECT_NEAR(grid.mean(sampled(grid, [](double z, double) { return 1 + z * z * z + 12 * z * z; })), 2,
                1e-13);
    EXPECT_GT(*std::min_element(grid.weights(0).begin(), grid.weights(0).end()), 0);
  }
}

TEST(RectilinearGrid, weights_are_equal_on_a_ring_and_positive_for_wild_spacing) {
  for (const double weight : mean_weights(ring("x", 5, 3))) EXPECT_NEAR(weight, 0.2, 1e-14);
  const FieldAxis wild{"z", "1", {0.001, 0.9, 0.901, 0.902, 0.9021}, false, 0, 1};
  const auto weights = mean_weights(wild);
  EXPECT_NEAR(std::accumulate(weights.begin(), weights.end(), 0.0), 1, 1e-14);
  for (const double weight : weights) EXPECT_GT(weight, 0);
  FieldAxis loop = wild;
  loop.periodic = true;
  const auto around = mean_weights(loop);
  EXPECT_NEAR(std::accumulate(around.begin(), around.end(), 0.0), 1, 1e-14);
}

TEST(RectilinearGrid, too_few_points_are_refused) {
  EXPECT_THROW(RectilinearGrid({clustered("z", 2), ring("x", 8, 1)}), InputError);
  EXPECT_THROW(RectilinearGrid({ring("x", 8, 1)}), InputError);
}

}  // namespace
}  // namespace quintet::flow
