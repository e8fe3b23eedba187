#include "physics/kinetics/basis/banded_solver.hpp"

#include <random>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

using namespace quintet;
using namespace quintet::kinetics;

TEST(BandedCholesky, solves_what_was_multiplied) {
  for (const auto& [n, width] : {std::pair{1, 0}, {5, 0}, {9, 2}, {40, 7}, {6, 5}, {6, 20}}) {
    BandedCholesky matrix(n, width);
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<double> x(n), product(x.size());
    for (auto& value : x) value = uniform(random);
    for (int j = 0; j < n; ++j)
      for (int i = j; i < std::min(n, j + width + 1); ++i) {
        const double value = i == j ? 2 * width + 3 : uniform(random);
        matrix.add(i, j, value - 0.25);
        matrix.add(i, j, 0.25);
        product[i] += value * x[j];
        if (i != j) product[j] += value * x[i];
      }

    matrix.factorise();
    matrix.solve(product);

    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(product[i], x[i], 1e-14);
  }
}

TEST(BandedCholesky, refuses_a_matrix_that_is_not_positive_definite) {
  BandedCholesky matrix(3, 1);
  for (int i = 0; i < 3; ++i) matrix.add(i, i, 1);
  matrix.add(1, 0, 2);
  EXPECT_THROW(matrix.factorise(), NumericalError);
}
