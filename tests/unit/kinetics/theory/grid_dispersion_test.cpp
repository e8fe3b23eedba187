#include "physics/kinetics/theory/grid_dispersion.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/plasma_theory.hpp"

namespace quintet::kinetics {
namespace {

std::vector<double> equal_cells(double low, double high, int n) {
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(low + (high - low) * i / n);
  return edges;
}

/// Langmuir wave of k lambda_D = 0.5 on nx cells a wavelength and nv from -6 to 6.
WaveErrors of_landau(int order, int nx, int nv, bool solves_poisson = true) {
  const double k = 0.5;
  const std::vector<GridBeam> beams = {{{1, 1, 0}, equal_cells(-6, 6, nv), order}};
  return wave_errors(landau_mode(k), {k, 2 * M_PI / k / nx, order, solves_poisson}, beams);
}

/// Two streams of the shipped input.
WaveErrors of_streams(int order, int nx, int nv) {
  const double k = 0.5, part = std::sqrt(0.5);
  const auto edges = equal_cells(-3, 3, nv);
  const std::vector<GridBeam> beams = {{{part, 0.2, 1}, edges, order}, {{part, 0.2, -1}, edges, order}};
  return wave_errors(two_stream_mode(k, 1, 0.2), {k, 2 * M_PI / k / nx, order, true}, beams);
}

struct Measured {
  int order, nx, nv;
  double growth_rate;  ///< less theory, of a run (Poisson, upwind, alpha = 1e-4 or 1e-6)
};

TEST(GridDispersion, tells_the_errors_that_runs_show) {
  for (const Measured& run :
       {Measured{1, 8, 48, -1.83e-2}, Measured{1, 16, 48, -3.57e-3}, Measured{1, 32, 24, -1.18e-3},
        Measured{2, 8, 48, -1.73e-4}, Measured{2, 12, 48, -3.19e-5}, Measured{2, 32, 24, 1.88e-5}}) {
    const double ratio = std::abs(run.growth_rate) / of_landau(run.order, run.nx, run.nv).growth_rate();
    EXPECT_LT(ratio, 1.3) << run.order << " " << run.nx << " " << run.nv;
    EXPECT_GT(ratio, 0.5) << run.order << " " << run.nx << " " << run.nv;
  }
  for (const Measured& run :
       {Measured{1, 8, 64, -4.78e-3}, Measured{1, 16, 64, -1.26e-3}, Measured{2, 8, 64, -4.92e-5},
        Measured{2, 16, 64, -4.75e-6}, Measured{2, 32, 24, 7.87e-6}}) {
    const double ratio = std::abs(run.growth_rate) / of_streams(run.order, run.nx, run.nv).growth_rate();
    EXPECT_LT(ratio, 1.4) << run.order << " " << run.nx << " " << run.nv;
    EXPECT_GT(ratio, 0.5) << run.order << " " << run.nx << " " << run.nv;
  }
}

TEST(GridDispersion, errors_fall_with_the_orders_of_the_scheme) {
  for (const int p : {1, 2}) {
    const WaveErrors coarse = of_streams(p, 16, 96), fine = of_streams(p, 32, 96);
    EXPECT_NEAR(std::log2(coarse.of_field.imag() / fine.of_field.imag()), 2 * p, 0.1);
    EXPECT_NEAR(std::log2(coarse.of_streaming.imag() / fine.of_streaming.imag()), 2 * p + 1, 0.1);
    EXPECT_LT(std::abs(of_streams(p, 16, 96).of_velocity_cells),
              std::abs(of_streams(p, 16, 24).of_velocity_cells) / 30);
  }
}

TEST(GridDispersion, fine_cells_have_the_continuous_root_of_a_damped_wave) {
  EXPECT_LT(std::abs(of_landau(2, 4096, 192).of_velocity_cells), 1e-7);
  EXPECT_LT(of_landau(2, 4096, 192).growth_rate(), 1e-7);
}

TEST(GridDispersion, without_poisson_the_field_is_nearer) {
  const double ratio = of_landau(2, 16, 48, false).of_field.imag() / of_landau(2, 16, 48).of_field.imag();
  EXPECT_NEAR(ratio, 0.3, 0.01);
  // A run with Maxwell's equations: two streams, 16 cells of order 2, fit and steps apart.
  const double k = 0.5, part = std::sqrt(0.5);
  const auto edges = equal_cells(-3, 3, 64);
  const std::vector<GridBeam> beams = {{{part, 0.2, 1}, edges, 2}, {{part, 0.2, -1}, edges, 2}};
  const auto errors = wave_errors(two_stream_mode(k, 1, 0.2), {k, 2 * M_PI / k / 16, 2, false}, beams);
  EXPECT_GT(2 * errors.growth_rate(), 2.1e-6);
  EXPECT_LT(errors.growth_rate(), 2 * 2.1e-6);
}

TEST(GridDispersion, stretched_cells_that_are_equal_after_all_change_nothing) {
  auto edges = equal_cells(-6, 6, 48);
  const double k = 0.5;
  const std::array beams = {GridBeam{{1, 1, 0}, edges, 2}};
  for (std::size_t i = 1; i + 1 < edges.size(); ++i) edges[i] += 1e-12;
  const std::array moved = {GridBeam{{1, 1, 0}, edges, 2}};
  const GridOfWave grid{k, 0.8, 2, true};
  EXPECT_LT(std::abs(wave_errors(landau_mode(k), grid, beams).of_velocity_cells -
                     wave_errors(landau_mode(k), grid, moved).of_velocity_cells),
            1e-10);
}

TEST(GridDispersion, cells_that_lose_the_wave_have_an_error_of_its_size) {
  const double k = 0.5;
  const auto omega = landau_mode(k);
  const std::array beams = {GridBeam{{1, 1, 0}, {-0.1, 0.1}, 1}};  // holds next to nothing of f0
  EXPECT_GE(wave_errors(omega, {k, 0.8, 1, true}, beams).growth_rate(), 0.5 * std::abs(omega.imag()));
  const std::array cold = {GridBeam{{1, 0, 0}, {-1, 1}, 1}};
  EXPECT_THROW((void)wave_errors(omega, {k, 0.8, 1, true}, cold), InputError);
}

TEST(GridDispersion, steps_err_by_their_fourth_power) {
  EXPECT_DOUBLE_EQ(step_error({2, 0}, 0.1), 16 * 1e-3 / 24);
}

}  // namespace
}  // namespace quintet::kinetics
