#include "physics/kinetics/fields/poisson.hpp"

#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/fields/charge_energy.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "tests/support/field_space.hpp"

using namespace quintet;
using namespace quintet::kinetics;
using fields::FieldSpace;
using fields::Point;
using Wall = PoissonOptions::Wall;

namespace {

constexpr double pi = std::numbers::pi;

/// A potential and the charge that makes it: phi = prod_d g_d(x_d), on [0, 1]^dim.
struct Manufactured {
  PoissonOptions options;
  std::vector<Wall> lower, upper;
  fields::Function phi, charge;
};

/// g, g'' of one direction, by its walls: periodic, and the mixed ones with values 0.
double shape(Wall lower, Wall upper, int derivative, double x) {
  const double k = lower == Wall::periodic ? 2 * pi : lower == upper ? pi : 0.5 * pi;
  const double factor = derivative == 2 ? -k * k : 1;
  if (lower == Wall::periodic) return factor * std::sin(k * x + 0.4);
  if (lower == Wall::dirichlet) return factor * std::sin(k * x);  // upper: dirichlet or neumann
  return factor * std::cos(k * x);                                // neumann below
}

Manufactured manufacture(const std::vector<Wall>& lower, const std::vector<Wall>& upper) {
  Manufactured result;
  result.lower = lower;
  result.upper = upper;
  result.options.epsilon0 = 2.5;
  for (std::size_t d = 0; d < lower.size(); ++d) result.options.boundary[d] = {lower[d], upper[d]};
  result.phi = [=](const Point& x) {
    double product = 1;
    for (std::size_t d = 0; d < lower.size(); ++d) product *= shape(lower[d], upper[d], 0, x[d]);
    return product;
  };
  result.charge = [=](const Point& x) {
    double laplace = 0;
    for (std::size_t e = 0; e < lower.size(); ++e) {
      double product = 1;
      for (std::size_t d = 0; d < lower.size(); ++d)
        product *= shape(lower[d], upper[d], d == e ? 2 : 0, x[d]);
      laplace += product;
    }
    return -2.5 * laplace;
  };
  return result;
}

FieldSpace make_space(const Manufactured& problem, int n, int order, Family family) {
  const std::size_t dim = problem.lower.size();
  auto grid = fields::make_grid(std::vector<int>(dim, n), std::vector<double>(dim, 1.0), false);
  for (std::size_t d = 0; d < dim; ++d) grid.periodic[d] = problem.lower[d] == Wall::periodic;
  if (dim > 1) grid.cells[1] += 1;  // not the same in all directions
  return FieldSpace(Comm::self(), grid, order, family);
}

double solution_error(const Manufactured& problem, int n, int order, Family family) {
  const auto space = make_space(problem, n, order, family);
  const auto charge = space.make(1), potential = space.make(1);
  space.project(problem.charge, charge, 0);
  Poisson poisson(space.decomposition, space.grid, space.basis, problem.options);
  poisson.solve(Exec(), charge, potential);
  return space.error(potential, 0, problem.phi);
}

void expect_order(const Manufactured& problem, int n, int order, Family family, const std::string& what) {
  const double coarse = solution_error(problem, n, order, family);
  const double fine = solution_error(problem, 2 * n, order, family);
  EXPECT_GT(std::log2(coarse / fine), order + 1 - 0.2)
      << what << ", order " << order << ": " << coarse << " and " << fine;
  EXPECT_LT(coarse, 0.2) << what;
}

}  // namespace

TEST(Poisson, converges_with_order_p_plus_1_between_all_kinds_of_walls) {
  const auto D = Wall::dirichlet, N = Wall::neumann, P = Wall::periodic;
  for (int order = 1; order <= 3; ++order)
    for (const auto& [lower, upper] : {std::pair{P, P}, {D, D}, {D, N}, {N, D}, {N, N}})
      expect_order(manufacture({lower}, {upper}), 8, order, Family::serendipity,
                   "1-D, walls " + std::to_string(int(lower)) + std::to_string(int(upper)));
}

