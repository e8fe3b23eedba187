#include "surrogates/potential/model/repulsion/repulsion.hpp"

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

/// Water's model with two pairs too near.
ModelCase crowded_water() {
  ModelCase item = model_cases().front();
  item.reference.configuration = crowded(item.reference.configuration);
  return item;
}

Repulsion field_for(const ModelCase& item) {
  return {std::make_unique<DeepPotential>(read_dp(item.model), DeepPotentialOptions{}), {0.6, 1.0}};
}

TEST(RepulsionForces, are_minus_the_gradient_of_the_energy) {
  const auto item = crowded_water();
  auto field = field_for(item);
  const auto whole = evaluate(Comm::world(), field, item.reference.configuration);
  const double h = 1e-5;
  for (const int k : {0, 2, 4, 8, 11, 17}) {
    double energy[2];
    for (const int side : {0, 1}) {
      auto moved = item.reference.configuration;
      moved.positions[k / 3][k % 3] += side == 0 ? -h : h;
      energy[side] = evaluate(Comm::world(), field, moved).energy;
    }
    EXPECT_NEAR(whole.force[k], -(energy[1] - energy[0]) / (2 * h), 1e-7 * largest(whole.force)) << k;
  }
}

TEST(RepulsionVirial, is_minus_the_derivative_of_the_energy_by_strain) {
  const auto item = crowded_water();
  auto field = field_for(item);
  const auto& start = item.reference.configuration;
  const auto whole = evaluate(Comm::world(), field, start);
  const double h = 1e-6, scale = largest({whole.virial.begin(), whole.virial.end()});
  for (const int component : {0, 1, 5, 8}) {
    double energy[2];
    for (const int side : {0, 1})
      energy[side] = evaluate(Comm::world(), field, strained(start, component, side == 0 ? -h : h)).energy;
    EXPECT_NEAR(whole.virial[component], -(energy[1] - energy[0]) / (2 * h), 1e-6 * scale) << component;
  }
}

TEST(Repulsion, is_the_same_on_any_number_of_ranks) {
  const auto item = crowded_water();
  auto field = field_for(item);
  const auto together = evaluate(Comm::world(), field, item.reference.configuration),
             alone = evaluate(Comm::self(), field, item.reference.configuration);
  const double scale = largest(alone.force);

  EXPECT_GT(alone.energy - evaluate(Comm::self(), field_of(item), item.reference.configuration).energy, 5);
  EXPECT_NEAR(together.energy, alone.energy, 1e-12 * std::abs(alone.energy));
  EXPECT_LE(largest_difference(together.force, alone.force), 1e-12 * scale);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(together.virial[k], alone.virial[k], 1e-12 * scale);
}

}  // namespace
}  // namespace quintet::potential
