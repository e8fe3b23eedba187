#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/minimise.hpp"
#include "physics/particles/observables/thermo.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"
#include "tests/verification/particles/dynamics/every_integrator.hpp"

using namespace quintet;

namespace {

/// Argon whose lowest layers are frozen: 54 of 108 atoms for half of the height.
struct Frozen : Simulation {
  explicit Frozen(double shake = 0) : Simulation(Comm::world(), argon(3, 5.3, shake), argon_forces()) {
    FrozenOptions options;
    options.z = {0, 8.9};
    system.frozen = FrozenAtoms(frozen_ids(options, argon(3, 5.3, shake)));
    system.frozen.hold_velocities(exec, atoms);
  }

  /// Farthest that frozen and free atoms have moved from `start`.
  [[nodiscard]] std::pair<double, double> moved(const std::vector<double>& start) const {
    const auto now = by_id().first;
    const auto& ids = system.frozen.ids();
    std::pair<double, double> most{0, 0};
    for (std::size_t i = 0; i < now.size(); ++i) {
      const auto id = static_cast<std::int64_t>(i / 3) + 1;
      double& value = std::binary_search(ids.begin(), ids.end(), id) ? most.first : most.second;
      value = std::max(value, std::abs(now[i] - start[i]));
    }
    return most;
  }
};

}  // namespace

TEST(Frozen, atoms_stay_and_the_others_have_the_temperature) {
  for (const auto& options : every_integrator(60)) {
    if (is_at_constant_pressure(options.ensemble) || options.ensemble == Ensemble::minimise) continue;
    Frozen s;
    const auto n_free = 108 - s.system.frozen.count();
    ASSERT_EQ(n_free, 54);
    draw_velocities(s.exec, s.domain.comm(), s.atoms, 60, 3, true, s.system.frozen);
    auto integrator = make_integrator(options, {0.004, 0}, 11, s.system);
    s.system.update_forces(s.exec);
    EXPECT_EQ(s.system.degrees_of_freedom, 3 * n_free);
    const auto start = sample_thermo(s.exec, s.system, *integrator, 0, 0.004);
    EXPECT_NEAR(start.temperature, 60, 1e-9);
    const auto places = s.by_id().first;
    for (int step = 0; step < 200; ++step) integrator->step(s.exec, s.system, step);
    const auto [frozen, free] = s.moved(places);
    EXPECT_EQ(frozen, 0) << ensemble_name(options.ensemble);
    EXPECT_GT(free, 0.1);
    const auto end = sample_thermo(s.exec, s.system, *integrator, 200, 0.004);
    EXPECT_NEAR(end.conserved, start.conserved, 2e-3);
  }
}

TEST(Frozen, a_minimisation_leaves_atoms_where_they_are) {
  Frozen s(0.3);
  const auto places = s.by_id().first;
  FireMinimiser fire({.force_tolerance = 1e-4}, 0.004);
  s.system.update_forces(s.exec);
  const double start = s.system.total.energy;
  for (int step = 0; step < 3000 && !fire.finished(); ++step) fire.step(s.exec, s.system, step);
  EXPECT_TRUE(fire.finished());
  EXPECT_LT(s.system.total.energy, start - 0.01);
  EXPECT_EQ(s.moved(places).first, 0);
}

TEST(Frozen, ids_follow_types_regions_and_lists) {
  auto c = gas(9, 30);  // types 1 0 0 1 0 0 1 0 0
  FrozenOptions options;
  options.types = {"Ne"};
  EXPECT_EQ(frozen_ids(options, c), (std::vector<std::int64_t>{1, 4, 7}));
  options.ids = {2, 4};
  EXPECT_EQ(frozen_ids(options, c), (std::vector<std::int64_t>{1, 2, 4, 7}));
  c.positions[8] = {1, 2, 3};
  options = {};
  options.x = {0.9, 1.1};
  options.z = {2.9, 3.1};
  EXPECT_EQ(frozen_ids(options, c), (std::vector<std::int64_t>{9}));

  const Copies copies{2, 1, 3};
  const auto repeated = replicated(c, copies);
  options.x = {-1, 31.1};
  for (const auto& all : {options, FrozenOptions{.types = {"Ne"}, .ids = {53}}})
    EXPECT_EQ(frozen_ids(all, c, copies), frozen_ids(all, repeated));
  EXPECT_EQ(frozen_ids(options, c, copies), (std::vector<std::int64_t>{9, 36}));

  auto flagged = c;  // by its file
  flagged.held = {0, 7, 0, 0, 0, 0, 0, 0, 7};
  EXPECT_EQ(frozen_ids({}, flagged), (std::vector<std::int64_t>{2, 9}));
  EXPECT_EQ(frozen_ids(options, flagged, copies), frozen_ids(options, replicated(flagged, copies)));
  flagged.held.assign(9, 7);
  EXPECT_THROW((void)frozen_ids({}, flagged), InputError);

  const auto refused = [&](const FrozenOptions& bad) { EXPECT_THROW((void)frozen_ids(bad, c), InputError); };
  refused({.types = {"Kr"}});
  refused({.ids = {10}});
  refused({.z = {40, 50}});
  refused({.x = {-100, 100}});
}

TEST(Frozen, atoms_and_a_cell_that_moves_are_refused) {
  Frozen s;
  for (const auto& options : every_integrator(60)) {
    if (!is_at_constant_pressure(options.ensemble)) continue;
    EXPECT_THROW((void)make_integrator(options, {0.004, 0}, 11, s.system), InputError);
  }
}
