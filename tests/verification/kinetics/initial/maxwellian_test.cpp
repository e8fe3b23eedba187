#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/legendre.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/moments/moments.hpp"

namespace quintet::kinetics {
namespace {

PhaseGrid make_grid(int cdim, int vdim, int conf_cells, int velocity_cells, double velocity_end) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    const bool of_x = d < cdim;
    grid.lower[d] = of_x ? 0 : -velocity_end;
    grid.upper[d] = of_x ? 2 + d : velocity_end + 0.3 * (d - cdim);
    grid.cells[d] = of_x ? conf_cells : velocity_cells;
    grid.periodic[d] = of_x;
  }
  return grid;
}

/// Strongly varying in x, another temperature in each direction.
MaxwellianProfile varied() {
  MaxwellianProfile profile;
  profile.density = [](std::span<const double> x) { return 1 + 0.5 * std::sin(2 * x[0]) + 0.1 * x.back(); };
  for (int d = 0; d < 3; ++d) {
    profile.drift[d] = [d](std::span<const double> x) { return 0.4 * std::cos(x[0] + d) - 0.1 * d; };
    profile.thermal_speed[d] = [d](std::span<const double> x) { return 1 + 0.2 * std::cos(x.back() - d); };
  }
  return profile;
}

/// int v^power phi_k dv in a velocity cell.
double velocity_integral(double centre, double width, int power, int k) {
  const GaussRule& rule = gauss_rule(4);
  double sum = 0;
  for (std::size_t q = 0; q < 4; ++q)
    sum += 0.5 * width * rule.weight[q] * std::pow(centre + 0.5 * width * rule.node[q], power) *
           legendre(k, rule.node[q]);
  return sum;
}

/// Coefficients [n_conf, n_conf_modes] of int v_d^power f dv over this rank's velocity cells.
std::vector<double> moment(const PhaseBasis& basis, const Distribution& f, int d, int power) {
  const PhaseBlock& block = f.block;
  const PhaseGrid& grid = block.grid;
  const int n_modes = basis.conf().size();
  std::vector<double> result(block.n_conf() * n_modes);
  for (int row = 0; row < block.n_rows(); ++row)
    for (int last = 0; last < block.n_last(); ++last) {
      auto j = block.row_index(row);
      j[basis.vdim() - 1] = last;
      for (int g = 0; g < basis.n_groups(); ++g) {
        double weight = 1;
        for (int e = 0; e < basis.vdim(); ++e) {
          const int direction = basis.cdim() + e;
          weight *= velocity_integral(grid.centre(direction, block.begin[direction] + j[e]),
                                      grid.width(direction), e == d ? power : 0, basis.group(g)[e]);
        }
        if (std::abs(weight) < 1e-15) continue;
        for (int conf = 0; conf < block.n_conf(); ++conf)
          for (int a = 0; a < basis.n_conf(g); ++a)
            result[conf * n_modes + a] += weight * f.at(conf, row, last, basis.offset(g) + a);
      }
    }
  return result;
}

/// Moments less what they should be; compared with one sum over the ranks, since ranks may share a core.
class MomentErrors {
 public:
  MomentErrors(const Decomposition& decomposition, const PhaseBasis& basis, const Distribution& f)
      : decomposition_(decomposition), basis_(basis), f_(f) {}

  MomentErrors& add(int d, int power, const PointFunction& expected) {
    ConfField field("expected", f_.block.n_conf(), 1, basis_.conf().size());
    project_conf(f_.block, basis_.conf(), expected, field, 0, "expected");
    const double share = decomposition_.velocity_comm().is_root() ? 1 : 0;
    const auto values = moment(basis_, f_, d, power);
    for (std::size_t i = 0; i < values.size(); ++i) errors_.push_back(values[i] - share * field.data()[i]);
    return *this;
  }
  /// Collective.
  [[nodiscard]] double greatest() const {
    auto sums = errors_;
    decomposition_.velocity_comm().reduce(std::span(sums), Comm::Reduction::sum);
    double worst = 0;
    for (const double error : sums) worst = std::max(worst, std::abs(error));
    return decomposition_.comm().maximum(worst);
  }

 private:
  const Decomposition& decomposition_;
  const PhaseBasis& basis_;
  const Distribution& f_;
  std::vector<double> errors_;
};

