#include "physics/kinetics/theory/theory.hpp"

#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/complex_roots.hpp"
#include "tests/support/plasma_theory.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

/// 1 - sum_s omega_s^2 int f0_s/(omega - k v)^2 dv for Im omega > 0: the Vlasov-Poisson integral itself.
Complex dielectric_integral(Complex omega, double k, std::span<const DriftingMaxwellian> species) {
  Complex epsilon = 1;
  for (const auto& s : species) {
    const double h =
        std::min(0.1, 0.12 * omega.imag() / (std::abs(k) * s.thermal_speed));  // in thermal speeds
    for (int i = -static_cast<int>(9 / h); i * h <= 9; ++i) {
      const double f0 = std::exp(-0.5 * i * h * i * h) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
      const Complex d = omega - k * (s.drift + i * h * s.thermal_speed);
      epsilon -= s.plasma_frequency * s.plasma_frequency * f0 * h / (d * d);
    }
  }
  return epsilon;
}

const std::array bump_on_tail = {DriftingMaxwellian{std::sqrt(0.9), 1, 0},
                                 DriftingMaxwellian{std::sqrt(0.1), 0.5, 4.5}};

TEST(ComplexRoots, counts_and_finds_the_highest_zero) {
  const std::vector<Complex> zeros = {{0, 1}, {0.3, 1.2}, {-0.7, 0.2}, {2, -1}, {2, -1}};
  const ComplexFunction f = [&](Complex z) {
    Complex product = 1;
    for (const Complex zero : zeros) product *= z - zero;
    return product;
  };
  const Rectangle whole{{-3, -3}, {4, 3}}, upper{{-3, 0.05}, {4, 3}};

  EXPECT_EQ(count_zeros(f, whole, 0.5), 5);
  EXPECT_EQ(count_zeros(f, upper, 0.5), 3);
  EXPECT_EQ(count_zeros([&](Complex z) { return 1.0 / f(z); }, upper, 0.5), -3);
  EXPECT_LT(std::abs(highest_root(f, whole, 0.5) - Complex(0.3, 1.2)), 1e-14);
  EXPECT_THROW((void)count_zeros(f, {{-3, 1}, {4, 3}}, 0.5), NumericalError) << "a zero on the edge";
  EXPECT_THROW((void)refine_root([](Complex z) { return std::exp(z); }, 0, 1), NumericalError);
}

TEST(Theory, dielectric_is_the_velocity_integral) {
  for (const Complex omega : {Complex(1.2, 0.3), Complex(-0.4, 0.8), Complex(3, 0.1)})
    for (const double k : {0.3, -0.7}) {
      const Complex integral = dielectric_integral(omega, k, bump_on_tail);

      EXPECT_LT(std::abs(electrostatic_dielectric(omega, k, bump_on_tail) - integral), 1e-12) << omega << k;
    }
}

/// Growing modes: the root is one of the integral too.
TEST(Theory, growing_modes_are_zeros_of_the_velocity_integral) {
  const double each = std::numbers::sqrt2 / 2;
  for (const double k : {0.1, 0.2, 0.3, 0.4}) {
    const Complex bump = electrostatic_mode(k, bump_on_tail), beams = two_stream_mode(k, 3, 1);
    const std::array species = {DriftingMaxwellian{each, 1, 3}, DriftingMaxwellian{each, 1, -3}};

    EXPECT_GT(bump.imag(), 0.09);
    EXPECT_LT(std::abs(dielectric_integral(bump, k, bump_on_tail)), 1e-11);
    if (k > 0.3) continue;
    EXPECT_GT(beams.imag(), 0.1);
    EXPECT_LT(std::abs(dielectric_integral(beams, k, species)), 1e-11);
  }
}

TEST(Theory, two_stream_tends_to_cold_beams) {
  const double k = 0.5, u = 1, y = k * u;
  const double cold =
      std::sqrt(0.5 * (std::sqrt(1 + 8 * y * y) - 1 - 2 * y * y));  // 1 = sum 0.5/(omega +- y)^2

  EXPECT_NEAR(cold, 0.34062501931660655, 1e-15);
  EXPECT_NEAR(two_stream_mode(k, u, 0).imag(), cold, 1e-14);
  EXPECT_EQ(two_stream_mode(k, u, 0).real(), 0);
  EXPECT_NEAR(two_stream_mode(k, u, 0.001).imag(), 0.3406245540129173, 1e-13);
  EXPECT_THROW((void)two_stream_mode(2, 1, 0), NumericalError) << "cold and stable";
}

