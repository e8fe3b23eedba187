#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

constexpr auto bgk = CollisionOptions::Operator::bgk;

/// Density n, drift u in the first direction.
double maxwellian(int cdim, std::span<const double> z, double n, double u, double thermal_square) {
  double square = 0;
  for (std::size_t d = cdim; d < z.size(); ++d)
    square += std::pow(z[d] - (d == static_cast<std::size_t>(cdim) ? u : 0), 2);
  const double vdim = static_cast<double>(z.size()) - cdim;
  return n * std::exp(-square / (2 * thermal_square)) *
         std::pow(2 * std::numbers::pi * thermal_square, -0.5 * vdim);
}

double l2(const CollisionRun& run, const Distribution& f) {
  return run.decomposition.comm().sum(phase_integrals(Exec(), run.basis, f).l2);
}

/// Largest difference of the rates of change of `whole`, on one rank, and of this rank's part.
double largest_difference(const CollisionRun& part, const CollisionRun& whole) {
  const auto &mine = part.rate[0], &all = whole.rate[0];
  const auto& begin = mine.block.begin;
  const int cdim = part.basis.cdim(), vdim = part.basis.vdim();
  double most = 0;
  for (int conf = 0; conf < mine.block.n_conf(); ++conf) {
    auto x = mine.block.conf_index(conf);
    for (int d = 0; d < cdim; ++d) x[d] += begin[d];
    for (int row = 0; row < mine.block.n_rows(); ++row) {
      auto v = mine.block.row_index(row);
      for (int d = 0; d < vdim - 1; ++d) v[d] += begin[cdim + d];
      for (int last = 0; last < mine.block.n_last(); ++last)
        for (int m = 0; m < mine.n_modes; ++m)
          most = std::max(most, std::abs(mine.at(conf, row, last, m) -
                                         all.at(all.block.conf_number(x), all.block.row_number(v),
                                                begin[cdim + vdim - 1] + last, m)));
    }
  }
  return part.decomposition.comm().maximum(most);
}

void expect_same_on_all_ranks(const CollisionCase& c, const std::array<int, 6>& ranks,
                              const CollisionOptions& options, double stretch = 0) {
  if (stretch == 0 && bears_stretching(c, options.kind)) expect_same_on_all_ranks(c, ranks, options, 1.5);
  const auto grid = collision_grid(c.cdim, c.vdim, {11, 9, 10}, -4.2, 4, stretch);
  CollisionRun part(Comm::world(), c, {grid}, options, ranks), whole(Comm::self(), c, {grid}, options);
  for (auto* run : {&part, &whole}) {
    run->project(0, [c](auto z) { return lumpy(c.cdim, z); });
    run->compute_rate();
  }

  EXPECT_LT(largest_difference(part, whole), 1e-11) << c << " ranks " << ranks[1] << ' ' << ranks[2];
  EXPECT_NEAR(part.collisions.frequency(), whole.collisions.frequency(), 1e-9);
}

/// -int f ln f by cell means.
double entropy(const CollisionRun& run) {
  const auto& f = run.f[0];
  const double volume = f.block.grid.conf_cell_volume() * f.block.grid.mean_velocity_cell_volume();
  double sum = 0;
  for (int conf = 0; conf < f.block.n_conf(); ++conf)
    for (int row = 0; row < f.block.n_rows(); ++row)
      for (int last = 0; last < f.block.n_last(); ++last) {
        const double mean = f.at(conf, row, last, 0) * std::pow(0.5, 0.5 * run.basis.dim());
        const auto share = relative_volumes(f.block, row, last / PhaseBlock::lanes);
        if (mean > 0) sum -= share[last % PhaseBlock::lanes] * volume * mean * std::log(mean);
      }
  return run.decomposition.comm().sum(sum);
}

/// L2 norm of the rate of a Maxwellian that fits into the box.
double residual(int order, int n, CollisionOptions options, double stretch = 0) {
  CollisionRun run(Comm::world(), {1, 1, order, Family::serendipity},
                   {collision_grid(1, 1, {n, 1, 1}, -6, 6, stretch)}, options);
  run.project(
      0, [](auto z) { return maxwellian(1, z, 1, 0.3, 0.7); }, 6);
  run.compute_rate();
  return std::sqrt(l2(run, run.rate[0]));
}