TEST(Poisson, converges_in_two_and_three_dimensions) {
  const auto D = Wall::dirichlet, N = Wall::neumann, P = Wall::periodic;
  for (const auto family : {Family::serendipity, Family::tensor})
    for (int order = 1; order <= 3; ++order) {
      expect_order(manufacture({P, P}, {P, P}), 6, order, family, "periodic, " + name(family));
      expect_order(manufacture({D, N}, {D, D}), 6, order, family, "walls, " + name(family));
      expect_order(manufacture({P, D}, {P, D}), 6, order, family, "channel, " + name(family));
    }
  expect_order(manufacture({P, D, N}, {P, D, N}), 6, 1, Family::serendipity, "3-D");
  expect_order(manufacture({P, P, P}, {P, P, P}), 4, 2, Family::serendipity, "3-D periodic");
}

TEST(Poisson, takes_the_values_of_the_walls) {
  // phi = 1 + 2 x - x^2/2 with phi(0) = 1, phi'(1) = 1 and -epsilon0 phi'' = epsilon0: in the space for p = 2
  auto problem = manufacture({Wall::dirichlet}, {Wall::neumann});
  problem.options.value[0] = {1, 1};
  problem.charge = [](const Point&) { return 2.5; };
  problem.phi = [](const Point& x) { return 1 + 2 * x[0] - 0.5 * x[0] * x[0]; };

  EXPECT_LT(solution_error(problem, 5, 2, Family::serendipity), 1e-13);

  // phi = x^2 - 1/3 of mean 0 between neumann walls whose field lines end on all of the charge
  auto floating = manufacture({Wall::neumann}, {Wall::neumann});
  floating.options.value[0] = {0, 2};
  floating.charge = [](const Point&) { return -5.0; };
  floating.phi = [](const Point& x) { return x[0] * x[0] - 1 / 3.0; };
  EXPECT_LT(solution_error(floating, 5, 2, Family::serendipity), 1e-13);
  floating.charge = [](const Point&) { return 0.0; };  // or on a background that neutralises them
  EXPECT_LT(solution_error(floating, 5, 2, Family::serendipity), 1e-13);

  // two walls at 1 and 3, across a periodic direction
  auto plates = manufacture({Wall::dirichlet, Wall::periodic}, {Wall::dirichlet, Wall::periodic});
  plates.options.value[0] = {1, 3};
  plates.charge = [](const Point&) { return 0.0; };
  plates.phi = [](const Point& x) { return 1 + 2 * x[0]; };
  for (const auto family : {Family::serendipity, Family::tensor})
    for (int order = 1; order <= 3; ++order) EXPECT_LT(solution_error(plates, 4, order, family), 1e-13);
}

TEST(Poisson, gives_a_continuous_potential_and_its_exact_gradient) {
  for (const auto family : {Family::serendipity, Family::tensor})
    for (int order = 1; order <= 3; ++order) {
      const auto problem = manufacture({Wall::periodic, Wall::periodic}, {Wall::periodic, Wall::periodic});
      const auto space = make_space(problem, 5, order, family);
      const auto charge = space.make(1), potential = space.make(1), field = space.make(8);
      fields::fill_random(space, charge, 3);
      Poisson poisson(space.decomposition, space.grid, space.basis, problem.options);
      poisson.solve(Exec(), charge, potential);
      poisson.electric_field(Exec(), potential, field);

      double largest = 0, jump = 0, slope = 0;
      for (int cell = 0; cell < space.block.n_conf(); ++cell) {
        auto next = space.block.conf_index(cell);
        next[0] = (next[0] + 1) % space.grid.cells[0];
        for (const double eta : {-0.9, -0.3, 0.5, 1.0}) {
          const double here = space.value(potential, cell, 0, {1, eta, 0});
          largest = std::max(largest, std::abs(here));
          jump = std::max(
              jump, std::abs(here - space.value(potential, space.block.conf_number(next), 0, {-1, eta, 0})));
          double gradient = 0;
          for (int i = 0; i < space.basis.size(); ++i)
            gradient += potential(cell, 0, i) * space.basis.derivative(i, 1, Point{0.2, eta, 0}) /
                        space.half_width(1);
          slope = std::max(slope, std::abs(gradient + space.value(field, cell, 1, {0.2, eta, 0})));
        }
      }
      EXPECT_GT(largest, 1e-4);
      EXPECT_LT(jump, 1e-13 * largest);
      EXPECT_LT(slope, 1e-12 * largest * space.grid.cells[1]);
      EXPECT_EQ(field(3, field_phi, 1), potential(3, 0, 1));
    }
}