/// Greatest error of M0 and of M1 and M2 of each direction.
double moments_error(const Decomposition& decomposition, const PhaseBasis& basis,
                     const MaxwellianProfile& profile, const Distribution& f) {
  MomentErrors errors(decomposition, basis, f);
  errors.add(0, 0, profile.density);
  for (int d = 0; d < basis.vdim(); ++d) {
    const auto drift = [&](auto x) { return profile.drift[d] ? profile.drift[d](x) : 0; };
    errors.add(d, 1, [&](auto x) { return profile.density(x) * drift(x); });
    errors.add(d, 2, [&](auto x) {
      const double t = profile.thermal_speed[d](x);
      return profile.density(x) * (drift(x) * drift(x) + t * t);
    });
  }
  return errors.greatest();
}

/// All ranks along one direction.
std::array<int, 6> split(int direction, int n) {
  std::array<int, 6> ranks{1, 1, 1, 1, 1, 1};
  ranks[direction] = n;
  return ranks;
}

using Case = std::tuple<int, int, int, Family>;
class Maxwellian : public ::testing::TestWithParam<Case> {};

TEST_P(Maxwellian, moments_are_exact_on_coarse_velocity_cells_in_every_split) {
  const auto [cdim, vdim, order, family] = GetParam();
  const PhaseBasis basis(cdim, vdim, order, family);
  const PhaseGrid grid = make_grid(cdim, vdim, 3, basis.dim() > 4 ? 6 : 9, 6.5);  // dv > 1.2 thermal speeds
  const Comm comm = Comm::world();

  for (const int direction : {0, cdim, basis.dim() - 1}) {
    const Decomposition decomposition(comm, grid, split(direction, comm.size()));
    Distribution f("f", decomposition.block(grid), basis.size());
    add_maxwellian(decomposition, basis, varied(), true, f, "ions");
    const double error = moments_error(decomposition, basis, varied(), f);
    EXPECT_LT(error, 2e-13) << "split along " << direction;
  }
}

TEST_P(Maxwellian, moments_are_not_exact_without_the_correction) {
  const auto [cdim, vdim, order, family] = GetParam();
  const PhaseBasis basis(cdim, vdim, order, family);
  const PhaseGrid grid = make_grid(cdim, vdim, 3, basis.dim() > 4 ? 5 : 7, 6.5);
  const Decomposition decomposition(Comm::world(), grid, split(cdim, Comm::world().size()));
  Distribution f("f", decomposition.block(grid), basis.size());

  add_maxwellian(decomposition, basis, varied(), false, f, "ions");

  EXPECT_GT(moments_error(decomposition, basis, varied(), f), 1e-6);
}

/// Coefficients of component `component` of a moment, as the solver takes it.
std::vector<double> solver_moment(const PhaseBasis& basis, const Distribution& f, Moment kind,
                                  int component) {
  const int n_modes = basis.conf().size();
  ConfField field("moment", f.block.n_conf(), n_components(kind, basis.vdim()), n_modes);
  moments(Exec(), basis, f, kind, field);
  std::vector<double> result;
  for (int conf = 0; conf < f.block.n_conf(); ++conf)
    for (int a = 0; a < n_modes; ++a) result.push_back(field(conf, component, a));
  return result;
}

double greatest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST_P(Maxwellian, moments_are_those_that_the_solver_takes) {
  const auto [cdim, vdim, order, family] = GetParam();
  const PhaseBasis basis(cdim, vdim, order, family);
  const PhaseGrid grid = make_grid(cdim, vdim, 3, basis.dim() > 4 ? 5 : 7, 6.5);
  const Decomposition decomposition(Comm::world(), grid, split(basis.dim() - 1, Comm::world().size()));
  Distribution f("f", decomposition.block(grid), basis.size());
  add_maxwellian(decomposition, basis, varied(), true, f, "ions");

  EXPECT_LT(greatest_difference(solver_moment(basis, f, Moment::m0, 0), moment(basis, f, 0, 0)), 1e-13);
  for (int d = 0, diagonal = 0; d < vdim; diagonal += vdim - d, ++d) {
    EXPECT_LT(greatest_difference(solver_moment(basis, f, Moment::m1, d), moment(basis, f, d, 1)), 1e-13);
    EXPECT_LT(
        greatest_difference(solver_moment(basis, f, Moment::m2_tensor, diagonal), moment(basis, f, d, 2)),
        1e-12);
  }
}

