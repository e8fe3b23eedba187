#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

class Conservation : public testing::TestWithParam<CollisionCase> {};

/// No moment's integral over a configuration cell changes, though f does.
void expect_conserved(const CollisionCase& c, const CollisionOptions& options, double stretch) {
  const auto cells = c.vdim == 1 ? std::array{13, 1, 1} : std::array{6, 4, 9};
  CollisionRun run(Comm::world(), c, {collision_grid(c.cdim, c.vdim, cells, -4.2, 4, stretch)}, options);
  run.project(0, [c](auto z) { return lumpy(c.cdim, z); });

  run.compute_rate();

  const auto rates = all_moments(run.decomposition, run.basis, run.rate[0]);
  const auto of_f = run.moments_of(0);
  for (int conf = 0; conf < run.rate[0].block.n_conf(); ++conf)
    for (int m = 0; m < c.vdim + 2; ++m)
      EXPECT_NEAR(rates(conf, m, 0), 0, 1e-12 * std::abs(of_f(conf, c.vdim + 1, 0)))
          << c << ", cell " << conf << ", moment " << m;
  const double changes = run.decomposition.comm().sum(phase_integrals(Exec(), run.basis, run.rate[0]).l2);
  EXPECT_GT(changes, 0.01 * run.decomposition.comm().sum(phase_integrals(Exec(), run.basis, run.f[0]).l2));
}

/// On equal velocity cells and on others.
void expect_conserved(const CollisionCase& c, const CollisionOptions& options) {
  expect_conserved(c, options, 0);
  if (bears_stretching(c, options.kind)) expect_conserved(c, options, c.order == 3 ? 1.5 : 0.9);
}

}  // namespace

TEST_P(Conservation, of_density_momentum_and_energy_by_lenard_bernstein) {
  expect_conserved(GetParam(), self_collisions(1.3));
}

TEST_P(Conservation, of_density_momentum_and_energy_by_bgk) {
  auto options = self_collisions(1.3);
  options.kind = CollisionOptions::Operator::bgk;

  expect_conserved(GetParam(), options);
}

TEST_P(Conservation, with_frequencies_that_vary_in_space) {
  auto options = self_collisions(1.3);
  options.spitzer = true;
  options.reference_density = 3;

  expect_conserved(GetParam(), options);
  options.kind = CollisionOptions::Operator::bgk;
  expect_conserved(GetParam(), options);
}

/// A frequency that varies by its whole size inside a cell, vanishes in part of it and changes in time.
TEST_P(Conservation, with_frequencies_that_are_formulas) {
  auto options = self_collisions(1.3);
  options.profile = {
      {[](std::span<const double> xt) { return std::max(0.0, 1 + 1.5 * std::sin(9 * xt[0] + xt.back())); }}};
  options.profile_changes = true;

  expect_conserved(GetParam(), options);
  options.kind = CollisionOptions::Operator::bgk;
  expect_conserved(GetParam(), options);
}

INSTANTIATE_TEST_SUITE_P(
    bases, Conservation,
    testing::Values(CollisionCase{1, 1, 2, Family::serendipity}, CollisionCase{1, 2, 2, Family::serendipity},
                    CollisionCase{1, 3, 2, Family::serendipity}, CollisionCase{2, 2, 2, Family::serendipity},
                    CollisionCase{1, 1, 1, Family::hybrid}, CollisionCase{1, 2, 1, Family::hybrid},
                    CollisionCase{2, 2, 1, Family::hybrid}, CollisionCase{1, 1, 1, Family::serendipity},
                    CollisionCase{1, 2, 1, Family::serendipity}, CollisionCase{1, 1, 3, Family::serendipity},
                    CollisionCase{1, 2, 2, Family::tensor}, CollisionCase{2, 3, 2, Family::serendipity},
                    CollisionCase{2, 3, 1, Family::hybrid}, CollisionCase{3, 3, 1, Family::serendipity}),
    testing::PrintToStringParamName());

TEST(CollisionOperators, one_without_a_row_is_an_error_of_ours) {
  auto options = self_collisions(1);
  options.kind = static_cast<CollisionOptions::Operator>(99);

  EXPECT_THROW(CollisionRun(Comm::world(), {1, 1, 2}, {collision_grid(1, 1, {8, 1, 1})}, options),
               InternalError);
  options.split = true;
  EXPECT_THROW(static_cast<void>(Collisions::n_work(options)), InternalError);
}