TEST(Poisson, drops_a_uniform_charge_where_nothing_holds_the_potential) {
  for (const auto wall : {Wall::periodic, Wall::neumann}) {
    const auto problem = manufacture({wall}, {wall});
    const auto space = make_space(problem, 7, 2, Family::serendipity);
    const auto charge = space.make(1), more = space.make(1), potential = space.make(1), same = space.make(1);
    space.project(problem.charge, charge, 0);
    space.project([&](const Point& x) { return problem.charge(x) + 12.5; }, more, 0);
    Poisson poisson(space.decomposition, space.grid, space.basis, problem.options);

    poisson.solve(Exec(), charge, potential);
    poisson.solve(Exec(), more, same);

    double mean = 0;
    for (int cell = 0; cell < 7; ++cell) {
      mean += potential(cell, 0, 0);
      for (int i = 0; i < 3; ++i) EXPECT_NEAR(potential(cell, 0, i), same(cell, 0, i), 1e-13);
    }
    EXPECT_NEAR(mean, 0, 1e-13);
  }
}

TEST(Poisson, says_what_is_wrong_with_its_walls_and_its_memory) {
  auto problem = manufacture({Wall::periodic}, {Wall::periodic});
  const auto space = make_space(problem, 4, 1, Family::serendipity);
  problem.options.boundary[0][1] = Wall::dirichlet;
  EXPECT_THROW(Poisson(space.decomposition, space.grid, space.basis, problem.options), InputError);

  const auto box = manufacture({Wall::dirichlet, Wall::dirichlet, Wall::dirichlet},
                               {Wall::dirichlet, Wall::dirichlet, Wall::dirichlet});
  const auto large = make_space(box, 1000, 1, Family::serendipity);  // 1e9 unknowns, 1e6 diagonals: 8 PB
  EXPECT_THROW(Poisson(large.decomposition, large.grid, large.basis, box.options), ResourceError);
}

TEST(ChargeEnergy, is_that_of_the_field_of_a_wave) {
  // rho = a cos(k x) cos(q y) makes U = a^2/(8 epsilon0 (k^2 + q^2)) V; cell means are sinc(k dx/2) of it.
  const int n_x = 12, n_y = 9;
  for (const bool periodic : {true, false}) {
    const double l_x = 3, l_y = 2, a = 0.7, epsilon0 = 2.5;
    const double k = (periodic ? 4 : 2) * pi / l_x, q = (periodic ? 2 : 3) * pi / l_y;
    const auto sinc = [](double z) { return std::sin(z) / z; };
    const double shrunk = a * sinc(0.5 * k * l_x / n_x) * sinc(0.5 * q * l_y / n_y);
    std::vector<double> means;
    for (int i = 0; i < n_x; ++i)
      for (int j = 0; j < n_y; ++j)
        means.push_back(0.3 +
                        shrunk * std::cos(k * (i + 0.5) * l_x / n_x) * std::cos(q * (j + 0.5) * l_y / n_y));
    const ChargeBox box{{n_x, n_y, 1}, {l_x, l_y, 1}, {periodic, periodic, true}, epsilon0};
    const double expected = shrunk * shrunk * l_x * l_y / (8 * epsilon0 * (k * k + q * q));
    EXPECT_NEAR(charge_field(box, means).energy, expected, 1e-12 * expected) << periodic;
  }
}

TEST(ChargeEnergy, of_a_uniform_charge_is_none_and_of_any_other_some) {
  std::vector<double> means(7, 1.5);
  const ChargeBox box{{7, 1, 1}, {1, 1, 1}, {true, true, true}, 1};
  EXPECT_NEAR(charge_field(box, means).energy, 0, 1e-28);
  means[3] += 1;
  EXPECT_GT(charge_field(box, means).energy, 0);
}
