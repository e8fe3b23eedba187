#include "physics/kinetics/fields/maxwell.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/field_space.hpp"

using namespace quintet;
using namespace quintet::kinetics;
using fields::FieldSpace;
using fields::Point;

namespace {

constexpr double chi_e = 0.7, chi_m = 1.3, epsilon0 = 0.5, mu0 = 0.125;  // c = 4

MaxwellOptions make_options(bool upwind, FieldBoundary boundary = FieldBoundary::periodic) {
  MaxwellOptions options;
  options.epsilon0 = epsilon0;
  options.mu0 = mu0;
  options.electric_cleaning = chi_e;
  options.magnetic_cleaning = chi_m;
  options.upwind = upwind;
  for (auto& ends : options.boundary) ends = {boundary, boundary};
  return options;
}

FieldSpace random_space(int dim, int order, Family family, bool periodic) {
  const std::vector<int> cells{5, 4, 3};
  const std::vector<double> upper{1.0, 1.3, 0.7};
  return FieldSpace(
      Comm::self(),
      fields::make_grid({cells.begin(), cells.begin() + dim}, {upper.begin(), upper.begin() + dim}, periodic),
      order, family);
}

/// The right-hand side without current and charge.
ConfField rate_of(const FieldSpace& space, const MaxwellOptions& options, const ConfField& field) {
  const auto rate = space.make(8), current = space.make(3), charge = space.make(1);
  Maxwell maxwell(space.decomposition, space.grid, space.basis, options);
  maxwell.hold_boundary(Exec(), field);
  maxwell.rate(Exec(), field, current, charge, rate);
  return rate;
}

/// d/dt of int (E^2 + c^2 B^2 + c^2 phi^2 + psi^2)/2 over the cells' own scale: {sum, sum of magnitudes}.
std::pair<double, double> energy_rate(const ConfField& field, const ConfField& rate, double c) {
  const double weight[n_field] = {1, 1, 1, c * c, c * c, c * c, c * c, 1};
  double sum = 0, magnitude = 0;
  for (std::size_t cell = 0; cell < field.extent(0); ++cell)
    for (std::size_t q = 0; q < n_field; ++q)
      for (std::size_t i = 0; i < field.extent(2); ++i) {
        const double term = weight[q] * field(cell, q, i) * rate(cell, q, i);
        sum += term;
        magnitude += std::abs(term);
      }
  return {sum, magnitude};
}

template <class Check>
void for_all_spaces(bool periodic, const Check& check) {
  for (const auto family : {Family::serendipity, Family::tensor})
    for (int dim = 1; dim <= 3; ++dim)
      for (int order = 1; order <= (dim == 3 ? 2 : 3); ++order)
        check(random_space(dim, order, family, periodic));
}

}  // namespace

TEST(Maxwell, central_flux_conserves_energy_to_round_off) {
  for (const bool periodic : {true, false})
    for_all_spaces(periodic, [&](const FieldSpace& space) {
      const auto field = space.make(8);
      fields::fill_random(space, field, 7);
      const auto options = make_options(false, periodic ? FieldBoundary::periodic : FieldBoundary::conductor);
      const auto [sum, magnitude] = energy_rate(field, rate_of(space, options, field), 4);
      EXPECT_GT(magnitude, 10);
      EXPECT_LT(std::abs(sum), 1e-13 * magnitude) << space.basis.dim() << "-D, order " << space.basis.order();
    });
}

TEST(Maxwell, upwind_flux_and_open_ends_lose_energy) {
  for_all_spaces(true, [&](const FieldSpace& space) {
    const auto field = space.make(8);
    fields::fill_random(space, field, 7);
    const auto [sum, magnitude] = energy_rate(field, rate_of(space, make_options(true), field), 4);
    EXPECT_LT(sum, -0.05 * magnitude);
  });
}

