#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"
#include "physics/kinetics/theory/growth_fit.hpp"
#include "physics/kinetics/theory/theory.hpp"
#include "tests/support/kinetics_reference.hpp"

/// Whole runs beside Gkeyll's histories (same grid, same basis) and beside linear theory.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

Species electrons(int nx, int nv) {
  Species species;
  species.name = "electron";
  species.grid.lower = {-2 * pi, -6};
  species.grid.upper = {2 * pi, 6};
  species.grid.cells = {nx, nv, 1, 1, 1, 1};
  species.grid.periodic[0] = true;
  return species;
}

struct History {
  std::vector<double> t, e2, m0, m2, l2, energy;
  void add(const Sample& sample) {
    t.push_back(sample.time);
    e2.push_back(sample.field[field_ex]);
    m0.push_back(sample.species[0].m0);
    m2.push_back(sample.species[0].m2);
    l2.push_back(sample.species[0].l2);
    energy.push_back(sample.energy());
  }
};

/// Steps through the times of a reference series, `per_row` steps between two of them.
History follow(VlasovSystem& system, const std::vector<double>& times, double t_end, int per_row) {
  const Exec exec;
  History history;
  history.add(system.sample(exec));
  for (std::size_t i = 1; i < times.size() && times[i] < t_end; ++i) {
    const double dt = (times[i] - times[i - 1]) / per_row;
    for (int k = 0; k < per_row; ++k) system.advance(exec, dt);
    history.add(system.sample(exec));
  }
  return history;
}

double greatest_relative(const std::vector<double>& ours, const std::vector<double>& theirs) {
  double greatest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    greatest = std::max(greatest, std::abs(ours[i] - theirs[i]) / std::abs(theirs[i]));
  return greatest;
}

double greatest_relative(const std::vector<double>& ours, const std::vector<double>& theirs,
                         const std::vector<double>& t, double begin, double end) {
  double greatest = 0;
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (t[i] >= begin && t[i] < end)
      greatest = std::max(greatest, std::abs(ours[i] - theirs[i]) / std::abs(theirs[i]));
  return greatest;
}

/// Of |E| = sqrt(int E_x^2 dx).
double greatest_difference(const History& ours, const CsvTable& theirs, double begin, double end) {
  double greatest = 0;
  for (std::size_t i = 0; i < ours.t.size(); ++i)
    if (ours.t[i] >= begin && ours.t[i] < end)
      greatest = std::max(greatest, std::abs(std::sqrt(ours.e2[i]) - std::sqrt(theirs["int_Ex2"][i])));
  return greatest;
}

/// Largest change relative to the first value.
double drift(const std::vector<double>& values) {
  double greatest = 0;
  for (const double value : values) greatest = std::max(greatest, std::abs(value / values[0] - 1));
  return greatest;
}

SystemOptions landau_options() {
  SystemOptions options;
  options.field = FieldModel::poisson;
  options.background_charge = 1;
  return options;
}

void fill_landau(VlasovSystem& system) {
  project_phase(
      system.basis(),
      [](std::span<const double> z) {
        return (1 + 1e-4 * std::cos(0.5 * z[0])) * std::exp(-0.5 * z[1] * z[1]) / std::sqrt(2 * pi);
      },
      system.f(0), "f");
  system.start(Exec(), 0);
}

TEST(VlasovReference, landau_damping_follows_gkeyll_through_recurrence) {
  const char* file = "landau_vp_1x1v_p2.csv";
  if (!reference_here(file)) GTEST_SKIP() << reference_absent(file);
  const auto theirs = reference_csv(file);
  VlasovSystem system(Comm::self(), PhaseBasis(1, 1, 2, Family::serendipity), {electrons(32, 32)},
                      landau_options());
  fill_landau(system);
  EXPECT_NEAR(system.stable_dt(Exec()), 0.011780563868918372, 1e-6);

  const auto ours = follow(system, theirs["t"], 100, 4);

  // The projections are the same to round-off and the field stays small, so both codes do the same linear
  // problem.
  EXPECT_LT(greatest_relative(ours.m0, theirs["elc_M0"]), 1e-12);
  EXPECT_LT(greatest_relative(ours.m2, theirs["elc_M2"]), 1e-12);
  EXPECT_LT(greatest_relative(ours.l2, theirs["elc_L2"]), 1e-11);
  EXPECT_LT(greatest_difference(ours, theirs, 0, 25), 1e-11);   // of |E|, at most 5e-4
  EXPECT_LT(greatest_difference(ours, theirs, 25, 100), 1e-8);  // where recurrence brings |E| back to 1.8e-4
  const auto fit = fit_damped_oscillation(ours.t, ours.e2, Window{4, 24});
  EXPECT_NEAR(fit.omega, 1.4155080241744151, 1e-5);
  EXPECT_NEAR(fit.gamma, -0.15338374159963217, 1e-5);
  EXPECT_LT(drift(ours.energy), 1e-12);
}

TEST(VlasovReference, two_stream_follows_gkeyll) {
  const char* file = "twostream_vm_1x1v_p2.csv";
  if (!reference_here(file)) GTEST_SKIP() << reference_absent(file);
  const auto theirs = reference_csv(file);
  const auto start = reference_npz("twostream_vm_1x1v_p2_dg_coeffs.npz");
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  SystemOptions options;
  options.cfl = 0.6;
  options.background_charge = 1;
  VlasovSystem system(Comm::self(), basis, {electrons(64, 32)}, options);
  const auto& f0 = start.at("elc_f_frame0");
  const auto& field0 = start.at("field_frame0");
  for (int i = 0; i < 64; ++i) {
    for (int j = 0; j < 32; ++j)
      for (int m = 0; m < 8; ++m) system.f(0).at(i, 0, j, m) = f0.at(i, j, basis.gkeyll_order()[m]);
    for (int c = 0; c < n_field; ++c)
      for (int m = 0; m < 3; ++m) system.field()(i, c, m) = field0.at(i, 3 * c + m);
  }
  system.start(Exec(), 0);
  EXPECT_NEAR(system.stable_dt(Exec()), 0.003926990132423747, 1e-6);

  const auto ours = follow(system, theirs["t"], 40, 5);

  // The velocity fluxes differ where E changes its sign in a cell: by truncation error. At t = 1 to 4 the
  // energy passes through zero.
  EXPECT_LT(greatest_relative(ours.m0, theirs["elc_M0"]), 1e-12);
  EXPECT_LT(greatest_relative(ours.m2, theirs["elc_M2"]), 1e-7);
  EXPECT_LT(greatest_relative(ours.l2, theirs["elc_L2"]), 1e-4);
  EXPECT_LT(greatest_relative(ours.e2, theirs["int_Ex2"], ours.t, 0, 1), 1e-8);
  EXPECT_LT(greatest_relative(ours.e2, theirs["int_Ex2"], ours.t, 1, 5), 2e-3);
  EXPECT_LT(greatest_relative(ours.e2, theirs["int_Ex2"], ours.t, 5, 40), 5e-5);
  const auto fit = fit_growth(ours.t, ours.e2, Window{25, 35});
  EXPECT_NEAR(fit.rate, 0.32013, 1e-5);
  EXPECT_LT(drift(ours.energy), 1e-12);
  EXPECT_LT(drift(ours.m0), 1e-12);
}

}  // namespace
}  // namespace quintet::kinetics