/// A Maxwellian of one temperature whose density vanishes in half of the domain, also inside of a cell.
TEST(MaxwellianOfAStep, has_exact_moments_and_is_zero_in_the_vacuum) {
  MaxwellianProfile profile;
  profile.density = [](std::span<const double> x) { return x[0] < 0.9 ? 1.0 : 0.0; };
  profile.thermal_speed = {[](auto) { return 0.8; }, [](auto) { return 0.5; }};
  for (const auto& [order, family] : {std::pair{1, Family::hybrid},
                                      {1, Family::serendipity},
                                      {2, Family::serendipity},
                                      {2, Family::tensor},
                                      {3, Family::serendipity}}) {
    const PhaseBasis basis(1, 2, order, family);
    const PhaseGrid grid = make_grid(1, 2, 4, 12, 4);
    const Decomposition decomposition(Comm::world(), grid, split(1, Comm::world().size()));
    Distribution f("f", decomposition.block(grid), basis.size());

    add_maxwellian(decomposition, basis, profile, true, f, "ions");

    EXPECT_LT(moments_error(decomposition, basis, profile, f), 2e-13) << order << name(family);
    for (int row = 0; row < f.block.n_rows(); ++row)
      for (int i = 0; i < basis.size(); ++i) EXPECT_EQ(f.at(3, row, 0, i), 0);
  }
}

/// Cells five times as wide as the thermal speed.
TEST(MaxwellianOnVeryCoarseCells, has_exact_moments_where_the_basis_holds_squares) {
  MaxwellianProfile profile = varied();
  for (auto& thermal_speed : profile.thermal_speed)
    thermal_speed = [](std::span<const double> x) { return 0.2 + 0.01 * x[0]; };
  for (const auto& [order, family] :
       {std::pair{1, Family::hybrid}, {2, Family::tensor}, {3, Family::tensor}}) {
    const PhaseBasis basis(1, 2, order, family);
    const PhaseGrid grid = make_grid(1, 2, 3, 8, 4);
    const Decomposition decomposition(Comm::world(), grid, split(2, Comm::world().size()));
    Distribution f("f", decomposition.block(grid), basis.size());

    add_maxwellian(decomposition, basis, profile, true, f, "ions");

    EXPECT_LT(moments_error(decomposition, basis, profile, f), 2e-13) << order << name(family);
  }
}

/// Two beams: the second is added to the first.
TEST(AddMaxwellian, is_added_to_what_is_there) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const PhaseGrid grid = make_grid(1, 1, 4, 16, 6);
  const Decomposition decomposition(Comm::world(), grid, split(1, Comm::world().size()));
  MaxwellianProfile beam;
  beam.density = [](auto) { return 0.5; };
  beam.thermal_speed[0] = [](auto) { return 0.8; };
  Distribution f("f", decomposition.block(grid), basis.size());

  for (const double drift : {1.0, -1.0}) {
    beam.drift[0] = [drift](auto) { return drift; };
    add_maxwellian(decomposition, basis, beam, true, f, "beam");
  }

  MomentErrors errors(decomposition, basis, f);
  errors.add(0, 0, [](auto) { return 1.0; }).add(0, 1, [](auto) { return 0.0; }).add(0, 2, [](auto) {
    return 1.64;
  });
  EXPECT_LT(errors.greatest(), 1e-14);
}

/// The pointwise difference from the formula shrinks at the order of the basis, and the correction with it.
TEST(AddMaxwellian, correction_does_not_spoil_the_order) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto profile = varied();
  const auto exact = [&](std::span<const double> z) {
    const auto x = z.first(1);
    const double t = profile.thermal_speed[0](x), w = (z[1] - profile.drift[0](x)) / t;
    return profile.density(x) / (std::sqrt(2 * std::numbers::pi) * t) * std::exp(-0.5 * w * w);
  };
  std::array<double, 2> error{};
  for (std::size_t i = 0; i < 2; ++i) {
    const int cells = i == 0 ? 12 : 24;
    const PhaseGrid grid = make_grid(1, 1, cells, 2 * cells, 8);
    const Decomposition decomposition(Comm::world(), grid, split(1, Comm::world().size()));
    Distribution corrected("f", decomposition.block(grid), basis.size());
    Distribution best("best", decomposition.block(grid), basis.size());
    add_maxwellian(decomposition, basis, profile, true, corrected, "ions");
    project_phase(basis, exact, best, "exact", 8);
    for (std::size_t k = 0; k < best.data.size(); ++k)
      error[i] += std::pow(best.data[k] - corrected.data[k], 2) / (cells * cells);
    error[i] = std::sqrt(decomposition.comm().sum(error[i]));
  }
  EXPECT_GT(std::log2(error[0] / error[1]), 2.8);
}