TEST(Theory, landau_has_the_tabled_roots) {
  const std::array<std::array<double, 3>, 11> table = {{{0.2, 1.06398, -5.5107e-5},
                                                        {0.25, 1.10573, -0.002164},
                                                        {0.3, 1.15985, -0.012620},
                                                        {0.35, 1.22095, -0.034318},
                                                        {0.4, 1.28506, -0.066128},
                                                        {0.45, 1.35025, -0.106291},
                                                        {0.5, 1.41566, -0.153359},
                                                        {0.6, 1.54571, -0.264110},
                                                        {0.7, 1.67387, -0.392401},
                                                        {0.8, 1.79990, -0.534552},
                                                        {1.0, 2.04590, -0.851330}}};
  for (const auto& [k, omega, gamma] : table) {
    const Complex root = landau_mode(k);
    EXPECT_NEAR(root.real(), omega, 6e-6) << k;
    EXPECT_NEAR(root.imag(), gamma, 6e-7) << k;
  }
}

/// Bohm & Gross: omega^2 = omega_p^2 + 3 k^2 vth^2 + 6 k^4 vth^4/omega_p^2 + ...; no damping is left in
/// double precision.
TEST(Theory, landau_tends_to_bohm_gross_at_long_waves) {
  const double k = 0.01, square = k * k;
  EXPECT_NEAR(landau_mode(k).real(), std::sqrt(1 + 3 * square + 6 * square * square), 1e-10);
  EXPECT_EQ(landau_mode(k).imag(), 0);
}

TEST(Theory, scales_with_the_units) {
  const Complex plain = landau_mode(0.4), scaled = landau_mode(0.4 * 5 / 0.3, 5, 0.3);
  EXPECT_LT(std::abs(scaled - 5.0 * plain), 1e-12);
  EXPECT_LT(std::abs(landau_mode(-0.4) - plain), 1e-14);

  const auto kind = CollisionInvariants::density_momentum_energy;
  const Complex collisional = collisional_landau_mode(0.4, 0.07, kind, 2);
  EXPECT_LT(std::abs(collisional_landau_mode(0.4 * 5 / 0.3, 0.35, kind, 2, 5, 0.3) - 5.0 * collisional),
            1e-12);
}

/// Roots found by 2000 secant searches in Python with SciPy's wofz.
TEST(Theory, finds_the_mode_among_several_branches) {
  EXPECT_LT(std::abs(electrostatic_mode(0.5, bump_on_tail) - Complex(1.55524211907733, -0.0403591000981562)),
            1e-12);
  EXPECT_LT(std::abs(electrostatic_mode(-0.3, bump_on_tail) - Complex(-1.00121789363112, 0.198097975843025)),
            1e-12)
      << "with k reversed the wave still follows the bump";
  const std::array ions = {DriftingMaxwellian{1, 1, 0}, DriftingMaxwellian{0.2, 0.04, 0}};
  EXPECT_LT(std::abs(electrostatic_mode(0.5, ions) - Complex(0.0961386224874708, -0.0077663599956745)),
            1e-12);
  const Complex langmuir = electrostatic_root(0.5, ions, {1.4, -0.15});
  EXPECT_NEAR(langmuir.real(), 1.42234612662444, 1e-12);
}

TEST(Theory, weibel_has_the_tabled_rates) {
  const std::array<std::array<double, 4>, 6> table = {{{0.4, 0.3, 0.1, 0.0984854},
                                                       {0.4, 0.3, 0.05, 0.1072449},
                                                       {0.4, 0.3, 0.03, 0.1094865},
                                                       {0.4, 0.3, 0.01, 0.1106790},
                                                       {0.4, 0.3, 0, 0.1108319},
                                                       {1, 0.3, 0.1, 0.1644027}}};
  for (const auto& [k, u, vt, gamma] : table) {
    const std::array beams = {TransverseMaxwellian{1, vt, u * u + vt * vt}};
    EXPECT_NEAR(weibel_rate(k, 1, beams), gamma, 6e-8) << k << " " << vt;
  }
  const double vth = 0.02 / std::numbers::sqrt2;
  EXPECT_NEAR(weibel_rate(1.25, 1, std::array{TransverseMaxwellian{1, vth, 12 * vth * vth}}), 0.0278371,
              6e-8);
}

