#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"
#include "physics/kinetics/theory/theory.hpp"
#include "tests/support/plasma_theory.hpp"

/// Rates of small perturbations against linear theory, and what they converge to.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

struct Run {
  std::vector<double> t, electric, magnetic, energy, particles;
};

Run run(VlasovSystem& system, double t_end) {
  const Exec exec;
  Run result;
  const auto add = [&] {
    const auto sample = system.sample(exec);
    result.t.push_back(sample.time);
    result.electric.push_back(sample.field[field_ex]);
    result.magnetic.push_back(sample.field[field_bz]);
    result.energy.push_back(sample.energy());
    result.particles.push_back(sample.species[0].m0);
  };
  for (add(); system.time() < t_end; add()) system.advance(exec, system.stable_dt(exec));
  return result;
}

double relative_drift(const std::vector<double>& values) {
  return std::abs(values.back() / values.front() - 1);
}

Species electrons(double length, int nx, int vdim, double v_max, int nv) {
  Species species;
  species.name = "electron";
  species.grid.vdim = vdim;
  species.grid.upper[0] = length;
  species.grid.cells[0] = nx;
  species.grid.periodic[0] = true;
  for (std::size_t d = 1; d <= static_cast<std::size_t>(vdim); ++d) {
    species.grid.lower[d] = -v_max;
    species.grid.upper[d] = v_max;
    species.grid.cells[d] = nv;
  }
  return species;
}

/// Vlasov-Maxwell with immobile ions.
SystemOptions neutralised() {
  SystemOptions options;
  options.background_charge = 1;
  return options;
}

SystemOptions poisson() {
  auto options = neutralised();
  options.field = FieldModel::poisson;
  return options;
}

/// n = 1 + amplitude cos(k x), vth = 1.
void fill_landau(VlasovSystem& system, double k) {
  project_phase(
      system.basis(),
      [k](std::span<const double> z) {
        return (1 + 1e-4 * std::cos(k * z[0])) * std::exp(-0.5 * z[1] * z[1]) / std::sqrt(2 * pi);
      },
      system.f(0), "f");
  system.start(Exec(), 0);
}

TEST(VlasovTheory, landau_damping) {
  for (const double k : {0.3, 0.4, 0.5})
    for (const int order : {2, 3}) {
      VlasovSystem system(Comm::self(), PhaseBasis(1, 1, order, Family::serendipity),
                          {electrons(2 * pi / k, 16, 1, 6, 32)}, poisson());
      fill_landau(system, k);

      const auto result = run(system, 24);

      const auto theory = landau_mode(k);
      const auto fit = fit_damped_oscillation(result.t, result.electric, Window{4, 24});
      EXPECT_NEAR(fit.omega, theory.real(), 2e-3 * theory.real()) << "k = " << k;
      EXPECT_NEAR(fit.gamma, theory.imag(), 0.01 * std::abs(theory.imag())) << "k = " << k;
      EXPECT_LT(relative_drift(result.particles), 1e-12);
      EXPECT_LT(relative_drift(result.energy), 1e-11);
    }
}

TEST(VlasovTheory, collisions_that_conserve_lower_landau_damping) {
  for (const double nu : {0.05, 0.2}) {
    auto options = poisson();
    options.collisions.emplace().frequency = {{nu}};
    VlasovSystem system(Comm::self(), PhaseBasis(1, 1, 2, Family::serendipity),
                        {electrons(4 * pi, 16, 1, 6, 32)}, options);
    fill_landau(system, 0.5);

    const auto result = run(system, 28);

    const auto theory = collisional_landau_mode(0.5, nu, CollisionInvariants::density_momentum_energy);
    // Before t = 12 other modes still die out.
    const auto fit = fit_damped_oscillation(result.t, result.electric, Window{12, 28});
    EXPECT_NEAR(fit.omega, theory.real(), 1e-4 * theory.real());
    EXPECT_NEAR(fit.gamma, theory.imag(), 1e-3 * std::abs(theory.imag()));
    EXPECT_LT(relative_drift(result.energy), 1e-11);
  }
}

/// n/2 at +-u along `direction` with thermal speed vt; `across`: number of other velocity directions.
double beams(std::span<const double> z, std::size_t direction, std::size_t vdim, double u, double vt) {
  double f = 1;
  for (std::size_t d = 1; d <= vdim; ++d) {
    const auto gauss = [&](double v0) {
      return std::exp(-0.5 * (z[d] - v0) * (z[d] - v0) / (vt * vt)) / (std::sqrt(2 * pi) * vt);
    };
    f *= d == direction ? 0.5 * (gauss(u) + gauss(-u)) : gauss(0);
  }
  return f;
}

TEST(VlasovTheory, two_stream_instability) {
  VlasovSystem system(Comm::self(), PhaseBasis(1, 1, 2, Family::serendipity),
                      {electrons(4 * pi, 16, 1, 3, 48)}, neutralised());
  project_phase(
      system.basis(),
      [](std::span<const double> z) { return (1 + 1e-6 * std::cos(0.5 * z[0])) * beams(z, 1, 1, 1, 0.2); },
      system.f(0), "f");
  project_conf(
      system.f(0).block, system.basis().conf(),
      [](std::span<const double> x) { return -2e-6 * std::sin(0.5 * x[0]); }, system.field(), field_ex, "E");
  system.start(Exec(), 0);

  const auto result = run(system, 32);

  EXPECT_NEAR(fit_growth(result.t, result.electric, Window{22, 32}).rate, two_stream_mode(0.5, 1, 0.2).imag(),
              2e-3);
  EXPECT_LT(relative_drift(result.particles), 1e-12);
  EXPECT_LT(relative_drift(result.energy), 1e-11);
}

TEST(VlasovTheory, weibel_instability) {
  const double k = 0.4, u = 0.3, vt = 0.1;
  VlasovSystem system(Comm::self(), PhaseBasis(1, 2, 2, Family::serendipity),
                      {electrons(2 * pi / k, 8, 2, 0.9, 24)}, neutralised());
  project_phase(
      system.basis(), [&](std::span<const double> z) { return beams(z, 2, 2, u, vt); }, system.f(0), "f");
  project_conf(
      system.f(0).block, system.basis().conf(),
      [&](std::span<const double> x) { return 1e-6 * std::sin(k * x[0]); }, system.field(), field_bz, "B");
  system.start(Exec(), 0);

  const auto result = run(system, 60);

  const TransverseMaxwellian plasma{.thermal_speed = vt, .transverse_square = u * u + vt * vt};
  const double theory = weibel_rate(k, 1, std::span(&plasma, 1));
  EXPECT_NEAR(theory, 0.0984854, 1e-6);
  EXPECT_NEAR(fit_growth(result.t, result.magnetic, Window{40, 60}).rate, theory, 0.01 * theory);
  EXPECT_LT(relative_drift(result.particles), 1e-12);
}

}  // namespace
}  // namespace quintet::kinetics
