#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <ostream>
#include <random>
#include <vector>

#include "physics/kinetics/basis/recovery.hpp"
#include "physics/kinetics/moments/moments.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

struct Case {
  int cdim, vdim, order;
  Family family;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.cdim << "x" << c.vdim << "v_" << name(c.family) << c.order;
}

/// Five Gauss nodes: exact to degree 9.
constexpr double nodes[] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831,
                            0.9061798459386640};
constexpr double node_weights[] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889,
                                   0.4786286704993665, 0.2369268850561891};

PhaseBlock odd_block(int cdim, int vdim) {
  PhaseBlock block;
  block.grid.cdim = cdim;
  block.grid.vdim = vdim;
  const std::array<int, 3> velocity_cells{3, 2, 11};
  for (int d = 0; d < cdim + vdim; ++d) {
    const std::size_t i = d;
    block.grid.lower[i] = -1.3 + 0.2 * d;
    block.grid.upper[i] = 1.7 + 0.1 * d;
    block.grid.cells[i] = d < cdim ? 2 : velocity_cells[d - cdim + 3 - vdim];
    block.extent[i] = block.grid.cells[i];
  }
  return block;
}

Distribution random_distribution(const PhaseBlock& block, int n_modes) {
  Distribution f("f", block, n_modes);
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last)
        for (int m = 0; m < n_modes; ++m) f.at(conf, row, last, m) = uniform(random);
  return f;
}

/// Visit all velocity nodes of a cell: (xi of v, v, weight including (dv/2)^vdim).
void for_each_node(
    const PhaseBlock& block, int row, int last,
    const std::function<void(const std::array<double, 3>&, const std::array<double, 3>&, double)>& visit) {
  const int vdim = block.grid.vdim;
  auto index = block.row_index(row);
  index[vdim - 1] = last;
  int n = 1;
  for (int d = 0; d < vdim; ++d) n *= 5;
  for (int i = 0; i < n; ++i) {
    std::array<double, 3> xi{}, v{};
    double weight = 1;
    for (int d = 0, rest = i; d < vdim; ++d, rest /= 5) {
      const std::size_t k = d;
      const double half = 0.5 * block.grid.width(block.grid.cdim + d);
      xi[k] = nodes[rest % 5];
      v[k] = block.grid.centre(block.grid.cdim + d, index[k]) + half * xi[k];
      weight *= node_weights[rest % 5] * half;
    }
    visit(xi, v, weight);
  }
}

/// int g(v) f dv of configuration cell `conf`, by quadrature, for each configuration mode.
std::vector<double> quadrature(const PhaseBasis& basis, const Distribution& f, int conf,
                               const std::function<double(const std::array<double, 3>&)>& g) {
  std::vector<double> sum(basis.conf().size());
  const auto& block = f.block;
  for (int row = 0; row < block.n_rows(); ++row)
    for (int last = 0; last < block.n_last(); ++last)
      for_each_node(block, row, last, [&](const auto& xi, const auto& v, double weight) {
        for (int q = 0; q < basis.n_groups(); ++q) {
          double value = weight * g(v);
          for (int d = 0; d < basis.vdim(); ++d) value *= legendre(basis.group(q)[d], xi[d]);
          for (int a = 0; a < basis.n_conf(q); ++a)
            sum[a] += value * f.at(conf, row, last, basis.offset(q) + a);
        }
      });
  return sum;
}

class Moments : public testing::TestWithParam<Case> {
 protected:
  PhaseBasis basis{GetParam().cdim, GetParam().vdim, GetParam().order, GetParam().family};
  Distribution f = random_distribution(odd_block(basis.cdim(), basis.vdim()), basis.size());

  void expect_equal(Moment moment, int component,
                    const std::function<double(const std::array<double, 3>&)>& g) {
    const int n = n_components(moment, basis.vdim());
    ConfField out("out", static_cast<std::size_t>(f.block.n_conf()), static_cast<std::size_t>(n + 1),
                  static_cast<std::size_t>(basis.conf().size()));
    moments(Exec(), basis, f, moment, out, 1);

    for (int conf = 0; conf < f.block.n_conf(); conf += 3) {
      const auto expected = quadrature(basis, f, conf, g);
      for (int a = 0; a < basis.conf().size(); ++a)
        EXPECT_NEAR(out(conf, 1 + component, a), expected[a], 1e-12) << "mode " << a;
    }
  }
};

double square(const std::array<double, 3>& v) { return v[0] * v[0] + v[1] * v[1] + v[2] * v[2]; }

}  // namespace

TEST_P(Moments, equal_quadrature_of_high_order) {
  expect_equal(Moment::m0, 0, [](const auto&) { return 1.0; });
  expect_equal(Moment::m2, 0, [](const auto& v) { return square(v); });
  int ij = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(basis.vdim()); ++i) {
    expect_equal(Moment::m1, i, [i](const auto& v) { return v[i]; });
    expect_equal(Moment::m3, i, [i](const auto& v) { return square(v) * v[i]; });
    for (std::size_t j = i; j < static_cast<std::size_t>(basis.vdim()); ++j, ++ij)
      expect_equal(Moment::m2_tensor, ij, [i, j](const auto& v) { return v[i] * v[j]; });
  }
}

