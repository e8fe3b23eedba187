#include "physics/kinetics/advection/positivity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/system.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"

/// f is kept from going negative, what that changes is counted, and nothing else changes.
namespace quintet::kinetics {
namespace {

Species gas(int nx, int nv) {
  Species species;
  species.name = "gas";
  species.charge = 0;
  species.grid.lower = {0, -2};
  species.grid.upper = {1, 2};
  species.grid.cells = {nx, nv, 1, 1, 1, 1};
  species.grid.periodic[0] = true;
  return species;
}

/// 1 in a box, 0 outside: projected well, transported badly.
double pulse(std::span<const double> z) {
  return z[0] > 0.3 && z[0] < 0.7 && z[1] > -0.6 && z[1] < 1.1 ? 1 : 0;
}

TEST(Positivity, of_the_limiter_keeps_cell_means_and_counts_the_rest) {
  for (const auto& c :
       {CollisionCase{1, 1, 2, Family::serendipity}, CollisionCase{1, 2, 2, Family::serendipity},
        CollisionCase{2, 2, 1, Family::hybrid}, CollisionCase{1, 1, 1, Family::serendipity},
        CollisionCase{1, 1, 3, Family::serendipity}}) {
    CollisionRun run(Comm::self(), c, {collision_grid(c.cdim, c.vdim, {9, 5, 4})}, self_collisions(1));
    run.project(0, [c](auto z) {
      double r = 0;
      for (std::size_t d = c.cdim; d < z.size(); ++d) r += z[d] * z[d];
      return r < 4 ? 1 + 0.5 * z[0] : 1e-3;  // a cliff: projections undershoot
    });
    const Distribution& f = run.f[0];
    const Positivity positivity(run.basis, f.block);
    const auto before = run.moments_of(0);
    std::vector<double> means;
    for (int conf = 0; conf < f.block.n_conf(); ++conf)
      for (int row = 0; row < f.block.n_rows(); ++row)
        for (int last = 0; last < f.block.n_last(); ++last) means.push_back(f.at(conf, row, last, 0));
    const double negative = positivity.negative_part(Exec(), f);
    const auto limited = positivity.limit(Exec(), f);
    const auto moments = run.moments_of(0);

    EXPECT_GT(negative, 1e-4) << c;
    EXPECT_LT(positivity.negative_part(Exec(), f), 1e-16) << c;
    std::size_t cell = 0;
    for (int conf = 0; conf < f.block.n_conf(); ++conf)
      for (int row = 0; row < f.block.n_rows(); ++row)
        for (int last = 0; last < f.block.n_last(); ++last)
          EXPECT_EQ(f.at(conf, row, last, 0), means[cell++]);
    // int dx of a mode 0 is sqrt(volume): of a cell of x.
    const double scale = f.block.grid.conf_cell_volume() * std::pow(0.5, 0.5 * c.cdim);
    for (int m = 1; m < c.vdim + 2; ++m) {
      double change = 0;
      for (int conf = 0; conf < f.block.n_conf(); ++conf)
        change += scale * (moments(conf, m, 0) - before(conf, m, 0));
      const double counted = m <= c.vdim ? limited.momentum[m - 1] : limited.square;
      EXPECT_NEAR(counted, change, 1e-12) << c << " moment " << m;
    }
    EXPECT_GT(std::abs(limited.square), 1e-6) << c;
  }
}

TEST(Positivity, holds_in_a_run_and_keeps_its_books) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto run = [&](bool keep) {
    SystemOptions options;
    options.field = FieldModel::none;
    options.keep_positive = keep;
    options.acceleration = [](int, double, const ConfField& out) {
      Kokkos::deep_copy(out, 0.0);
      for (std::size_t conf = 0; conf < out.extent(0); ++conf) out(conf, 0, 1) = 0.3;
    };
    auto system = std::make_unique<VlasovSystem>(Comm::world(), basis, std::vector{gas(10, 16)}, options);
    project_phase(basis, pulse, system->f(0), "pulse", 8);
    system->start(Exec(), 0);
    return system;
  };
  auto limited = run(true), plain = run(false);
  const auto first = limited->sample(Exec()).species[0];
  double least = 0, most_negative = 0;
  for (int step = 0; step < 60; ++step) {
    const double dt = limited->stable_dt(Exec());
    limited->advance(Exec(), dt);
    plain->advance(Exec(), dt);
    least = std::max(least, limited->sample(Exec()).species[0].negative);
    most_negative = std::max(most_negative, plain->sample(Exec()).species[0].negative);
  }
  const auto last = limited->sample(Exec()).species[0];
  EXPECT_LT(least, 1e-15);
  EXPECT_GT(most_negative, 1e-3);
  EXPECT_NEAR(last.m0, first.m0, 1e-13);
  EXPECT_GT(std::abs(last.budget.limited.energy), 1e-6);
}

TEST(Positivity, of_free_streaming_leaves_momentum_and_energy_but_for_what_is_counted) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  SystemOptions options;
  options.field = FieldModel::none;
  options.keep_positive = true;
  VlasovSystem system(Comm::world(), basis, {gas(10, 9)}, options);
  project_phase(basis, pulse, system.f(0), "pulse", 8);
  system.start(Exec(), 0);
  const auto first = system.sample(Exec()).species[0];
  for (int step = 0; step < 40; ++step) system.advance(Exec(), system.stable_dt(Exec()));
  const auto last = system.sample(Exec()).species[0];
  EXPECT_NEAR(last.m1[0] - first.m1[0], last.budget.limited.momentum[0] - first.budget.limited.momentum[0],
              1e-13);
  EXPECT_NEAR(0.5 * (last.m2 - first.m2), last.budget.limited.energy - first.budget.limited.energy, 1e-13);
  EXPECT_GT(std::abs(last.budget.limited.energy - first.budget.limited.energy), 1e-7);
}

TEST(Positivity, leaves_a_smooth_f_alone_to_the_last_bit) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto l2 = [&](bool keep) {
    SystemOptions options;
    options.field = FieldModel::none;
    options.keep_positive = keep;
    VlasovSystem system(Comm::world(), basis, {gas(8, 12)}, options);
    project_phase(
        basis, [](auto z) { return 2 + std::sin(6.283185307179586 * z[0]) * std::cos(z[1]); }, system.f(0),
        "f");
    system.start(Exec(), 0);
    for (int step = 0; step < 20; ++step) system.advance(Exec(), 0.004);
    return system.sample(Exec()).species[0].l2;
  };
  EXPECT_EQ(l2(true), l2(false));
}

TEST(Positivity, says_where_a_cell_mean_is_negative) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  SystemOptions options;
  options.field = FieldModel::none;
  options.keep_positive = true;
  VlasovSystem system(Comm::world(), basis, {gas(10, 9)}, options);
  project_phase(
      basis, [](auto z) { return pulse(z) - 1e-3; }, system.f(0), "pulse", 8);
  try {
    system.start(Exec(), 0);
    ADD_FAILURE() << "a mean that no limiter can mend went unnoticed";
  } catch (const NumericalError& error) {
    EXPECT_NE(std::string(error.what()).find("f of 'gas' in cell ("), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("A smaller time.cfl"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace quintet::kinetics
