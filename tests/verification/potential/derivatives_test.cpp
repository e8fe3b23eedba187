#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

/// Step and tolerance of central differences: float32 energies carry noise of 1e-6 eV.
struct Differences {
  double h, tolerance;
};
Differences differences(const ModelCase& item) {
  return item.name == "float32" ? Differences{2e-2, 5e-3} : Differences{3e-5, 3e-7};
}

TEST(Forces, are_minus_the_gradient_of_the_energy) {
  for (const auto& item : all_model_cases()) {
    auto& field = field_of(item);
    const auto whole = evaluate(Comm::world(), field, item.reference.configuration);
    const auto [h, tolerance] = differences(item);
    const int n = item.reference.configuration.n_atoms();
    for (const int k : {0, 7, 3 * n / 2, 3 * n - 2}) {
      double energy[2];
      for (const int side : {0, 1}) {
        auto moved = item.reference.configuration;
        moved.positions[k / 3][k % 3] += side == 0 ? -h : h;
        energy[side] = evaluate(Comm::world(), field, moved).energy;
      }
      EXPECT_NEAR(whole.force[k], -(energy[1] - energy[0]) / (2 * h),
                  tolerance * std::max(1.0, largest(whole.force)))
          << item.name << ", coordinate " << k;
    }
  }
}

TEST(Virial, is_minus_the_derivative_of_the_energy_by_strain) {
  for (const auto& item : all_model_cases()) {
    auto& field = field_of(item);
    const auto& start = item.reference.configuration;
    const auto whole = evaluate(Comm::world(), field, start);
    const auto [step, tolerance] = differences(item);
    const double h = step / 10;
    for (const int component : {0, 1, 3, 5, 8}) {
      double energy[2];
      for (const int side : {0, 1})
        energy[side] = evaluate(Comm::world(), field, strained(start, component, side == 0 ? -h : h)).energy;
      EXPECT_NEAR(whole.virial[component], -(energy[1] - energy[0]) / (2 * h),
                  10 * tolerance * std::max(1.0, largest({whole.virial.begin(), whole.virial.end()})))
          << item.name << ", component " << component;
    }
  }
}

/// Two atoms at distance r in the open, with numbers that a force field reads of them.
Configuration pair(const ForceField& field, double r) {
  const auto& types = field.type_names();
  Configuration c;
  c.type_names = types;
  c.types = {0, static_cast<int>(types.size()) - 1};
  c.positions = {{1, 1, 1}, {1 + 0.6 * r, 1, 1 + 0.8 * r}};
  c.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {false, false, false});
  for (int k = 0; k < 2 * field.n_atom_parameters(); ++k) c.parameters.push_back(0.3 * k - 0.4);
  return c;
}

TEST(Energy, goes_smoothly_to_that_of_two_lone_atoms_at_the_cutoff) {
  for (const auto& item : all_model_cases()) {
    // The row of an excluded neighbour is 0 and that of an empty slot is not: DeePMD-kit's model itself jumps
    // there.
    if (item.name == "exclude_types") continue;
    auto& field = field_of(item);
    const double scale = item.name == "float32" ? 1e-6 : 1e-12;
    const auto apart = evaluate(Comm::world(), field, pair(field, field.cutoff() + 5));
    const auto outside = evaluate(Comm::world(), field, pair(field, field.cutoff() * (1 + 1e-9)));
    const auto inside = evaluate(Comm::world(), field, pair(field, field.cutoff() * (1 - 1e-9)));
    const auto near = evaluate(Comm::world(), field, pair(field, field.cutoff() - 0.01));
    const auto closer = evaluate(Comm::world(), field, pair(field, field.cutoff() - 0.02));

    EXPECT_EQ(apart.energy, outside.energy) << item.name;
    EXPECT_EQ(largest(apart.force), 0) << item.name;
    EXPECT_NEAR(inside.energy, apart.energy, scale * std::max(1.0, std::abs(apart.energy))) << item.name;
    EXPECT_NEAR(largest(inside.force), 0, 10 * scale) << item.name;
    // w ~ (rc - r)^3 there: force and energy die out at least as its square and its cube.
    EXPECT_LE(largest(near.force), 0.3 * largest(closer.force) + 1e4 * scale) << item.name;
  }
}

TEST(Forces, of_an_isolated_atom_and_its_virial_are_zero) {
  for (const auto& item : all_model_cases()) {
    auto& field = field_of(item);
    Configuration c = pair(field, 1);
    c.types.pop_back();
    c.positions.pop_back();
    c.parameters.resize(field.n_atom_parameters());
    const auto alone = evaluate(Comm::world(), field, c);
    EXPECT_TRUE(std::isfinite(alone.energy)) << item.name;
    EXPECT_EQ(largest(alone.force), 0) << item.name;
    EXPECT_EQ(largest({alone.virial.begin(), alone.virial.end()}), 0) << item.name;
  }
}

}  // namespace
}  // namespace quintet::potential
