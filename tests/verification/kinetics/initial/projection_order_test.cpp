#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <tuple>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"

namespace quintet::kinetics {
namespace {

double smooth(std::span<const double> z) {
  double product = 1;
  for (std::size_t d = 0; d < z.size(); ++d) product *= 1 + 0.5 * std::sin(z[d] + 0.3 * d);
  return product;
}

PhaseGrid cube(int cdim, int vdim, int cells) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  for (std::size_t d = 0; d < static_cast<std::size_t>(cdim + vdim); ++d) {
    grid.lower[d] = -1;
    grid.upper[d] = 1.5;
    grid.cells[d] = cells;
  }
  return grid;
}

/// Root of the mean square of f - smooth at 5 Gauss nodes a direction and cell.
double l2_error(const PhaseBasis& basis, const Distribution& f) {
  const PhaseBlock& block = f.block;
  const GaussRule& rule = gauss_rule(5);
  const std::size_t dim = basis.dim();
  int n_points = 1;
  for (std::size_t d = 0; d < dim; ++d) n_points *= 5;
  double sum = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last)
        for (int point = 0; point < n_points; ++point) {
          std::array<double, 6> xi{}, z{};
          const auto x = block.conf_index(conf), v = block.row_index(row);
          double weight = 1;
          for (std::size_t d = 0, rest = point; d < dim; ++d, rest /= 5) {
            const std::size_t cdim = basis.cdim();
            const int cell = d < cdim ? x[d] : (d + 1 == dim ? last : v[d - cdim]);
            xi[d] = rule.node[rest % 5];
            weight *= 0.5 * rule.weight[rest % 5];
            z[d] = block.grid.centre(d, cell) + 0.5 * block.grid.width(d) * xi[d];
          }
          double value = -smooth(std::span<const double>(z.data(), dim));
          for (int i = 0; i < basis.size(); ++i) value += f.at(conf, row, last, i) * basis.value(i, xi);
          sum += weight * value * value;
        }
  return std::sqrt(sum / block.n_cells());
}

double projection_error(const PhaseBasis& basis, int cells) {
  const PhaseGrid grid = cube(basis.cdim(), basis.vdim(), cells);
  Distribution f("f", Decomposition(Comm::self(), grid, {}).block(grid), basis.size());
  project_phase(basis, smooth, f, "f");
  return l2_error(basis, f);
}

using Case = std::tuple<int, int, int, Family>;
class ProjectionOrder : public ::testing::TestWithParam<Case> {};

TEST_P(ProjectionOrder, is_one_more_than_the_degree) {
  const auto [cdim, vdim, order, family] = GetParam();
  const PhaseBasis basis(cdim, vdim, order, family);
  const int coarse = basis.dim() == 2 ? 8 : 3;

  const double order_measured =
      std::log2(projection_error(basis, coarse) / projection_error(basis, 2 * coarse));

  EXPECT_NEAR(order_measured, order + 1, 0.15);
}

INSTANTIATE_TEST_SUITE_P(Kinetics, ProjectionOrder,
                         ::testing::Values(Case{1, 1, 1, Family::serendipity},
                                           Case{1, 1, 2, Family::serendipity},
                                           Case{1, 1, 3, Family::serendipity}, Case{1, 1, 1, Family::tensor},
                                           Case{1, 1, 2, Family::tensor}, Case{1, 1, 3, Family::tensor},
                                           Case{1, 1, 1, Family::hybrid}, Case{1, 2, 2, Family::serendipity},
                                           Case{1, 2, 3, Family::serendipity}, Case{1, 2, 1, Family::hybrid},
                                           Case{2, 2, 1, Family::serendipity}));

}  // namespace
}  // namespace quintet::kinetics