TEST_P(Moments, integrals_name_the_least_cell) {
  f.at(1, f.block.n_rows() - 1, f.block.n_last() - 2, 0) = -5;

  const auto sums = phase_integrals(Exec(), basis, f);

  const double volume = f.block.grid.conf_cell_volume() * f.block.grid.mean_velocity_cell_volume();
  double particles = 0, l2 = 0;
  for (int conf = 0; conf < f.block.n_conf(); ++conf)
    for (int row = 0; row < f.block.n_rows(); ++row)
      for (int last = 0; last < f.block.n_last(); ++last) {
        particles += f.at(conf, row, last, 0) * volume * std::pow(0.5, 0.5 * basis.dim());
        for (int m = 0; m < basis.size(); ++m)
          l2 += std::pow(f.at(conf, row, last, m), 2) * volume * std::pow(0.5, basis.dim());
      }
  EXPECT_NEAR(sums.particles, particles, 1e-11 * volume * f.block.n_cells());
  EXPECT_NEAR(sums.l2, l2, 1e-12 * l2);
  EXPECT_DOUBLE_EQ(sums.least_mean, -5 * std::pow(0.5, 0.5 * basis.dim()));
  EXPECT_EQ(sums.least_conf, 1);
  EXPECT_EQ(sums.least_row, f.block.n_rows() - 1);
  EXPECT_EQ(sums.least_last, f.block.n_last() - 2);
}

INSTANTIATE_TEST_SUITE_P(all_bases, Moments,
                         testing::Values(Case{1, 1, 1, Family::serendipity},
                                         Case{1, 1, 2, Family::serendipity},
                                         Case{1, 1, 3, Family::serendipity}, Case{1, 1, 3, Family::tensor},
                                         Case{1, 1, 1, Family::hybrid}, Case{1, 2, 2, Family::serendipity},
                                         Case{1, 2, 3, Family::serendipity}, Case{1, 2, 2, Family::tensor},
                                         Case{1, 3, 2, Family::serendipity}, Case{1, 3, 1, Family::hybrid},
                                         Case{2, 2, 2, Family::serendipity}, Case{2, 2, 2, Family::tensor},
                                         Case{2, 2, 1, Family::hybrid}, Case{2, 3, 1, Family::tensor},
                                         Case{2, 3, 2, Family::serendipity}),
                         testing::PrintToStringParamName());

TEST(Recovery, between_cells_of_any_widths_is_exact_too) {
  for (const auto& [lower, upper] : {std::pair{0.3, 0.3}, std::pair{0.2, 0.7}, std::pair{1.5, 0.5}})
    for (int n = 1; n <= 4; ++n) {
      const auto r = recovery(n, lower, upper);
      for (int power = 0; power < std::min(2 * n, 7); ++power) {  // five nodes are exact to degree 9
        // f = (v + 0.3)^power, v = 0 at the face.
        double value = 0, slope = 0;
        for (int k = 0; k < n; ++k)
          for (int q = 0; q < 5; ++q) {
            const double w = node_weights[q] * legendre(k, nodes[q]);
            const double left = w * std::pow(lower * (nodes[q] - 1) + 0.3, power),
                         right = w * std::pow(upper * (nodes[q] + 1) + 0.3, power);
            value += r.value[0][k] * left + r.value[1][k] * right;
            slope += r.slope[0][k] * left + r.slope[1][k] * right;
          }
        EXPECT_NEAR(value, std::pow(0.3, power), 1e-12) << n << ' ' << power;
        EXPECT_NEAR(slope, power == 0 ? 0 : power * std::pow(0.3, power - 1), 1e-11) << n << ' ' << power;
      }
      for (int k = 0; k < n && lower == upper; ++k) {
        const double sign = k % 2 == 0 ? 1 : -1;
        EXPECT_NEAR(r.value[1][k], sign * recoveries[n].value[k], 1e-13);
        EXPECT_NEAR(r.slope[1][k] * upper, -sign * recoveries[n].slope[k], 1e-13);
      }
    }
}

TEST(Recovery, is_exact_for_polynomials_of_the_degree_it_can_hold) {
  for (int n = 1; n <= 4; ++n) {
    const auto r = recovery(n);
    for (int power = 0; power < std::min(2 * n, 7); ++power) {  // five nodes are exact to degree 9
      // f = (zeta + 0.3)^power, zeta = 0 at the face; left cell: zeta = xi - 1, right cell: zeta = xi + 1.
      double value = 0, slope = 0;
      for (int k = 0; k < n; ++k)
        for (int q = 0; q < 5; ++q) {
          const double w = node_weights[q] * legendre(k, nodes[q]), sign = k % 2 == 0 ? 1 : -1;
          const double left = w * std::pow(nodes[q] - 0.7, power),
                       right = w * std::pow(nodes[q] + 1.3, power);
          value += r.value[k] * (left + sign * right);
          slope += r.slope[k] * (left - sign * right);
        }
      EXPECT_NEAR(value, std::pow(0.3, power), 1e-12) << n << ' ' << power;
      EXPECT_NEAR(slope, power == 0 ? 0 : power * std::pow(0.3, power - 1), 1e-12) << n << ' ' << power;
    }
  }
}
