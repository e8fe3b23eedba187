#include "surrogates/potential/evaluation/model_ensemble.hpp"

#include <cmath>

#include <gtest/gtest.h>

namespace quintet::potential {
namespace {

/// Forces of one model on one atom.
Vectors forces(double x, double y, double z) {
  Vectors view("forces", 1);
  view(0, 0) = x;
  view(0, 1) = y;
  view(0, 2) = z;
  return view;
}

double deviation(const std::vector<Vectors>& models, const std::optional<double>& relative = {}) {
  Array<double> values("values", 1);
  force_deviation(Exec(), models, 1, relative, values);
  Exec().fence();
  return values(0);
}

TEST(ForceDeviation, of_two_models_is_half_their_distance) {
  EXPECT_NEAR(deviation({forces(1, 0, 0), forces(4, 4, 0)}), 2.5, 1e-15);
}

TEST(ForceDeviation, divides_by_the_number_of_models) {
  EXPECT_NEAR(deviation({forces(0, 0, 0), forces(0, 0, 3), forces(0, 0, 6)}), std::sqrt(6.0), 1e-15);
}

TEST(ForceDeviation, relative_to_the_mean_force_and_a_level) {
  EXPECT_NEAR(deviation({forces(0, 3, 4), forces(0, 3, 6)}, 0.5), 1 / (std::sqrt(34.0) + 0.5), 1e-15);
  EXPECT_NEAR(deviation({forces(-1, 0, 0), forces(1, 0, 0)}, 0.5), 2, 1e-15);
}

TEST(ForceDeviation, of_equal_models_is_zero) {
  EXPECT_EQ(deviation({forces(1, 2, 3), forces(1, 2, 3), forces(1, 2, 3), forces(1, 2, 3)}), 0);
}

TEST(VirialDeviation, is_per_atom_and_over_nine_components) {
  Mat3 a{}, b{};
  b[0] = 20;
  b[4] = 8;
  const auto [most, least, mean] = virial_deviation({a, b}, 10, {});

  EXPECT_NEAR(most, 1, 1e-15);
  EXPECT_EQ(least, 0);
  EXPECT_NEAR(mean, std::sqrt((1 + 0.16) / 9), 1e-15);
}

TEST(VirialDeviation, relative_to_its_mean_and_a_level) {
  Mat3 a{}, b{};
  a[8] = -10;
  b[8] = -30;
  EXPECT_NEAR(virial_deviation({a, b}, 10, 0.5)[0], 1 / 2.5, 1e-15);
}

}  // namespace
}  // namespace quintet::potential