/// Electrons and ions of mass 1 and 3, with different drifts and temperatures and grids of their own.
std::unique_ptr<CollisionRun> two_species(const CollisionOptions& options, const Comm& comm = Comm::world()) {
  const auto electrons = collision_grid(1, 1, {32, 1, 1}, -7, 7),
             ions = collision_grid(1, 1, {24, 1, 1}, -4, 4.5);
  auto run = std::make_unique<CollisionRun>(comm, CollisionCase{}, std::vector{electrons, ions}, options,
                                            std::array<int, 6>{}, std::vector<double>{1, 3});
  run->project(0, [](auto z) { return maxwellian(1, z, 1 + 0.1 * std::sin(6.283185307 * z[0]), 0.5, 1); });
  run->project(1, [](auto z) { return maxwellian(1, z, 0.5, -0.2, 0.2); });
  return run;
}
CollisionOptions cross_collisions() {
  CollisionOptions options;
  options.frequency = {{0.5, 0.8}, {0.6, 0.3}};
  return options;
}
void expect_total_kept(CollisionOptions options) {
  for (const auto kind : {CollisionOptions::Operator::lenard_bernstein, bgk}) {
    options.kind = kind;
    const auto owner = two_species(options);
    CollisionRun& run = *owner;
    run.compute_rate();

    const auto a = all_moments(run.decomposition, run.basis, run.rate[0]);
    const auto b = all_moments(run.decomposition, run.basis, run.rate[1]);
    // Per unit of mass in x: the grids differ, the weak moments do not.
    for (int conf = 0; conf < run.rate[0].block.n_conf(); ++conf) {
      EXPECT_NEAR(a(conf, 0, 0), 0, 1e-12);
      EXPECT_NEAR(b(conf, 0, 0), 0, 1e-12);
      EXPECT_NEAR(a(conf, 1, 0) + 3 * b(conf, 1, 0), 0, 1e-12);
      EXPECT_NEAR(a(conf, 2, 0) + 3 * b(conf, 2, 0), 0, 1e-12);
      // K (u_a - u_b) with K from m n nu: 0.8 and 3 * 0.5 * 0.6, cell mean of the first factor about 0.8.
      EXPECT_LT(a(conf, 1, 0), -0.1);
    }
  }
}

}  // namespace

TEST(Collisions, do_not_depend_on_how_velocity_space_is_shared_out) {
  const int n = Comm::world().size();
  auto plain = self_collisions(0.7), with_bgk = plain, spitzer = plain;
  with_bgk.kind = bgk;
  spitzer.spitzer = true;
  for (const auto& options : {plain, with_bgk, spitzer}) {
    expect_same_on_all_ranks({1, 1, 2, Family::serendipity}, {1, n}, options);
    expect_same_on_all_ranks({1, 1, 1, Family::serendipity}, {1, n}, options);
    expect_same_on_all_ranks({1, 2, 2, Family::serendipity}, {1, n, 1}, options);
    expect_same_on_all_ranks({1, 2, 2, Family::serendipity}, {1, 1, n}, options);
    expect_same_on_all_ranks({1, 3, 1, Family::hybrid}, {1, 1, n, 1}, options);
  }
}

TEST(Collisions, leave_a_maxwellian_nearly_alone) {
  for (const int order : {1, 2}) {
    const double coarse = residual(order, 16, self_collisions(1)),
                 fine = residual(order, 32, self_collisions(1));
    EXPECT_LT(fine, order == 1 ? 0.1 : 0.01) << order;
    EXPECT_GT(std::log2(coarse / fine), order - 0.4) << order << ": " << coarse << " -> " << fine;
  }
  // Finer where f is, stretching costs no order.
  for (const int order : {2, 3}) {
    const double coarse = residual(order, 16, self_collisions(1), 1.5),
                 fine = residual(order, 32, self_collisions(1), 1.5);
    EXPECT_LT(fine, residual(order, 32, self_collisions(1))) << order;
    EXPECT_GT(std::log2(coarse / fine), order - 0.4) << order << ": " << coarse << " -> " << fine;
  }
  auto options = self_collisions(1);
  options.kind = bgk;
  EXPECT_LT(residual(2, 32, options), 1e-4);
  EXPECT_LT(residual(2, 32, options, 1.5), 1e-4);
}

