#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <tuple>

#include "io/parallel/comm.hpp"
#include "tests/support/kinetics_reference.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"

using namespace quintet;
using namespace quintet::kinetics;

namespace {

/// exp(-(v - u)^2/(2 s))/sqrt(2 pi s).
double gaussian(double v, double u, double s) {
  return std::exp(-(v - u) * (v - u) / (2 * s)) / std::sqrt(2 * std::numbers::pi * s);
}

/// Exact solution of the conserving Lenard-Bernstein equation that starts as two drifting Maxwellians: with u
/// and vth^2 conserved the equation is linear, and each Maxwellian keeps its form while its drift goes to u
/// like exp(-nu t) and its vth^2 to that of the whole like exp(-2 nu t). All of that at each x for itself,
/// since nothing streams; the mixture varies in x, and so do u and vth^2.
struct TwoBeams {
  int cdim, vdim;
  CollisionOptions::Operator kind;
  double nu = 1;
  double u_1 = 1.2, u_2 = -0.6, s_1 = 0.5, s_2 = 0.4;

  [[nodiscard]] double operator()(std::span<const double> z, double t) const {
    const double a = 0.55 + 0.25 * std::sin(2 * std::numbers::pi * z[0]), u = a * u_1 + (1 - a) * u_2;
    // Only the first velocity direction drifts; vth^2 is the mean over directions.
    const double own = a * s_1 + (1 - a) * s_2;
    const double theta = own + a * (1 - a) * (u_1 - u_2) * (u_1 - u_2) / vdim;
    const double decay = std::exp(-nu * t);
    if (kind == CollisionOptions::Operator::bgk) return bgk(z, a, u, theta, decay);
    double one = a, two = 1 - a;
    for (int d = 0; d < vdim; ++d) {
      const double v = z[cdim + d];
      const auto drift = [&](double start) { return d == 0 ? u + (start - u) * decay : 0; };
      const auto square = [&](double start) { return theta + (start - theta) * decay * decay; };
      one *= gaussian(v, drift(u_1), square(s_1));
      two *= gaussian(v, drift(u_2), square(s_2));
    }
    return one + two;
  }
  /// f_0 exp(-nu t) + M (1 - exp(-nu t)).
  [[nodiscard]] double bgk(std::span<const double> z, double a, double u, double theta, double decay) const {
    double one = a * decay, two = (1 - a) * decay, limit = 1 - decay;
    for (int d = 0; d < vdim; ++d) {
      const double v = z[cdim + d];
      one *= gaussian(v, d == 0 ? u_1 : 0, s_1);
      two *= gaussian(v, d == 0 ? u_2 : 0, s_2);
      limit *= gaussian(v, d == 0 ? u : 0, theta);
    }
    return one + two + limit;
  }
};

/// L2 norm of f - exact at t = 0.5 with n cells in each velocity direction and n_x in x.
double beam_error(const CollisionCase& c, int n, int n_x, CollisionOptions::Operator kind,
                  double stretch = 0) {
  auto options = self_collisions(1);
  options.kind = kind;
  auto grid = collision_grid(c.cdim, c.vdim, {n, n, n}, -6, 6, stretch);
  grid.cells[0] = n_x;
  CollisionRun run(Comm::world(), c, {grid}, options);
  const TwoBeams exact{c.cdim, c.vdim, kind};
  run.project(
      0, [&](auto z) { return exact(z, 0); }, 6);
  run.compute_rate();
  const double end = 0.5;
  const int steps = std::ceil(end / std::min(0.5 * run.stable_dt(), 0.025));
  for (int i = 0; i < steps; ++i) run.step(end / steps);
  Distribution reference("reference", run.f[0].block, run.basis.size());
  project_phase(
      run.basis, [&](auto z) { return exact(z, end); }, reference, "exact", 6);
  for (std::size_t i = 0; i < reference.data.size(); ++i) reference.data(i) -= run.f[0].data(i);
  return std::sqrt(run.decomposition.comm().sum(phase_integrals(Exec(), run.basis, reference).l2));
}

/// A square and a bump, as in the reference run.
double square(std::span<const double> z) { return std::abs(z[1]) < 1 ? 0.5 : 0; }
double bump(std::span<const double> z) {
  const double v = z[1], at = 4 * std::sqrt(0.25 / 3);
  return gaussian(v, 0, 1.0 / 9) + 0.1 * gaussian(v, at, 1) / ((v - at) * (v - at) + 0.12 * 0.12);
}

double l2(const CollisionRun& run, int s) {
  const auto& f = run.f[s];
  return run.decomposition.comm().sum(phase_integrals(Exec(), run.basis, f).l2);
}

}  // namespace

