#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/system.hpp"
#include "tests/support/two_species.hpp"

/// Whole steps with two species, field, collisions and walls: shares of phase space against one rank.
namespace quintet::kinetics {
namespace {

struct Setting {
  int cdim, vdim;
  FieldModel field;
  bool collisions;
  std::array<int, 6> ranks;
  bool mapped = false;  ///< velocity cells that differ in width
};

Species make_species(const Setting& s, double charge, double mass, int nv) {
  return species_of(s.cdim, s.vdim, charge, mass, nv, s.mapped ? 1.5 : 0);
}

Sample after_three_steps(const Comm& comm, const Setting& s, const std::array<int, 6>& ranks) {
  const Exec exec;
  const PhaseBasis basis(s.cdim, s.vdim, 2, Family::serendipity);
  SystemOptions options;
  options.field = s.field;
  options.ranks = ranks;
  if (s.collisions) options.collisions.emplace().frequency = {{0.1, 0.05}, {0.05, 0.2}};
  if (s.collisions && s.mapped) options.collisions->kind = CollisionOptions::Operator::bgk;
  VlasovSystem system(comm, basis, {make_species(s, -1, 1, 11), make_species(s, 1, 4, 9)}, options);
  fill(system, basis, s.cdim, s.vdim);
  system.start(exec, 0);
  for (int step = 0; step < 3; ++step) system.advance(exec, system.stable_dt(exec));
  return system.sample(exec);
}

void compare(const Setting& s) {
  const auto whole = after_three_steps(Comm::self(), s, {});
  const auto part = after_three_steps(Comm::world(), s, s.ranks);

  EXPECT_NEAR(part.time, whole.time, 1e-13);
  EXPECT_GT(whole.field_energy, 1e-7);
  EXPECT_NEAR(part.field_energy, whole.field_energy, 1e-12);
  EXPECT_GT(whole.charge_density, 1e-3);
  EXPECT_NEAR(part.charge_density, whole.charge_density, 1e-12);
  EXPECT_NEAR(part.gauss_error, whole.gauss_error, 1e-12);
  EXPECT_NEAR(part.excess_charge, whole.excess_charge, 1e-11);
  EXPECT_EQ(whole.gauss_error > 0, s.field == FieldModel::maxwell);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(part.species[i].m0, whole.species[i].m0, 1e-11);
    EXPECT_NEAR(part.species[i].m1[0], whole.species[i].m1[0], 1e-12);
    EXPECT_NEAR(part.species[i].m2, whole.species[i].m2, 1e-11);
    EXPECT_NEAR(part.species[i].l2, whole.species[i].l2, 1e-11);
    EXPECT_GT(whole.species[i].edge.share, 0);
    EXPECT_NEAR(part.species[i].edge.share, whole.species[i].edge.share, 1e-13);
  }
}

TEST(VlasovSystemRanks, splits_of_space_and_of_velocity_agree) {
  const int n = Comm::world().size();
  for (const auto field : {FieldModel::maxwell, FieldModel::poisson})
    for (const bool collisions : {false, true}) {
      compare({1, 1, field, collisions, {n, 1}});
      compare({1, 1, field, collisions, {1, n}});
      compare({1, 2, field, collisions, {1, n, 1}});
      if (n == 4) compare({1, 2, field, collisions, {2, 1, 2}});
    }
  compare({1, 1, FieldModel::poisson, false, {1, n}, true});
  compare({1, 2, FieldModel::maxwell, true, {1, n, 1}, true});
  if (n == 4) compare({2, 2, FieldModel::maxwell, false, {2, 1, 1, 2}});
  if (n == 3) compare({2, 2, FieldModel::maxwell, false, {1, 3, 1, 1}});
  if (n == 2) compare({2, 2, FieldModel::poisson, false, {}});
}

}  // namespace
}  // namespace quintet::kinetics
