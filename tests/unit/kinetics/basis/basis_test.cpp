#include "physics/kinetics/basis/basis.hpp"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/field_space.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

/// Largest |int w_i w_j - delta_ij| by Gauss quadrature with order + 1 points a direction (exact).
template <class AnyBasis>
double gram_error(const AnyBasis& basis, int degree) {
  const auto rule = fields::gauss(degree + 1);
  const std::size_t n = basis.size();
  std::vector<double> gram(n * n), values(n);
  std::vector<std::size_t> at(basis.dim());
  for (bool more = true; more;) {
    std::vector<double> xi;
    double weight = 1;
    for (const std::size_t i : at) {
      xi.push_back(rule.node[i]);
      weight *= rule.weight[i];
    }
    for (std::size_t i = 0; i < n; ++i) values[i] = basis.value(static_cast<int>(i), xi);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j <= i; ++j) gram[i * n + j] += weight * values[i] * values[j];
    more = false;
    for (auto& i : at) {
      if (++i < rule.node.size()) {
        more = true;
        break;
      }
      i = 0;
    }
  }
  double largest = 0;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) largest = std::max(largest, std::abs(gram[i * n + j] - (i == j)));
  return largest;
}

struct PhaseCase {
  int cdim, vdim, order;
  Family family;
  int size;
};

/// Sizes of the peer's bases and those of the definition.
const std::vector<PhaseCase> phase_cases{
    {1, 1, 1, Family::serendipity, 4},  {1, 1, 2, Family::serendipity, 8},
    {1, 1, 3, Family::serendipity, 12}, {1, 2, 2, Family::serendipity, 20},
    {1, 2, 3, Family::serendipity, 32}, {1, 3, 2, Family::serendipity, 48},
    {2, 2, 2, Family::serendipity, 48}, {2, 3, 2, Family::serendipity, 112},
    {3, 3, 1, Family::serendipity, 64}, {1, 1, 2, Family::tensor, 9},
    {1, 2, 3, Family::tensor, 64},      {2, 2, 2, Family::tensor, 81},
    {2, 3, 1, Family::tensor, 32},      {2, 3, 2, Family::tensor, 243},
    {3, 3, 1, Family::tensor, 64},      {1, 1, 1, Family::hybrid, 6},
    {1, 2, 1, Family::hybrid, 16},      {1, 3, 1, Family::hybrid, 40},
    {2, 2, 1, Family::hybrid, 32},      {2, 3, 1, Family::hybrid, 80}};

std::string describe(const PhaseCase& c) {
  return fmt::format("{}x{}v {} {}", c.cdim, c.vdim, name(c.family), c.order);
}

}  // namespace

TEST(Basis, is_orthonormal) {
  for (const auto family : {Family::serendipity, Family::tensor})
    for (int dim = 0; dim <= 3; ++dim)
      for (int order = 1; order <= 3; ++order)
        EXPECT_LT(gram_error(Basis(dim, order, family), order), 1e-12) << dim << name(family) << order;
}

TEST(Basis, has_the_sizes_of_its_definition) {
  const int serendipity[4][4] = {{1, 1, 1, 1}, {1, 2, 3, 4}, {1, 4, 8, 12}, {1, 8, 20, 32}};
  for (int dim = 0; dim <= 3; ++dim)
    for (int order = 1; order <= 3; ++order) {
      EXPECT_EQ(Basis(dim, order, Family::serendipity).size(), serendipity[dim][order]);
      EXPECT_EQ(Basis(dim, order, Family::tensor).size(), std::lround(std::pow(order + 1, dim)));
    }
}

TEST(Basis, has_the_order_of_gkeylls_files_in_one_and_two_dimensions) {
  const std::vector<MultiIndex> expected{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
  const Basis basis(2, 2, Family::serendipity);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(basis.mode(i), expected[i]);
    EXPECT_EQ(basis.find(expected[i]), static_cast<int>(i));
  }
  EXPECT_EQ(basis.find({2, 2}), -1);
}

TEST(Basis, derivatives_are_those_of_the_values) {
  const double h = 1e-5;
  const Basis basis(3, 3, Family::tensor);
  const std::array<double, 3> x{0.3, -0.55, 0.8};
  for (int i = 0; i < basis.size(); ++i)
    for (int d = 0; d < 3; ++d) {
      auto up = x, down = x;
      up[d] += h;
      down[d] -= h;
      EXPECT_NEAR(basis.derivative(i, d, x), (basis.value(i, up) - basis.value(i, down)) / (2 * h), 1e-7);
    }
}

TEST(PhaseBasis, is_orthonormal_and_of_the_peers_size) {
  for (const auto& c : phase_cases) {
    const PhaseBasis basis(c.cdim, c.vdim, c.order, c.family);
    EXPECT_EQ(basis.size(), c.size) << describe(c);
    EXPECT_LT(gram_error(basis, c.family == Family::hybrid ? 2 : c.order), 1e-12) << describe(c);
  }
}