TEST(Collisions, increase_the_entropy_until_f_is_maxwellian) {
  for (const auto& [kind, stretch] :
       {std::pair{CollisionOptions::Operator::lenard_bernstein, 0.0},
        std::pair{CollisionOptions::Operator::lenard_bernstein, 1.0}, std::pair{bgk, 0.0}}) {
    auto options = self_collisions(1);
    options.kind = kind;
    const int n = stretch == 0 ? 20 : 14;
    CollisionRun run(Comm::self(), {1, 2, 2, Family::serendipity},
                     {collision_grid(1, 2, {n, n, 1}, -5, 5, stretch)}, options);
    run.project(0, [](auto z) { return maxwellian(1, z, 0.5, 1.2, 0.5) + maxwellian(1, z, 0.5, -1.2, 0.5); });
    run.compute_rate();
    const double dt = std::min(0.05, run.stable_dt());

    double before = entropy(run);
    for (int i = 0; i < 60; ++i) {
      run.step(dt);
      const double after = entropy(run);
      EXPECT_GT(after, before - 1e-9) << i;
      before = after;
    }
    for (int i = 0; i < 300; ++i) run.step(dt);
    before = entropy(run);
    // Of a Maxwellian of vth^2 = 0.5 + 1.44/2; cell means have a little more.
    EXPECT_NEAR(before, 1 + std::log(2 * std::numbers::pi * 1.22), 0.03);
  }
}

TEST(Collisions, frequency_bounds_the_stable_step_well) {
  for (const auto& c :
       {CollisionCase{1, 1, 1, Family::serendipity}, CollisionCase{1, 1, 2, Family::serendipity},
        CollisionCase{1, 1, 3, Family::serendipity}, CollisionCase{1, 1, 1, Family::hybrid},
        CollisionCase{1, 2, 2, Family::serendipity}}) {
    const auto growth = [&](double factor, double stretch = 0) {
      const int n = c.vdim == 1 ? 48 : 24;
      CollisionRun run(Comm::self(), c, {collision_grid(c.cdim, c.vdim, {n, n, 1}, -4.2, 4, stretch)},
                       self_collisions(1));
      run.project(0, [c](auto z) { return lumpy(c.cdim, z); });
      run.compute_rate();
      const double dt = factor * run.stable_dt(), start = l2(run, run.f[0]);
      try {
        for (int i = 0; i < (c.vdim == 1 ? 150 : 40); ++i) run.step(dt);
      } catch (const NumericalError&) {
        return 1e300;
      }
      return l2(run, run.f[0]) / start;
    };
    EXPECT_LT(growth(1), 1) << c;
    EXPECT_GT(growth(2.5), 1) << c;
    if (!bears_stretching(c, CollisionOptions::Operator::lenard_bernstein)) continue;
    EXPECT_LT(growth(1, 1.5), 1) << c;
    EXPECT_GT(growth(2.5, 1.5), 1) << c;
  }
}

TEST(Collisions, without_conservation_keep_density_alone) {
  auto options = self_collisions(0.8);
  options.conserving = false;
  CollisionRun run(Comm::world(), {}, {collision_grid(1, 1, {32, 1, 1}, -7, 7)}, options);
  run.project(0, [](auto z) { return maxwellian(1, z, 1, 0.5, 0.75); });
  run.compute_rate();
  const auto start = run.moments_of(0);
  const int steps = std::ceil(1 / run.stable_dt());
  for (int i = 0; i < steps; ++i) run.step(1.0 / steps);

  const auto end = run.moments_of(0);
  EXPECT_NEAR(end(0, 0, 0), start(0, 0, 0), 1e-12);
  EXPECT_NEAR(end(0, 1, 0), start(0, 1, 0) * std::exp(-0.8), 1e-6);
  // vth^2 of the operator is M2/M0 of the start, so M2 stays, up to the drift that is lost.
  EXPECT_NEAR(end(0, 2, 0), start(0, 2, 0), 1e-5);
}

TEST(SpeciesExchange, keeps_total_momentum_and_energy) { expect_total_kept(cross_collisions()); }

