#include <gtest/gtest.h>

#include "tests/verification/kinetics/collisions_case.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

class Conservation : public testing::TestWithParam<CollisionCase> {};

/// Largest |integral over a configuration cell| of the rate of each moment, relative to what it is made of.
void expect_conserved(CollisionRun& run) {
  const auto& c = run.basis;
  run.compute_rate();

  const auto rates = all_moments(run.decomposition, c, run.rate[0]);
  const auto of_f = run.moments_of(0);
  // Where v^2 is in the basis with all configuration modes, every mode of the moments is conserved.
  for (int conf = 0; conf < run.rate[0].block.n_conf(); ++conf)
    for (int m = 0; m < c.vdim() + 2; ++m)
      EXPECT_NEAR(rates(conf, m, 0), 0, 1e-12 * std::abs(of_f(conf, c.vdim() + 1, 0))) << conf << ' ' << m;
}

}  // namespace

TEST_P(Conservation, of_density_momentum_and_energy) {
  const auto c = GetParam();
  CollisionRun run(Comm::world(), c,
                   {collision_grid(c.cdim, c.vdim, c.vdim == 1 ? std::array{13, 1, 1} : std::array{6, 5, 9})},
                   self_collisions(1.3));
  run.project(0, [c](auto z) { return lumpy(c.cdim, z); });

  expect_conserved(run);
}

INSTANTIATE_TEST_SUITE_P(
    bases, Conservation,
    testing::Values(CollisionCase{1, 1, 2, Family::serendipity}, CollisionCase{1, 2, 2, Family::serendipity},
                    CollisionCase{1, 3, 2, Family::serendipity}, CollisionCase{2, 2, 2, Family::serendipity},
                    CollisionCase{1, 1, 1, Family::hybrid}, CollisionCase{1, 2, 1, Family::hybrid},
                    CollisionCase{2, 2, 1, Family::hybrid}, CollisionCase{1, 1, 1, Family::serendipity},
                    CollisionCase{1, 2, 1, Family::serendipity}, CollisionCase{1, 1, 3, Family::serendipity},
                    CollisionCase{1, 2, 2, Family::tensor}),
    testing::PrintToStringParamName());