/// The aperiodic root is a zero, and no other lies above the real axis; without anisotropy it decays.
TEST(Theory, weibel_has_one_growing_root) {
  for (const double k : {0.4, 1.0}) {
    const std::array beams = {TransverseMaxwellian{0.8, 0.1, 0.1}, TransverseMaxwellian{0.6, 0.05, 0.07}};
    const double gamma = weibel_rate(k, 1, beams);
    const auto d = [&](Complex omega) { return weibel_dispersion(omega, k, 1, beams); };

    EXPECT_GT(gamma, 0.09);
    EXPECT_LT(std::abs(d({0, gamma})), 1e-13);
    EXPECT_EQ(count_zeros(d, {{-3, 1e-3}, {3.1, 1}}, 5e-4), 1);
    EXPECT_EQ(count_zeros(d, {{-3, gamma + 1e-6}, {3.1, 1}}, 5e-4), 0);
  }
  EXPECT_LT(weibel_rate(0.4, 1, std::array{TransverseMaxwellian{1, 0.1, 0.01}}), 0);
}

TEST(Theory, recurrence_time_is_that_of_the_cells) {
  EXPECT_NEAR(recurrence_time(0.5, 12.0 / 32), 33.5103, 1e-4);
}

/// u' = (q/m)(E + u x B), by fourth-order differences, away from, near and at the resonance.
TEST(Theory, driven_cyclotron_velocity_solves_the_equation_of_motion) {
  for (const double omega : {0.0, 0.4, 0.999999, 1.0, -1.0})
    for (const double charge : {-1.0, 2.0}) {
      const double e0 = 0.9, b0 = 1, t = 7.3, h = 2e-3;
      const auto u = [&](double time) { return driven_cyclotron_velocity(time, e0, omega, b0, charge); };
      for (std::size_t i = 0; i < 2; ++i) {
        const double slope = (8 * (u(t + h)[i] - u(t - h)[i]) - u(t + 2 * h)[i] + u(t - 2 * h)[i]) / (12 * h);
        const double force = i == 0 ? e0 * std::cos(omega * t) + u(t)[1] * b0 : -u(t)[0] * b0;
        EXPECT_NEAR(slope, charge * force, 1e-9) << omega << " " << charge;
      }
      EXPECT_EQ(u(0)[0], 0);
      EXPECT_EQ(u(0)[1], 0);
    }
}

TEST(Theory, driven_cyclotron_velocity_at_resonance_and_without_oscillation) {
  const double t = 3.1, w = 0.7, e0 = 0.2;
  const auto resonant = driven_cyclotron_velocity(t, e0, w, w, -1),
             drift = driven_cyclotron_velocity(t, e0, 0, w, -1);

  EXPECT_NEAR(resonant[0], -e0 / 2 * (t * std::cos(w * t) + std::sin(w * t) / w), 1e-15);
  EXPECT_NEAR(resonant[1], -e0 / 2 * t * std::sin(w * t), 1e-15);
  EXPECT_NEAR(drift[1], -e0 / w * (1 - std::cos(w * t)), 1e-15);  // mean -E0/B0: E x B
}

TEST(Theory, refuses_what_has_no_meaning) {
  EXPECT_THROW((void)landau_mode(0), InputError);
  EXPECT_THROW((void)landau_mode(0.5, 1, -1), InputError);
  EXPECT_THROW((void)electrostatic_mode(0.5, {}), InputError);
  EXPECT_THROW((void)weibel_rate(0.5, 1, std::array{TransverseMaxwellian{1, 1, 0}}), InputError);
  EXPECT_THROW((void)recurrence_time(0.5, 0), InputError);
  EXPECT_THROW((void)collisional_landau_mode(0.5, -1, CollisionInvariants::density), InputError);
  EXPECT_THROW((void)collisional_landau_mode(0.5, 0.1, CollisionInvariants::density, 4), InputError);
  EXPECT_THROW((void)collisional_landau_mode(0.5, 1e12, CollisionInvariants::density), NumericalError);
}