TEST(Maxwell, derivatives_are_those_of_the_equations) {
  // Periodic and smooth: the rate of a fine grid's projection is the right-hand side, sources included.
  const double k = 2 * std::numbers::pi, c2 = 16;
  auto grid = fields::make_grid({12, 12}, {1, 1}, true);
  const FieldSpace space(Comm::self(), grid, 3, Family::tensor);
  const auto field = space.make(8), current = space.make(3), charge = space.make(1), rate = space.make(8);
  // U_q = sin(k x + q) cos(k y - q)
  const auto f = [k](int q, int nx, int ny, const Point& x) {  // nx, ny: derivatives
    return std::pow(k, nx + ny) * std::sin(k * x[0] + q + nx * std::numbers::pi / 2) *
           std::cos(k * x[1] - q + ny * std::numbers::pi / 2);
  };
  for (int q = 0; q < n_field; ++q) space.project([&](const Point& x) { return f(q, 0, 0, x); }, field, q);
  for (int l = 0; l < 3; ++l) space.project([&](const Point& x) { return f(10 + l, 0, 0, x); }, current, l);
  space.project([&](const Point& x) { return f(20, 0, 0, x); }, charge, 0);
  const auto dx = [&](int q, const Point& x) { return f(q, 1, 0, x); };
  const auto dy = [&](int q, const Point& x) { return f(q, 0, 1, x); };
  const auto j = [&](int l, const Point& x) { return f(10 + l, 0, 0, x) / epsilon0; };
  const std::array<fields::Function, n_field> expected{
      [&](const Point& x) { return c2 * dy(field_bz, x) - j(0, x) - chi_e * c2 * dx(field_phi, x); },
      [&](const Point& x) { return -c2 * dx(field_bz, x) - j(1, x) - chi_e * c2 * dy(field_phi, x); },
      [&](const Point& x) { return c2 * (dx(field_by, x) - dy(field_bx, x)) - j(2, x); },
      [&](const Point& x) { return -dy(field_ez, x) - chi_m * dx(field_psi, x); },
      [&](const Point& x) { return dx(field_ez, x) - chi_m * dy(field_psi, x); },
      [&](const Point& x) { return -dx(field_ey, x) + dy(field_ex, x); },
      [&](const Point& x) { return chi_e * (f(20, 0, 0, x) / epsilon0 - dx(field_ex, x) - dy(field_ey, x)); },
      [&](const Point& x) { return -chi_m * c2 * (dx(field_bx, x) + dy(field_by, x)); }};

  for (const bool upwind : {false, true}) {
    Maxwell maxwell(space.decomposition, grid, space.basis, make_options(upwind));
    maxwell.rate(Exec(), field, current, charge, rate);
    for (int q = 0; q < n_field; ++q) {
      const double size = space.error(rate, q, [](const Point&) { return 0.0; });
      EXPECT_LT(space.error(rate, q, expected[q]), 1e-2 * size) << "component " << q;
    }
  }
}

TEST(Maxwell, a_uniform_field_stays_between_open_and_fixed_ends) {
  for (const auto boundary : {FieldBoundary::open, FieldBoundary::fixed})
    for (const bool upwind : {false, true})
      for_all_spaces(false, [&](const FieldSpace& space) {
        const auto field = space.make(8);
        for (int q = 0; q < n_field; ++q) space.project([q](const Point&) { return 1.0 + q; }, field, q);
        const auto rate = rate_of(space, make_options(upwind, boundary), field);
        for (int q = 0; q < n_field; ++q)
          EXPECT_LT(space.error(rate, q, [](const Point&) { return 0.0; }), 1e-10);
      });
}

TEST(Maxwell, a_linear_field_does_not_notice_fixed_ends) {
  // E = x y^: B_z changes at -1 everywhere, if what stays outside is the trace on the wall.
  const auto space = random_space(1, 1, Family::serendipity, false);
  const auto field = space.make(8);
  space.project([](const Point& x) { return x[0]; }, field, field_ey);
  for (const bool upwind : {false, true}) {
    const auto rate = rate_of(space, make_options(upwind, FieldBoundary::fixed), field);
    EXPECT_LT(space.error(rate, field_bz, [](const Point&) { return -1.0; }), 1e-12);
    EXPECT_LT(space.error(rate, field_ey, [](const Point&) { return 0.0; }), 1e-12);
  }
}

TEST(Maxwell, the_speed_of_light_is_a_matter_of_units) {
  // With (E, c B, c phi, psi) for unknowns all waves are those of c = 1, c times as fast.
  const double c = 4, weight[n_field] = {1, 1, 1, c, c, c, c, 1};
  for (const auto boundary : {FieldBoundary::conductor, FieldBoundary::open})
    for (const bool upwind : {false, true})
      for_all_spaces(false, [&](const FieldSpace& space) {
        const auto field = space.make(8), scaled = space.make(8);
        fields::fill_random(space, field, 17);
        auto options = make_options(upwind, boundary);
        const auto rate = rate_of(space, options, field);
        options.epsilon0 = options.mu0 = 1;
        for (std::size_t cell = 0; cell < field.extent(0); ++cell)
          for (std::size_t q = 0; q < n_field; ++q)
            for (std::size_t i = 0; i < field.extent(2); ++i) {
              scaled(cell, q, i) = weight[q] * field(cell, q, i);
              rate(cell, q, i) *= weight[q] / c;
            }

        EXPECT_LT(fields::difference(space, rate, space, rate_of(space, options, scaled)), 1e-10);
      });
}

TEST(Maxwell, without_cleaning_the_potentials_do_nothing) {
  for_all_spaces(true, [&](const FieldSpace& space) {
    for (const bool upwind : {false, true}) {
      auto options = make_options(upwind);
      options.electric_cleaning = options.magnetic_cleaning = 0;
      const auto field = space.make(8), other = space.make(8);
      fields::fill_random(space, field, 7);
      Kokkos::deep_copy(other, field);
      for (std::size_t cell = 0; cell < field.extent(0); ++cell) other(cell, field_phi, 1) = 100;
      const auto rate = rate_of(space, options, field), same = rate_of(space, options, other);
      for (int q : {field_phi, field_psi})
        EXPECT_EQ(space.error(rate, q, [](const Point&) { return 0.0; }), 0.0);
      EXPECT_EQ(fields::difference(space, rate, space, same), 0.0);
    }
  });
}

