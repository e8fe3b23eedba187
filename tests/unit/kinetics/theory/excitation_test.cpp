#include "physics/kinetics/theory/excitation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

/// Electrons and ions of a hundredth of their charge to mass, of one temperature.
const std::array mobile = {DriftingMaxwellian{1, 1, 0}, DriftingMaxwellian{0.1, 0.1, 0}};

bool holds(const std::vector<Complex>& roots, Complex root, double tolerance) {
  return std::any_of(roots.begin(), roots.end(),
                     [&](Complex one) { return std::abs(one - root) < tolerance; });
}

// Sonnendruecker, lecture notes (2013), k = 0.5: E is 4 alpha 0.3677 exp(-0.1533 t) cos(1.4156 t - 0.5362) of
// a wave that starts as 2 alpha, of which each of both roots has half.
TEST(Excitation, of_landau_damping_is_the_known_amplitude) {
  const std::array electrons{DriftingMaxwellian{1, 1, 0}};
  const std::array<DensityWave, 1> wave{{{1.0, -1}}};

  EXPECT_NEAR(excitation({1.4156619, -0.1533595}, 0.5, electrons, wave), 0.3677, 5e-5);
  EXPECT_NEAR(excitation({-1.4156619, -0.1533595}, 0.5, electrons, wave), 0.3677, 5e-5);
}

TEST(Excitation, does_not_depend_on_the_frame) {
  const std::array rest{DriftingMaxwellian{1, 1, 0}}, moving{DriftingMaxwellian{1, 1, 0.8}};
  const std::array<DensityWave, 1> wave{{{{0.3, 0.4}, -1}}};
  const Complex root(1.4156619, -0.1533595);

  EXPECT_NEAR(excitation(root + 0.4, 0.5, moving, wave), excitation(root, 0.5, rest, wave), 1e-6);
}

TEST(Excitation, of_a_cold_beam_is_half_of_its_wave) {
  const std::array cold{DriftingMaxwellian{1, 0, 0}};
  const std::array<DensityWave, 1> wave{{{1.0, -1}}};

  EXPECT_NEAR(excitation(1.0, 0.5, cold, wave), 0.5, 1e-7);  // cos(t)
  EXPECT_THROW((void)excitation(1.0, 0.5, cold, {}), InternalError);
}

TEST(Excitation, finds_the_langmuir_wave_below_slower_ones) {
  const auto roots = electrostatic_candidates(0.5, mobile);

  const auto langmuir = std::find_if(roots.begin(), roots.end(),
                                     [](Complex one) { return std::abs(one.real() - 1.42) < 0.01; });
  ASSERT_NE(langmuir, roots.end());
  EXPECT_NEAR(langmuir->imag(), -0.153, 0.003);
  EXPECT_LT(std::abs(electrostatic_dielectric(*langmuir, 0.5, mobile)), 1e-10);
  ASSERT_NE(langmuir, roots.begin()) << "the ion-acoustic wave is damped less";
  EXPECT_TRUE(
      std::is_sorted(roots.begin(), roots.end(), [](Complex a, Complex b) { return a.imag() > b.imag(); }));
  for (const Complex root : roots) {
    EXPECT_LT(std::abs(electrostatic_dielectric(root, 0.5, mobile)), 1e-8) << root;
    EXPECT_TRUE(root.real() >= 0 || !holds(roots, -std::conj(root), 1e-6)) << "a pair comes once";
  }
  // Perturbed electrons show the one, perturbed ions both.
  const std::array<DensityWave, 2> of_electrons{{{0.01, -1}, {0.0, 100}}}, of_ions{{{0.0, -1}, {0.01, 100}}};
  const auto share = [&](const auto& waves) {
    return excitation(roots.front(), 0.5, mobile, waves) / excitation(*langmuir, 0.5, mobile, waves);
  };
  EXPECT_LT(share(of_electrons), 0.2);
  EXPECT_GT(share(of_ions), 2 * share(of_electrons));
}

TEST(Excitation, of_drifting_electrons_keeps_both_directions) {
  const auto roots = electrostatic_candidates(0.5, std::array{DriftingMaxwellian{1, 1, 0.4}});

  EXPECT_TRUE(holds(roots, {1.4156619 + 0.2, -0.1533595}, 1e-6));
  EXPECT_TRUE(holds(roots, {-1.4156619 + 0.2, -0.1533595}, 1e-6));
}

}  // namespace
}  // namespace quintet::kinetics
