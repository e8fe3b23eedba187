#include "physics/kinetics/initial/projection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {
namespace {

PhaseGrid small_grid(int cdim, int vdim) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    const std::size_t i = d;
    grid.lower[i] = -1 - 0.25 * d;
    grid.upper[i] = 2 + 0.5 * d;
    grid.cells[i] = d % 2 == 0 ? 2 : 3;
  }
  return grid;
}

PhaseBlock whole(const PhaseGrid& grid) { return Decomposition(Comm::self(), grid, {}).block(grid); }

/// A function of the whole domain that is in the basis: sum over its modes, each direction scaled to the
/// domain.
struct Polynomial {
  PhaseGrid grid;
  const PhaseBasis& basis;

  double operator()(std::span<const double> z) const {
    double sum = 0;
    for (int i = 0; i < basis.size(); ++i) {
      double product = std::cos(1.0 + i);
      for (std::size_t d = 0; d < z.size(); ++d)
        product *= std::pow((z[d] - grid.lower[d]) / (grid.upper[d] - grid.lower[d]), basis.mode(i)[d]);
      sum += product;
    }
    return sum;
  }
};

double value_at(const PhaseBasis& basis, const Distribution& f, int conf, int row, int last,
                std::span<const double> xi) {
  double sum = 0;
  for (int i = 0; i < basis.size(); ++i) sum += f.at(conf, row, last, i) * basis.value(i, xi);
  return sum;
}

using Case = std::tuple<int, int, int, Family>;
class Projection : public ::testing::TestWithParam<Case> {};

TEST_P(Projection, keeps_every_polynomial_of_the_basis) {
  const auto [cdim, vdim, order, family] = GetParam();
  const PhaseBasis basis(cdim, vdim, order, family);
  const PhaseGrid grid = small_grid(cdim, vdim);
  const PhaseBlock block = whole(grid);
  const Polynomial polynomial{grid, basis};
  Distribution f("f", block, basis.size());

  project_phase(basis, polynomial, f, "f");

  double worst = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last) {
        std::array<double, 6> xi{}, z{};
        const auto x = block.conf_index(conf), v = block.row_index(row);
        for (int d = 0; d < grid.dim(); ++d) {
          const std::size_t i = d;
          const int cell = d < cdim ? x[i] : (d == grid.dim() - 1 ? last : v[i - cdim]);
          xi[i] = std::sin(1.0 + 5 * d + conf + row + last);
          z[i] = grid.centre(d, cell) + 0.5 * grid.width(d) * xi[i];
        }
        const std::span<const double> point(z.data(), static_cast<std::size_t>(grid.dim()));
        worst = std::max(worst, std::abs(value_at(basis, f, conf, row, last, xi) - polynomial(point)));
      }
  EXPECT_LT(worst, 1e-12 * basis.size());
}

INSTANTIATE_TEST_SUITE_P(Kinetics, Projection,
                         ::testing::Values(Case{1, 1, 1, Family::serendipity},
                                           Case{1, 1, 2, Family::serendipity},
                                           Case{1, 1, 3, Family::serendipity}, Case{1, 1, 3, Family::tensor},
                                           Case{1, 1, 1, Family::hybrid}, Case{1, 2, 2, Family::tensor},
                                           Case{1, 2, 1, Family::hybrid}, Case{2, 2, 2, Family::serendipity},
                                           Case{2, 2, 1, Family::hybrid}));

TEST(ProjectConf, fills_one_component_and_leaves_the_others) {
  const PhaseGrid grid = small_grid(2, 2);
  const PhaseBlock block = whole(grid);
  const Basis conf(2, 2, Family::tensor);
  ConfField field("field", static_cast<std::size_t>(block.n_conf()), 3,
                  static_cast<std::size_t>(conf.size()));

  project_conf(
      block, conf, [](std::span<const double> x) { return x[0] * x[0] - 2 * x[1]; }, field, 1, "n");

  const std::array<double, 2> xi{0.3, -0.8};
  for (int cell = 0; cell < block.n_conf(); ++cell) {
    const auto index = block.conf_index(cell);
    const double x = grid.centre(0, index[0]) + 0.5 * grid.width(0) * xi[0];
    const double y = grid.centre(1, index[1]) + 0.5 * grid.width(1) * xi[1];
    double value = 0;
    for (int i = 0; i < conf.size(); ++i) {
      value += field(cell, 1, i) * conf.value(i, xi);
      EXPECT_EQ(field(cell, 0, i), 0);
      EXPECT_EQ(field(cell, 2, i), 0);
    }
    EXPECT_NEAR(value, x * x - 2 * y, 1e-13);
  }
}

TEST(ProjectConf, more_nodes_come_closer_to_the_exact_projection) {
  const PhaseGrid grid = small_grid(1, 1);
  const PhaseBlock block = whole(grid);
  const Basis conf(1, 1, Family::serendipity);
  ConfField field("field", static_cast<std::size_t>(block.n_conf()), 2, 2);
  const auto function = [](std::span<const double> x) { return std::exp(x[0]); };

  project_conf(block, conf, function, field, 0, "n");
  project_conf(block, conf, function, field, 1, "n", 8);

  const double a = grid.lower[0], b = a + grid.width(0);
  const double exact = std::sqrt(2.0) / grid.width(0) * (std::exp(b) - std::exp(a));
  EXPECT_NEAR(field(0, 1, 0), exact, 1e-14);
  EXPECT_GT(std::abs(field(0, 0, 0) - exact), 1e-5);
}

TEST(ProjectPhase, a_function_that_is_not_finite_is_told_with_its_place) {
  const PhaseGrid grid = small_grid(1, 1);
  const PhaseBasis basis(1, 1, 1, Family::serendipity);
  Distribution f("f", whole(grid), basis.size());
  try {
    project_phase(
        basis, [](std::span<const double> z) { return std::sqrt(z[1]); }, f, "species.ions.f");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find("species.ions.f is nan at x = (-0.683013), v = (-"), 0U)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("expected a finite number"), std::string::npos);
  }
}

TEST(GaussRule, integrates_polynomials_of_degree_2n_minus_1) {
  for (int n = 1; n <= 32; ++n) {
    const GaussRule& rule = gauss_rule(n);
    ASSERT_EQ(rule.node.size(), static_cast<std::size_t>(n));
    for (int power = 0; power < 2 * n; ++power) {
      double sum = 0;
      for (std::size_t q = 0; q < rule.node.size(); ++q)
        sum += rule.weight[q] * std::pow(rule.node[q], power);
      EXPECT_NEAR(sum, power % 2 == 0 ? 2.0 / (power + 1) : 0.0, 1e-13) << n << " nodes, x^" << power;
    }
  }
  EXPECT_THROW(static_cast<void>(gauss_rule(33)), InputError);
  EXPECT_THROW(static_cast<void>(gauss_rule(0)), InputError);
}

}  // namespace
}  // namespace quintet::kinetics
