#include "surrogates/flow/evaluation/flow_statistics.hpp"

#include <gtest/gtest.h>

#include <random>

#include "evaluation_support.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/evaluation/line_spectrum.hpp"

namespace quintet::flow {
namespace {

constexpr double pi = std::numbers::pi, nu = 0.003, kappa = 0.002;

/// w along z (axis 0), u along x (axis 1), b.
FlowSample sample_of(const RectilinearGrid& grid, const Function& w, const Function& u, const Function& b,
                     std::vector<FieldWalls> walls = {}) {
  const auto fw = sampled(grid, w), fu = sampled(grid, u), fb = sampled(grid, b);
  if (walls.empty()) walls.assign(3, FieldWalls(2));
  return flow_sample(grid, {fw, fu, fb}, walls, {{0, 1}, 2}, {nu, kappa});
}
double nothing(double, double) { return 0; }

RectilinearGrid box(int n) { return RectilinearGrid({ring("z", n, 2 * pi), ring("x", n, 2 * pi)}); }

TEST(FlowStatistics, taylor_green_has_the_energy_and_dissipation_of_the_theory) {
  const auto s = sample_of(
      box(64), [](double z, double x) { return -std::cos(x) * std::sin(z); },
      [](double z, double x) { return std::sin(x) * std::cos(z); }, nothing);
  EXPECT_NEAR(s.kinetic_energy, 0.25, 1e-14);
  EXPECT_NEAR(s.strain_dissipation, nu, 1e-5 * nu);
  EXPECT_NEAR(s.dissipation, nu, 1e-5 * nu);
  EXPECT_LT(s.rms_divergence, 1e-14);
}

TEST(FlowStatistics, a_shear_wave_dissipates_half_of_nu) {
  const auto s = sample_of(
      box(64), [](double, double x) { return std::sin(x); }, nothing, nothing);
  EXPECT_NEAR(s.kinetic_energy, 0.25, 1e-14);
  EXPECT_NEAR(s.strain_dissipation, nu / 2, 1e-5 * nu);
}

TEST(FlowStatistics, velocities_that_cancel_in_their_sum_still_count) {
  const auto s = sample_of(
      box(64), [](double z, double x) { return -std::sin(x + z); },
      [](double z, double x) { return std::sin(x + z); }, nothing);
  EXPECT_NEAR(s.kinetic_energy, 0.5, 1e-14);
  EXPECT_NEAR(s.strain_dissipation, 2 * nu, 2e-5 * nu);
  EXPECT_LT(s.rms_divergence, 1e-14);
}

TEST(FlowStatistics, channel_flow_between_real_walls_is_exact_on_a_clustered_grid) {
  const RectilinearGrid grid({clustered("z", 16), ring("x", 8, 3)});
  const auto s = sample_of(
      grid, nothing, [](double z, double) { return 0.25 - z * z; }, [](double z, double) { return -z; },
      {{{0.0, 0.0}, {}}, {{0.0, 0.0}, {}}, {{0.5, -0.5}, {}}});
  EXPECT_NEAR(s.dissipation, nu / 3, 1e-12 * nu);
  EXPECT_NEAR(s.scalar_dissipation, kappa, 1e-12 * kappa);
  EXPECT_NEAR(s.nusselt_volume, 1, 1e-12);
  EXPECT_NEAR(s.nusselt_lower, 1, 1e-12);
  EXPECT_NEAR(s.nusselt_upper, 1, 1e-12);
  EXPECT_LT(s.velocity_wall_error, 1e-13);
  EXPECT_LT(s.scalar_wall_error, 1e-13);
}

TEST(FlowStatistics, nusselt_numbers_take_what_the_flow_carries_and_what_the_walls_conduct) {
  const RectilinearGrid grid({clustered("z", 24), ring("x", 32, 2)});
  const auto w = [](double z, double x) { return (0.25 - z * z) * std::cos(pi * x); };
  const auto b = [](double z, double x) {
    return -z + 0.3 * std::cos(pi * x) * (0.25 - z * z) - 2 * z * (0.25 - z * z);
  };
  const std::vector<FieldWalls> walls = {{{0.0, 0.0}, {}}, {{0.0, 0.0}, {}}, {{0.5, -0.5}, {}}};
  const auto s = sample_of(grid, w, nothing, b, walls);
  EXPECT_NEAR(s.nusselt_volume, 1 + 0.5 * 0.3 / 30 / kappa, 1e-3);  // <(1/4 - z^2)^2> = 1/30
  EXPECT_NEAR(s.nusselt_lower, 1 - 1, 1e-10);  // db/dz = -1 - 2 (1/4 - 3 z^2), at z = -+1/2: 0
  EXPECT_NEAR(s.nusselt_upper, 1 - 1, 1e-10);
}

TEST(FlowStatistics, side_walls_held_at_two_values_are_the_heated_ones) {
  const RectilinearGrid grid({clustered("z", 12), clustered("x", 12)});
  const auto s = sample_of(grid, nothing, nothing, [](double, double x) { return 2 - 3 * x; },
                           {FieldWalls(2), FieldWalls(2), {{}, {3.5, 0.5}}});
  EXPECT_NEAR(s.nusselt_lower, 1, 1e-12);
  EXPECT_NEAR(s.nusselt_upper, 1, 1e-12);
  EXPECT_TRUE(std::isnan(s.energy_over_wavenumber));
}

TEST(FlowStatistics, wall_errors_are_those_of_the_field_at_the_wall) {
  const RectilinearGrid grid({clustered("z", 12), ring("x", 8, 2)});
  const auto s = sample_of(
      grid, [](double, double) { return 0.2; }, nothing, [](double z, double) { return 0.1 - z; },
      {{{0.0, 0.0}, {}}, {{0.0, 0.0}, {}}, {{0.5, -0.5}, {}}});
  EXPECT_NEAR(s.velocity_wall_error, 0.2 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(s.scalar_wall_error, 0.1, 1e-12);
}

TEST(FlowStatistics, the_nine_follow_their_formulas_in_space_and_in_the_plane) {
  FlowSample s;
  s.kinetic_energy = 0.06, s.strain_dissipation = 0.02, s.energy_over_wavenumber = 0.01;
  const auto value = [&](int i, const TurbulenceConstants& c) {
    return turbulence_statistics()[i].value(s, nu, c);
  };
  const double expected[] = {0.06,
                             0.2,
                             0.02,
                             std::sqrt(15 * nu * 0.04 / 0.02),
                             0,
                             std::sqrt(nu / 0.02),
                             std::pow(nu * nu * nu / 0.02, 0.25),
                             pi / 2 / 0.04 * 0.01,
                             pi / 2 / 0.04 * 0.01 / 0.2};
  for (const int i : {0, 1, 2, 3, 5, 6, 7, 8})
    EXPECT_NEAR(value(i, space_turbulence), expected[i], 1e-14) << i;
  EXPECT_NEAR(value(4, space_turbulence), 0.2 * expected[3] / nu, 1e-12);
  EXPECT_NEAR(value(1, plane_turbulence), std::sqrt(0.06), 1e-14);
  EXPECT_NEAR(value(3, plane_turbulence), std::sqrt(8 * nu * 0.06 / 0.02), 1e-14);
}

/// Waves of one length in random phases, u = d psi/dz, w = -d psi/dx: (5, 0) and (4, 3) with their images, in
/// the shares that make moments of fourth order isotropic, <k_x^2 k_z^2> = <k^4>/8.
TEST(FlowStatistics, plane_constants_are_those_of_isotropy_in_the_plane) {
  const auto grid = box(128);
  std::mt19937 random(3);
  std::uniform_real_distribution<double> phase(0, 2 * pi);
  struct Wave {
    double kx, kz, phase, amplitude;
  };
  std::vector<Wave> waves;
  for (int kx = -5; kx <= 5; ++kx)
    for (int kz = 0; kz <= 5; ++kz)
      if ((kz > 0 || kx > 0) && kx * kx + kz * kz == 25)
        waves.push_back({static_cast<double>(kx), static_cast<double>(kz), phase(random),
                         kx * kz == 0 ? std::sqrt((8 * 1152 - 5000) / 2500.0) : 1.0});
  const auto sum = [&](double cx, double cz) {
    return [&waves, cx, cz](double z, double x) {
      double value = 0;
      for (const auto& k : waves)
        value += k.amplitude * (cx * k.kx + cz * k.kz) * std::sin(k.kx * x + k.kz * z + k.phase);
      return value;
    };
  };
  const auto s = sample_of(grid, sum(-1, 0), sum(0, 1), nothing);
  // lambda^2 = u_rms^2/<(du/dx)^2>
  const auto u = sampled(grid, sum(0, 1));
  const auto d = grid.derivative(u, 1, 1);
  const double lambda = std::sqrt(grid.mean(u, u) / grid.mean(d, d));
  EXPECT_NEAR(turbulence_statistics()[3].value(s, nu, plane_turbulence), lambda, 1e-3 * lambda);
}

TEST(LineSpectrum, sums_to_the_mean_square_for_any_number_of_points) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal;
  for (const int n : {8, 15, 34, 48, 37}) {  // 34 and 37 have large prime factors
    const RectilinearGrid grid({clustered("z", 9), ring("x", n, 3)});
    std::vector<double> f;
    for (int i = 0; i < grid.size(); ++i) f.push_back(normal(random) + 2);
    const LineSpectrum spectrum(grid.axes()[1]);
    const auto power = field_power(spectrum, grid, f, 1);
    double sum = 0;
    for (int i = 0; i < 9; ++i)
      for (int k = 0; k < spectrum.n_modes(); ++k)
        sum += grid.weights(0)[i] * power[i * spectrum.n_modes() + k];
    EXPECT_NEAR(sum, grid.mean(f, f), 1e-12 * sum) << n;
  }
}

TEST(LineSpectrum, a_wave_is_found_at_its_wavenumber_along_either_axis) {
  for (const int n : {24, 34}) {
    const RectilinearGrid grid({ring("x", n, 4), clustered("z", 7)});
    const LineSpectrum spectrum(grid.axes()[0]);
    const auto f =
        sampled(grid, [](double x, double z) { return 1 + (2 + z) * std::sin(2 * pi * 3 / 4 * x + 0.3); });
    const auto power = field_power(spectrum, grid, f, 0);
    EXPECT_NEAR(spectrum.wavenumber(3), 2 * pi * 3 / 4, 1e-14);
    for (int j = 0; j < 7; ++j)
      for (int k = 0; k < spectrum.n_modes(); ++k) {
        const double amplitude = 2 + grid.axes()[1].coordinates[j];
        EXPECT_NEAR(power[j * spectrum.n_modes() + k],
                    k == 0   ? 1
                    : k == 3 ? amplitude * amplitude / 2
                             : 0,
                    1e-12);
      }
  }
}

TEST(LineSpectrum, ends_where_points_resolve_no_more) {
  for (const int n : {8, 15}) {
    const LineSpectrum spectrum(ring("x", n, 3));
    const double nyquist = pi * n / 3;
    EXPECT_LE(spectrum.wavenumber(spectrum.n_modes() - 1), nyquist * (1 + 1e-14));
    EXPECT_GT(spectrum.wavenumber(spectrum.n_modes()), nyquist);
  }
  // The last mode of even n is the wave from point to point, which is counted once.
  const LineSpectrum spectrum(ring("x", 8, 3));
  const auto power = spectrum.power(std::vector<double>{2, -2, 2, -2, 2, -2, 2, -2});
  EXPECT_NEAR(power[4], 4, 1e-14);
}

TEST(LineSpectrum, walls_and_unequal_spacing_have_none) {
  EXPECT_THROW(LineSpectrum(clustered("z", 8)), InputError);
  auto uneven = ring("x", 8, 1);
  uneven.coordinates[3] += 0.02;
  EXPECT_THROW(LineSpectrum{uneven}, InputError);
}

TEST(FlowStatistics, the_integral_length_of_one_wave_is_that_of_its_wavenumber) {
  const auto s = sample_of(
      box(32), [](double, double x) { return std::sin(4 * x); }, nothing, nothing);
  EXPECT_NEAR(s.energy_over_wavenumber, 0.25 / 4, 1e-14);
  EXPECT_NEAR(turbulence_statistics()[7].value(s, nu, plane_turbulence), 2.0 / 4, 1e-12);
}

TEST(FlowStatistics, the_divergence_is_that_of_the_components_along_their_axes) {
  const RectilinearGrid grid({clustered("z", 12), ring("x", 64, 2 * pi)});
  const auto w = sampled(grid, [](double z, double x) { return z * z * std::cos(x); });
  const auto u = sampled(grid, [](double z, double x) { return z * std::sin(x); });
  const std::vector<FieldWalls> walls(2, FieldWalls(2));
  const auto div = divergence(grid, {w, u}, walls, {{0, 1}, -1});
  EXPECT_LT(greatest_difference(div, sampled(grid, [](double z, double x) { return 3 * z * std::cos(x); })),
            1e-5);
  const FlowSample sample = flow_sample(grid, {w, u}, walls, {{0, 1}, -1}, {nu, kappa});
  EXPECT_NEAR(sample.rms_divergence, std::sqrt(grid.mean(div, div)), 1e-14);
}

TEST(FlowStatistics, a_velocity_that_is_no_field_is_refused) {
  const auto grid = box(8);
  const std::vector<double> f(64);
  EXPECT_THROW((void)flow_sample(grid, {f}, {FieldWalls(2)}, {{0, 1}, -1}, {nu, kappa}), InputError);
}

}  // namespace
}  // namespace quintet::flow