/// The returning wave is exp(-(k vth (T_R - t))^2/2): at the onset it is a thousandth of the damped one.
TEST(Recurrence, begins_where_the_returning_wave_shows) {
  const double k = 0.5, dv = 0.375, gamma = landau_mode(k).imag(), end = recurrence_time(k, dv);

  const double onset = recurrence_onset({{k, 0, 0}, {dv, 1, 1}, 1}, gamma);

  EXPECT_NEAR(onset, 24.3, 0.1);
  EXPECT_NEAR(-0.5 * std::pow(k * (end - onset), 2), std::log(1e-3) + gamma * onset, 0.05);
  EXPECT_LT(recurrence_onset({{k, 0, 0}, {2 * dv, 1, 1}, 1}, gamma),
            0.4 * onset);  // twice as early, and the pulse as wide
  EXPECT_LT(recurrence_onset({{k, 0, 0}, {dv, 1, 1}, 0.5}, gamma), onset);    // a wider pulse
  EXPECT_LT(recurrence_onset({{k, 0, 0}, {dv, 1, 1}, 1}, 2 * gamma), onset);  // a weaker wave
}

TEST(Recurrence, of_an_oblique_wave_comes_where_all_its_directions_come_back) {
  // Along the diagonal of equal cells as along one of them with k of one component; where the cells across
  // are others, both must come back at once: later.
  const double gamma = -0.01;
  const double straight = recurrence_onset({{0.3, 0, 0}, {0.4, 1, 1}, 1}, gamma);
  EXPECT_NEAR(recurrence_onset({{0.3, 0.3, 0}, {0.4, 0.4, 1}, 1}, gamma), straight, 4);
  EXPECT_GT(recurrence_onset({{0.3, 0.3, 0}, {0.4, 0.27, 1}, 1}, gamma), 1.5 * straight);
  // A weak component across changes little.
  EXPECT_NEAR(recurrence_onset({{0.3, 0.001, 0}, {0.4, 0.4, 1}, 1}, gamma), straight, 0.4);
}

TEST(Theory, finds_the_roots_of_both_directions) {
  const std::array rest{DriftingMaxwellian{1, 1, 0}};
  const auto pair = electrostatic_modes(0.5, rest, 2);
  ASSERT_EQ(pair.size(), 2);
  EXPECT_NEAR(std::abs(pair[0] - std::complex<double>(1.4156619, -0.1533595)), 0, 1e-6);
  EXPECT_NEAR(std::abs(pair[1] + std::conj(pair[0])), 0, 1e-9);
  // Seen from a moving frame both are shifted by k u.
  const std::array drifting{DriftingMaxwellian{1, 1, 0.4}};
  const auto moved = electrostatic_modes(0.5, drifting, 2);
  ASSERT_EQ(moved.size(), 2);
  for (const auto root : moved)
    EXPECT_NEAR(std::abs(std::abs(root.real() - 0.2) - 1.4156619), 0, 1e-6) << root.real();
  EXPECT_LT(moved[0].real() * moved[1].real(), 0);
}

TEST(Theory, knows_what_cells_make_of_a_resonance) {
  // Current-driven ion-acoustic wave, gamma/k = 0.0176: measured rates of 48, 96 and 192 cells over 12.
  EXPECT_NEAR(resonance_error(0.0105732, 0.6, 12.0 / 48, 2), 0.24, 0.04);
  EXPECT_NEAR(resonance_error(0.0105732, 0.6, 12.0 / 96, 2), 0.0697, 0.005);
  EXPECT_NEAR(resonance_error(0.0105732, 0.6, 12.0 / 192, 2), 0.0059, 0.002);
  EXPECT_LT(resonance_error(0.32, 0.5, 12.0 / 32, 2), 1e-12);
}

TEST(Recurrence, collisions_end_it) {
  const double gamma = collisional_landau_mode(0.5, 0.1, CollisionInvariants::density_momentum_energy).imag();

  EXPECT_TRUE(std::isinf(recurrence_onset({.k = {0.5, 0, 0}, .dv = {0.375, 1, 1}, .diffusion = 0.1}, gamma)));
  EXPECT_TRUE(std::isinf(recurrence_onset({.k = {0.5, 0, 0}, .dv = {0.375, 1, 1}, .relaxation = 1}, gamma)));
  EXPECT_TRUE(
      std::isinf(recurrence_onset({.k = {0.5, 0, 0}, .dv = {0.375, 1, 1}, .thermal_speed = 0}, gamma)));
  EXPECT_LT(recurrence_onset({.k = {0.5, 0, 0}, .dv = {0.375, 1, 1}, .diffusion = 1e-5}, gamma), 26);
}

}  // namespace
}  // namespace quintet::kinetics