TEST(Maxwell, has_the_symmetries_of_space) {
  // (x, y, z) -> (y, z, x): components, modes and cells turn alike.
  auto grid = fields::make_grid({4, 4, 4}, {1, 1, 1}, true);
  for (const auto family : {Family::serendipity, Family::tensor})
    for (const bool upwind : {false, true}) {
      const FieldSpace space(Comm::self(), grid, 2, family);
      const auto turned_view = [&](const ConfField& field) {
        const auto result = space.make(8);
        const int to[n_field] = {1, 2, 0, 4, 5, 3, 6, 7};
        for (int cell = 0; cell < space.block.n_conf(); ++cell)
          for (int i = 0; i < space.basis.size(); ++i) {
            const auto at = space.block.conf_index(cell);
            const auto mode = space.basis.mode(i);
            for (int q = 0; q < n_field; ++q)
              result(space.block.conf_number({at[2], at[0], at[1]}), to[q],
                     space.basis.find({mode[2], mode[0], mode[1], 0, 0, 0})) = field(cell, q, i);
          }
        return result;
      };
      const auto field = space.make(8);
      fields::fill_random(space, field, 11);
      const auto options = make_options(upwind);

      const auto turned_rate = turned_view(rate_of(space, options, field));
      const auto rate_of_turned = rate_of(space, options, turned_view(field));

      EXPECT_LT(fields::difference(space, turned_rate, space, rate_of_turned), 1e-10);
    }
}

TEST(Maxwell, is_mirrored_by_exchanging_x_and_y) {
  // E is a vector; B and psi change sign beside: the mirror image of a current's field.
  auto grid = fields::make_grid({5, 5}, {1, 1}, false);
  for (const auto boundary : {FieldBoundary::conductor, FieldBoundary::open})
    for (const bool upwind : {false, true}) {
      const FieldSpace space(Comm::self(), grid, 2, Family::serendipity);
      const auto mirrored = [&](const ConfField& field) {
        const auto result = space.make(8);
        const int to[n_field] = {1, 0, 2, 4, 3, 5, 6, 7};
        const double sign[n_field] = {1, 1, 1, -1, -1, -1, 1, -1};
        for (int cell = 0; cell < space.block.n_conf(); ++cell)
          for (int i = 0; i < space.basis.size(); ++i) {
            const auto at = space.block.conf_index(cell);
            const auto mode = space.basis.mode(i);
            for (int q = 0; q < n_field; ++q)
              result(space.block.conf_number({at[1], at[0], 0}), to[q],
                     space.basis.find({mode[1], mode[0], 0, 0, 0, 0})) = sign[q] * field(cell, q, i);
          }
        return result;
      };
      const auto field = space.make(8);
      fields::fill_random(space, field, 13);
      const auto options = make_options(upwind, boundary);

      EXPECT_LT(fields::difference(space, mirrored(rate_of(space, options, field)), space,
                                   rate_of(space, options, mirrored(field))),
                1e-10);
    }
}

TEST(Maxwell, integrates_squares_and_says_its_fastest_rate) {
  auto grid = fields::make_grid({6, 5}, {2, 3}, true);
  const FieldSpace space(Comm::self(), grid, 2, Family::serendipity);
  const auto field = space.make(8);
  space.project([](const Point&) { return 3.0; }, field, field_by);
  space.project([](const Point& x) { return x[0]; }, field, field_ez);
  Maxwell maxwell(space.decomposition, grid, space.basis, make_options(false));

  const auto integrals = maxwell.integrals(Exec(), field);

  EXPECT_NEAR(integrals[field_by], 9 * 6, 1e-12);
  EXPECT_NEAR(integrals[field_ez], 8, 1e-12);
  EXPECT_EQ(integrals[field_ex], 0);
  EXPECT_NEAR(maxwell.frequency(), 4 * chi_m * (3 + 5 / 3.0), 1e-12);
}

TEST(Maxwell, says_what_is_wrong_with_its_options) {
  const auto space = random_space(1, 1, Family::serendipity, false);
  const auto make = [&](const MaxwellOptions& options) {
    Maxwell(space.decomposition, space.grid, space.basis, options);
  };
  EXPECT_NO_THROW(make(make_options(false, FieldBoundary::open)));
  EXPECT_THROW(make(make_options(false, FieldBoundary::periodic)), InputError);
  auto options = make_options(false, FieldBoundary::open);
  options.epsilon0 = 0;
  EXPECT_THROW(make(options), InputError);
  options.epsilon0 = 1;
  options.magnetic_cleaning = -1;
  EXPECT_THROW(make(options), InputError);
}