TEST(PhaseBasis, holds_the_functions_of_the_family_in_all_directions) {
  for (const auto& c : phase_cases) {
    if (c.family == Family::hybrid) continue;
    const PhaseBasis basis(c.cdim, c.vdim, c.order, c.family);
    const int dim = c.cdim + c.vdim, n = c.order + 1;
    int n_members = 0;
    for (int number = 0; number < std::lround(std::pow(n, dim)); ++number) {
      MultiIndex mode{};
      int superlinear = 0;
      for (int d = 0, rest = number; d < dim; ++d, rest /= n) {
        mode[d] = rest % n;
        if (rest % n >= 2) superlinear += rest % n;
      }
      const bool is_member = c.family == Family::tensor || superlinear <= c.order;
      n_members += is_member;
      EXPECT_EQ(basis.find(mode) >= 0, is_member) << describe(c);
    }
    EXPECT_EQ(n_members, basis.size());
  }
}

TEST(PhaseBasis, is_a_list_of_groups_with_full_or_linear_configuration_modes) {
  for (const auto& c : phase_cases) {
    const PhaseBasis basis(c.cdim, c.vdim, c.order, c.family);
    int next = 0;
    for (int g = 0; g < basis.n_groups(); ++g) {
      ASSERT_EQ(basis.offset(g), next) << describe(c);
      EXPECT_EQ(basis.find_group(basis.group(g)), g);
      for (int a = 0; a < basis.n_conf(g); ++a) {
        const auto& mode = basis.mode(next + a);
        EXPECT_EQ(basis.find(mode), next + a);
        for (std::size_t d = 0; d < 6; ++d) {
          const std::size_t cdim = c.cdim;
          EXPECT_EQ(mode[d], d < cdim ? basis.conf().mode(a)[d] : basis.group(g)[d - cdim]);
          if (d < cdim && g >= basis.n_full_groups()) {
            EXPECT_LE(mode[d], 1) << describe(c);
          }
        }
      }
      EXPECT_EQ(basis.n_conf(g), g < basis.n_full_groups() ? basis.conf().size() : 1 << c.cdim);
      next += basis.n_conf(g);
    }
    EXPECT_EQ(next, basis.size());
    EXPECT_EQ(basis.group(0), MultiIndex{});
    EXPECT_EQ(basis.offset(basis.n_groups()), basis.size());
  }
}

TEST(PhaseBasis, knows_the_order_of_gkeylls_files) {
  const auto expect = [](const PhaseBasis& basis, const std::vector<MultiIndex>& theirs) {
    ASSERT_EQ(static_cast<std::size_t>(basis.size()), theirs.size());
    for (int i = 0; i < basis.size(); ++i) EXPECT_EQ(theirs[basis.gkeyll_order()[i]], basis.mode(i));
  };
  expect(PhaseBasis(1, 1, 2, Family::serendipity),
         {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}});
  expect(PhaseBasis(1, 1, 1, Family::hybrid), {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}});
  expect(PhaseBasis(1, 2, 2, Family::serendipity),
         {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1},
          {2, 0, 0}, {0, 2, 0}, {0, 0, 2}, {1, 1, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1},
          {0, 2, 1}, {1, 0, 2}, {0, 1, 2}, {2, 1, 1}, {1, 2, 1}, {1, 1, 2}});
  for (const auto& c : phase_cases) {
    const PhaseBasis basis(c.cdim, c.vdim, c.order, c.family);
    const std::set<int> places(basis.gkeyll_order().begin(), basis.gkeyll_order().end());
    EXPECT_EQ(places.size(), static_cast<std::size_t>(basis.size()));
    EXPECT_EQ(*places.rbegin(), basis.size() - 1);
  }
}

TEST(PhaseBasis, refuses_what_has_no_kernels_and_says_what_there_is) {
  for (const auto& [cdim, vdim, order, family] : {std::tuple{1, 1, 4, Family::serendipity},
                                                  {1, 1, 0, Family::tensor},
                                                  {2, 1, 1, Family::serendipity},
                                                  {2, 2, 3, Family::tensor},
                                                  {3, 3, 2, Family::serendipity},
                                                  {1, 1, 2, Family::hybrid},
                                                  {3, 3, 1, Family::hybrid},
                                                  {0, 1, 1, Family::tensor},
                                                  {1, 4, 1, Family::tensor},
                                                  {-5, 2, 1, Family::tensor},
                                                  {1, 1, -7, Family::serendipity}}) {
    try {
      PhaseBasis(cdim, vdim, order, family);
      FAIL() << cdim << vdim << order;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(PhaseBasis::supported()), std::string::npos) << error.what();
    }
  }
}