TEST(SpeciesExchange, keeps_them_with_frequencies_that_are_formulas) {
  auto options = cross_collisions();
  const PointFunction wavy = [](auto xt) { return 1 + 0.6 * std::sin(9 * xt[0]); };
  options.profile = {{{}, wavy}, {[](auto xt) { return 2 - xt[0]; }, wavy}};
  expect_total_kept(options);
}

TEST(Collisions, with_a_profile_are_those_of_its_values) {
  // In the basis: 0.4 (1 + x) t is no approximation. Where it is 1 everywhere, it is the plain operator.
  for (const auto kind : {CollisionOptions::Operator::lenard_bernstein, bgk}) {
    const auto relaxation = [&](const PointFunction& profile, double time) {
      auto options = self_collisions(0.4);
      options.kind = kind;
      options.profile = {{profile}};
      options.profile_changes = true;
      auto run = std::make_unique<CollisionRun>(Comm::self(), CollisionCase{},
                                                std::vector{collision_grid(1, 1, {16, 1, 1})}, options);
      run->project(0, [](auto z) { return lumpy(0, z.subspan(1)); });
      run->compute_rate();
      run->time = time;
      run->compute_rate();
      return run;
    };
    const auto plain = relaxation([](auto) { return 1.0; }, 3),
               varying = relaxation([](auto xt) { return (1 + xt[0]) * xt[1]; }, 3);
    const auto &a = plain->rate[0], &b = varying->rate[0];
    for (int conf = 0; conf < 2; ++conf)
      for (int last = 0; last < 16; ++last) {
        const double mean = 1 + 0.25 + 0.5 * conf;  // of 1 + x over the cell
        EXPECT_NEAR(b.at(conf, 0, last, 0), 3 * mean * a.at(conf, 0, last, 0), 2e-12) << conf << ' ' << last;
      }
    EXPECT_NEAR(varying->collisions.frequency() / plain->collisions.frequency(), 6,
                kind == bgk ? 1e-12 : 0.3);
  }
}

TEST(Collisions, with_a_profile_keep_the_rate_from_going_negative) {
  // A step inside a cell: its projection undershoots 0 before it, a decay becomes a growth there.
  auto options = self_collisions(1);
  options.kind = bgk;
  options.profile = {{[](auto xt) { return xt[0] < 0.3 ? 0.0 : 1.0; }}};
  CollisionRun run(Comm::self(), {}, {collision_grid(1, 1, {24, 1, 1}, -6, 6)}, options);
  run.project(0, [](auto z) { return maxwellian(1, z, 0.5, 1.5, 0.5) + maxwellian(1, z, 0.5, -1.5, 0.5); });
  run.compute_rate();
  const Basis& conf = run.basis.conf();
  for (int last = 0; last < 24; ++last) {
    // f is the same at all x of the cell, so its rate is A(x) (M - f): everywhere of the sign of its mean.
    double below_step = 0;
    for (int a = 0; a < conf.size(); ++a) {
      const double xi = -0.5;  // a control point
      below_step += conf.value(a, std::span<const double>(&xi, 1)) *
                    run.rate[0].at(0, 0, last, run.basis.offset(0) + a);
    }
    EXPECT_GT(below_step * run.rate[0].at(0, 0, last, 0), -1e-10) << last;
  }
  options.profile = {{[](auto) { return -1.0; }}};
  CollisionRun negative(Comm::self(), {}, {collision_grid(1, 1, {24, 1, 1}, -6, 6)}, options);
  negative.project(0, [](auto z) { return maxwellian(1, z, 1, 0, 0.5); });
  EXPECT_THROW(negative.compute_rate(), InputError);
}

TEST(SpeciesExchange, takes_momentum_at_the_given_rate) {
  const auto owner = two_species(cross_collisions());
  CollisionRun& run = *owner;
  run.project(
      0, [](auto z) { return maxwellian(1, z, 1, 0.5, 1); }, 8);
  run.compute_rate();

  const auto rate = all_moments(run.decomposition, run.basis, run.rate[0]);
  const double k_a = 1 * 1 * 0.8, k_b = 3 * 0.5 * 0.6, k = k_a * k_b / (k_a + k_b);
  const double u_a = 0.5, u_b = -0.2, constant = std::sqrt(2.0);
  EXPECT_NEAR(rate(0, 1, 0), -k * (u_a - u_b) * constant, 1e-4);
  EXPECT_NEAR(rate(0, 2, 0), -2 * k * ((u_a + 3 * u_b) / 4 * (u_a - u_b) + (1 - 0.6) / 4) * constant, 1e-3);
}