/// What a user reads, the same on all ranks.
std::string message(const MaxwellianProfile& profile, double velocity_end) {
  const PhaseBasis basis(1, 1, 1, Family::serendipity);
  const PhaseGrid grid = make_grid(1, 1, 3, 6, velocity_end);
  const Decomposition decomposition(Comm::world(), grid, split(0, Comm::world().size()));
  Distribution f("f", decomposition.block(grid), basis.size());
  try {
    add_maxwellian(decomposition, basis, profile, true, f, "species.ions");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

MaxwellianProfile uniform(double density, double drift, double thermal_speed) {
  MaxwellianProfile profile;
  profile.density = [=](auto) { return density; };
  profile.drift[0] = [=](auto) { return drift; };
  profile.thermal_speed[0] = [=](auto) { return thermal_speed; };
  return profile;
}

TEST(AddMaxwellian, mistakes_are_told_with_their_place_on_every_rank) {
  auto negative = uniform(1, 0, 1), nan = uniform(1, 0, 1);
  negative.density = [](std::span<const double> x) { return x[0] > 1 ? -2.0 : 1.0; };
  nan.drift[0] = [](std::span<const double> x) { return std::log(1 - x[0]); };

  EXPECT_EQ(message(negative, 4), "species.ions.density is -2 at x = (1.19245); expected 0 or more");
  EXPECT_EQ(message(nan, 4).rfind("species.ions.drift is nan at x = (1.", 0), 0U) << message(nan, 4);
  EXPECT_EQ(message(uniform(1, 0, 0), 4),
            "species.ions.thermal_speed is 0 at x = (0.140883); expected more than 0");
  EXPECT_EQ(message(uniform(1, 9, 1), 4),
            "species.ions: the velocity box holds 2.87e-05 % of the Maxwellian at x = (0.140883); expected "
            "nearly all: "
            "widen the box or check drift and thermal speed");
  EXPECT_EQ(message(uniform(1, 0.7, 1e-4), 4)
                .rfind("species.ions: velocity cells as wide as 1.33e+04 thermal speeds", 0),
            0U)
      << message(uniform(1, 0.7, 1e-4), 4);
}

TEST(AddMaxwellian, a_box_that_cuts_it_and_cells_that_are_coarse_for_it_are_warnings) {
  const int before = log::warning_count();
  EXPECT_EQ(message(uniform(1, 0, 1), 4), "accepted");
  EXPECT_EQ(log::warning_count(), before);

  EXPECT_EQ(message(uniform(1, 0, 1), 2), "accepted");
  ASSERT_GT(log::warning_count(), before);
  EXPECT_NE(log::warnings()[before].find("the velocity box holds 95.4 % of the Maxwellian"),
            std::string::npos)
      << log::warnings()[before];

  const int then = log::warning_count();
  EXPECT_EQ(message(uniform(1, 0.7, 0.2), 4), "accepted");
  ASSERT_EQ(log::warning_count(), then + 1);
  EXPECT_NE(log::warnings().back().find("exact moments change the Maxwellian by up to"), std::string::npos);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& [cdim, vdim] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 2}})
    for (int order = 1; order <= (cdim + vdim <= 3 ? 3 : 2); ++order)
      for (const Family family : {Family::serendipity, Family::tensor})
        cases.push_back({cdim, vdim, order, family});
  for (const auto& [cdim, vdim] : {std::pair{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}})
    cases.push_back({cdim, vdim, 1, Family::hybrid});
  cases.push_back({2, 3, 2, Family::serendipity});
  cases.push_back({3, 3, 1, Family::serendipity});
  return cases;
}
std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const auto [cdim, vdim, order, family] = info.param;
  return std::to_string(cdim) + "x" + std::to_string(vdim) + "v_" + name(family) + "_p" +
         std::to_string(order);
}
INSTANTIATE_TEST_SUITE_P(Kinetics, Maxwellian, ::testing::ValuesIn(all_cases()), case_name);

}  // namespace
}  // namespace quintet::kinetics