class Convergence : public testing::TestWithParam<std::tuple<CollisionOptions::Operator, CollisionCase>> {};

TEST_P(Convergence, is_of_order_p_plus_1) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "long; another test compares ranks";
  const auto& [kind, c] = GetParam();
  const int coarse = c.vdim == 1 ? 32 - 8 * c.order : c.cdim == 1 ? 10 : 8;

  const double error = beam_error(c, coarse, 4, kind), finer = beam_error(c, 2 * coarse, 8, kind);

  EXPECT_GT(std::log2(error / finer), c.order + 0.7) << error << " -> " << finer;
  EXPECT_LT(finer, 0.003);
  if (!bears_stretching(c, kind) || c.cdim > 1) return;
  const double stretched = beam_error(c, coarse, 4, kind, 1),
               finer_stretched = beam_error(c, 2 * coarse, 8, kind, 1);
  EXPECT_GT(std::log2(stretched / finer_stretched), c.order + 0.7) << stretched << " -> " << finer_stretched;
  EXPECT_LT(finer_stretched, finer);
}

INSTANTIATE_TEST_SUITE_P(of_collisions, Convergence,
                         testing::Combine(testing::Values(CollisionOptions::Operator::lenard_bernstein,
                                                          CollisionOptions::Operator::bgk),
                                          testing::Values(CollisionCase{1, 1, 1, Family::serendipity},
                                                          CollisionCase{1, 1, 2, Family::serendipity},
                                                          CollisionCase{1, 1, 3, Family::serendipity},
                                                          CollisionCase{1, 2, 2, Family::tensor},
                                                          CollisionCase{1, 2, 1, Family::hybrid},
                                                          CollisionCase{2, 2, 2, Family::serendipity})));

TEST(LenardBernsteinOperator, relaxes_square_and_bump_as_the_reference_does) {
  const std::string name = "lbo_relax_1x1v_p2";
  if (!reference_here(name + ".csv")) GTEST_SKIP() << reference_absent(name + ".csv");
  const auto series = reference_csv(name + ".csv");
  const auto arrays = reference_npz(name + "_dg_coeffs.npz");
  auto grid = collision_grid(1, 1, {48, 1, 1}, -8.0 / 3, 8.0 / 3);
  CollisionRun run(Comm::world(), {}, {grid, grid}, self_collisions(0.01, 2));
  run.project(0, square);
  run.project(1, bump);
  const auto start = run.moments_of(1);

  // f does not depend on x: no streaming needed. Frame 4 is the end.
  const auto& t = series["t"];
  double now = 0, most_f = 0, difference = 0;
  for (const std::size_t row : {20, 200, 1000, 2000}) {
    const int steps = std::ceil((t[row] - now) / 0.1);
    for (int i = 0; i < steps; ++i) run.step((t[row] - now) / steps);
    now = t[row];
    // At the start the sharp edges of the square see the step of the Runge-Kutta scheme.
    const double tolerance = now < 5 ? 3e-6 : 3e-8;
    EXPECT_NEAR(l2(run, 0), series["square_L2"][row], tolerance * series["square_L2"][row]) << now;
    EXPECT_NEAR(l2(run, 1), series["bump_L2"][row], tolerance * series["bump_L2"][row]) << now;
  }
  const double end = 100.007721;
  for (int i = 0; i < 10; ++i) run.step((end - now) / 10);

  const auto& expected = arrays.at("bump_f_frame4");
  const auto& block = run.f[1].block;
  for (int i = 0; i < block.n_last(); ++i)
    for (int m = 0; m < 8; ++m) {
      const auto theirs = expected.at(0, block.begin[1] + i, run.basis.gkeyll_order()[m]);
      most_f = std::max(most_f, std::abs(theirs));
      difference = std::max(difference, std::abs(run.f[1].at(0, 0, i, m) - theirs));
    }
  EXPECT_LT(difference, 1e-8 * most_f);
  const auto finish = run.moments_of(1);
  for (int m = 0; m < 3; ++m) EXPECT_NEAR(finish(0, m, 0), start(0, m, 0), 1e-12 * start(0, m, 0));
}