TEST(SpeciesExchange, brings_drifts_and_temperatures_together) {
  for (const auto kind : {CollisionOptions::Operator::lenard_bernstein, bgk}) {
    auto options = cross_collisions();
    options.kind = kind;
    const auto owner = two_species(options, Comm::self());
    CollisionRun& run = *owner;
    run.compute_rate();
    const auto a0 = run.moments_of(0), b0 = run.moments_of(1);
    const double dt = run.stable_dt(), end = 12;
    const int steps = std::ceil(end / dt);
    for (int i = 0; i < steps; ++i) run.step(end / steps);

    const auto a = run.moments_of(0), b = run.moments_of(1);
    const double u_a = a(0, 1, 0) / a(0, 0, 0), u_b = b(0, 1, 0) / b(0, 0, 0);
    EXPECT_NEAR(u_a, u_b, 1e-3);
    EXPECT_NEAR(a(0, 2, 0) / a(0, 0, 0) - u_a * u_a, 3 * (b(0, 2, 0) / b(0, 0, 0) - u_b * u_b), 0.02);
    EXPECT_NEAR(a(0, 1, 0) + 3 * b(0, 1, 0), a0(0, 1, 0) + 3 * b0(0, 1, 0), 1e-12);
    EXPECT_NEAR(a(0, 2, 0) + 3 * b(0, 2, 0), a0(0, 2, 0) + 3 * b0(0, 2, 0), 1e-12);
  }
}

TEST(Collisions, refuse_velocity_cells_they_are_not_made_for) {
  const auto message = [](const CollisionCase& c, double stretch,
                          const CollisionOptions& options) -> std::string {
    try {
      CollisionRun run(Comm::self(), c, {collision_grid(1, 1, {6, 1, 1}, -4.2, 4, stretch)}, options);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  const CollisionCase linear{1, 1, 1, Family::serendipity}, square, cubic{1, 1, 3, Family::serendipity};
  EXPECT_NE(message(linear, 1, self_collisions(1)).find("lacks v^2"), std::string::npos);
  EXPECT_NE(message(square, 3.5, self_collisions(1)).find("cells 0 and 1 along vx"), std::string::npos);
  EXPECT_NE(message(cubic, 2, self_collisions(1)).find("by a factor of 1.6"), std::string::npos);
  EXPECT_EQ(message(linear, 1, self_collisions(0)), "accepted");
  auto options = self_collisions(1);
  options.kind = bgk;
  EXPECT_EQ(message(linear, 1, options), "accepted");
}

TEST(Collisions, name_what_is_wrong) {
  const auto message = [](const CollisionOptions& options) -> std::string {
    try {
      two_species(options);
    } catch (const InputError& e) {
      return e.what();
    }
    return "accepted";
  };
  auto options = cross_collisions();
  options.frequency[1][0] = 0;
  EXPECT_NE(message(options).find("but not the other way round"), std::string::npos);
  options.frequency[1][0] = -1;
  EXPECT_NE(message(options).find("must be finite and not negative"), std::string::npos);
  options.frequency.pop_back();
  EXPECT_NE(message(options).find("are given for 1 species, there are 2"), std::string::npos);

  for (const auto kind : {CollisionOptions::Operator::lenard_bernstein, bgk}) {
    auto self = self_collisions(1);
    self.kind = kind;
    CollisionRun run(Comm::self(), {}, {collision_grid(1, 1, {8, 1, 1})}, self);
    run.project(0, [](auto z) { return z[0] < 0.5 ? std::exp(-z[1] * z[1]) : -1.0; });
    try {
      run.compute_rate();
      ADD_FAILURE() << "a negative density was accepted";
    } catch (const NumericalError& e) {
      EXPECT_NE(std::string(e.what()).find("collisions of electrons: density"), std::string::npos)
          << e.what();
      EXPECT_NE(std::string(e.what()).find("configuration cell (1) at x = (0.75)"), std::string::npos)
          << e.what();
    }
  }
}
