#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/system.hpp"

/// Whole steps with two species, field, collisions and walls: shares of phase space against one rank.
namespace quintet::kinetics {
namespace {

using std::numbers::pi;

struct Setting {
  int cdim, vdim;
  FieldModel field;
  bool collisions;
  std::array<int, 6> ranks;
  bool mapped = false;  ///< velocity cells that differ in width
};

Species make_species(const Setting& s, double charge, double mass, int nv) {
  Species species;
  species.name = charge < 0 ? "electron" : "ion";
  species.charge = charge;
  species.mass = mass;
  species.grid.cdim = s.cdim;
  species.grid.vdim = s.vdim;
  for (std::size_t d = 0; d < static_cast<std::size_t>(s.cdim + s.vdim); ++d) {
    const bool x = d < static_cast<std::size_t>(s.cdim);
    species.grid.lower[d] = x ? 0 : -5 / std::sqrt(mass);
    species.grid.upper[d] = x ? 2 * pi : 5 / std::sqrt(mass);
    species.grid.cells[d] = x ? 5 : nv;
    species.grid.periodic[d] = x;
    if (x || !s.mapped) continue;
    auto& edges = species.grid.velocity_edges[d - static_cast<std::size_t>(s.cdim)];
    for (int i = 0; i <= nv; ++i)
      edges.push_back(species.grid.upper[d] * std::sinh(3.0 * i / nv - 1.5) / std::sinh(1.5));
  }
  return species;
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
  for (int i = 0; i < 2; ++i) {
    const double mass = system.species()[static_cast<std::size_t>(i)].mass;
    project_phase(
        basis,
        [&](std::span<const double> z) {
          double f = 1 + (i == 0 ? 0.2 : 0.1) * std::cos(z[0]);
          if (s.cdim == 2) f += 0.1 * std::sin(z[1]);
          for (int d = 0; d < s.vdim; ++d) {
            const double v = z[static_cast<std::size_t>(s.cdim + d)] - 0.1 * d;
            f *= std::exp(-0.5 * mass * v * v) / std::sqrt(2 * pi / mass);
          }
          return f;
        },
        system.f(i), "f");
  }
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
