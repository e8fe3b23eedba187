#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/moments/moments.hpp"

namespace quintet::kinetics {
namespace {

constexpr int n_cells = 5;

/// Component 0: near 2 + cell, others smaller: positive in the cell.
ConfField positive_field(const Basis& conf, int n_components) {
  ConfField field("field", n_cells, static_cast<std::size_t>(n_components),
                  static_cast<std::size_t>(conf.size()));
  for (int cell = 0; cell < n_cells; ++cell)
    for (int c = 0; c < n_components; ++c)
      for (int i = 0; i < conf.size(); ++i)
        field(cell, c, i) = i == 0 ? 3.0 + cell : 0.3 * std::sin(1.0 + i + 10 * c + 100 * cell) / conf.size();
  return field;
}

std::vector<Basis> bases() {
  std::vector<Basis> all;
  for (int order = 1; order <= 3; ++order) {
    all.emplace_back(1, order, Family::serendipity);
    all.emplace_back(2, order, Family::serendipity);
    all.emplace_back(2, order, Family::tensor);
  }
  all.emplace_back(2, 1, Family::hybrid);
  all.emplace_back(3, 1, Family::serendipity);
  all.emplace_back(3, 2, Family::tensor);
  return all;
}

/// int w_i a b dxi by Gauss quadrature in 1-D or 2-D.
double quadrature_of_product(const Basis& conf, int i, const ConfField& a, const ConfField& b, int cell) {
  const GaussRule& rule = gauss_rule(6);
  double sum = 0;
  for (std::size_t q = 0; q < 6; ++q)
    for (std::size_t r = 0; r < (conf.dim() > 1 ? 6 : 1); ++r) {
      const std::array<double, 2> xi{rule.node[q], rule.node[r]};
      double value_a = 0, value_b = 0;
      for (int k = 0; k < conf.size(); ++k) {
        value_a += a(cell, 0, k) * conf.value(k, xi);
        value_b += b(cell, 1, k) * conf.value(k, xi);
      }
      sum += rule.weight[q] * (conf.dim() > 1 ? rule.weight[r] : 1) * conf.value(i, xi) * value_a * value_b;
    }
  return sum;
}

TEST(WeakProduct, is_the_projection_of_the_product) {
  for (const Basis& conf : bases()) {
    if (conf.dim() > 2) continue;
    const ConfField a = positive_field(conf, 1), b = positive_field(conf, 2), c = positive_field(conf, 3);

    weak_multiply(Exec(), conf, a, 0, b, 1, c, 2);

    for (int cell = 0; cell < n_cells; ++cell)
      for (int i = 0; i < conf.size(); ++i)
        EXPECT_NEAR(c(cell, 2, i), quadrature_of_product(conf, i, a, b, cell), 1e-12)
            << conf.dim() << "-D, order " << conf.order() << ", " << name(conf.family());
  }
}

TEST(WeakProduct, may_overwrite_a_factor) {
  const Basis conf(2, 2, Family::serendipity);
  const ConfField a = positive_field(conf, 1), b = positive_field(conf, 1);
  const ConfField apart("apart", n_cells, 1, static_cast<std::size_t>(conf.size()));

  weak_multiply(Exec(), conf, a, 0, b, 0, apart, 0);
  weak_multiply(Exec(), conf, a, 0, b, 0, a, 0);

  for (int cell = 0; cell < n_cells; ++cell)
    for (int i = 0; i < conf.size(); ++i) EXPECT_EQ(a(cell, 0, i), apart(cell, 0, i));
}

TEST(WeakQuotient, inverts_the_product) {
  for (const Basis& conf : bases()) {
    const ConfField a = positive_field(conf, 2), b = positive_field(conf, 1);
    const ConfField product = positive_field(conf, 1), quotient = positive_field(conf, 1);

    weak_multiply(Exec(), conf, a, 1, b, 0, product, 0);
    weak_divide(Exec(), conf, product, 0, b, 0, quotient, 0);

    for (int cell = 0; cell < n_cells; ++cell)
      for (int i = 0; i < conf.size(); ++i)
        EXPECT_NEAR(quotient(cell, 0, i), a(cell, 1, i), 1e-12)
            << conf.dim() << "-D, order " << conf.order() << ", " << name(conf.family());
  }
}

TEST(WeakQuotient, a_denominator_that_vanishes_is_a_numerical_error) {
  const Basis conf(1, 2, Family::serendipity);
  const ConfField a = positive_field(conf, 1), zero = positive_field(conf, 1), nan = positive_field(conf, 1);
  for (int i = 0; i < conf.size(); ++i) zero(3, 0, i) = 0;
  nan(1, 0, 0) = std::numeric_limits<double>::quiet_NaN();

  try {
    weak_divide(Exec(), conf, a, 0, zero, 0, a, 0);
    FAIL() << "accepted";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("cell 3"), std::string::npos) << error.what();
  }
  EXPECT_THROW(weak_divide(Exec(), conf, a, 0, nan, 0, a, 0), NumericalError);
}

TEST(DenseLu, solves_with_a_zero_on_the_diagonal_and_refuses_what_is_singular) {
  std::vector<double> a{0, 2, 1, 1, 0, 0, 3, 1, 0}, b{7, 1, 5};  // x = 1, 2, 3
  int pivot[3];
  ASSERT_TRUE(lu_factorise(a.data(), pivot, 3));
  lu_solve(a.data(), pivot, b.data(), 3);
  EXPECT_NEAR(b[0], 1, 1e-15);
  EXPECT_NEAR(b[1], 2, 1e-15);
  EXPECT_NEAR(b[2], 3, 1e-15);

  std::vector<double> singular{1, 2, 2, 4};
  EXPECT_FALSE(lu_factorise(singular.data(), pivot, 2));
}

}  // namespace
}  // namespace quintet::kinetics
