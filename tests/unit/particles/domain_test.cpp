#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/domain/domain.hpp"
#include "tests/support/sample_systems.hpp"
#include "tests/unit/particles/domain_cases.hpp"

using namespace quintet;

namespace {

/// The same number for an atom and direction on every rank, in (-1, 1).
double noise(std::int64_t id, int l) { return std::sin(12.9898 * id + 78.233 * l); }

void move_locals(Atoms& atoms, double amplitude) {
  for (int i = 0; i < atoms.n_local; ++i)
    for (int l = 0; l < 3; ++l) atoms.position(i, l) += amplitude * noise(atoms.id(i), l);
}

/// Where ghosts sit: rows from their owner's place, and how far that is from whole numbers.
struct GhostPlaces {
  std::vector<int> images;
  double worst = 0;
};

GhostPlaces ghost_places(const Domain& domain, const Atoms& atoms) {
  struct Place {
    std::int64_t id;
    Vec3 x;
  };
  std::vector<Place> mine;
  for (int i = 0; i < atoms.n_local; ++i)
    mine.push_back({atoms.id(i), {atoms.position(i, 0), atoms.position(i, 1), atoms.position(i, 2)}});
  std::vector<Vec3> home(atoms.n_global);
  for (const auto& place : domain.comm().all_gather(std::span<const Place>(mine)))
    home[place.id - 1] = place.x;
  GhostPlaces places;
  for (int i = atoms.n_local; i < atoms.n_all(); ++i) {
    const Vec3& x = home[atoms.id(i) - 1];
    for (int k = 0; k < 3; ++k) {
      const double rows =
          atoms.box.fractional(k, atoms.position(i, 0), atoms.position(i, 1), atoms.position(i, 2)) -
          atoms.box.fractional(k, x[0], x[1], x[2]);
      places.images.push_back(std::lround(rows));
      places.worst = std::max(places.worst, std::abs(rows - std::round(rows)));
    }
  }
  return places;
}

}  // namespace

TEST(Domain, atoms_survive_being_shared_out_and_gathered) {
  const Comm comm = Comm::world();
  const auto given = random_configuration(skewed, 317, 2, 3, -1.4, 2.3);
  Domain domain(comm, {.cutoff = 4, .skin = 1}, skewed);

  Atoms atoms = domain.distribute(comm.is_root() ? given : Configuration{});
  domain.rebuild(Exec(), atoms);
  const auto back = domain.gather(atoms, true);

  EXPECT_EQ(atoms.n_global, 317);
  EXPECT_EQ(atoms.type_names, given.type_names);
  EXPECT_EQ(atoms.masses, given.masses);
  ASSERT_EQ(back.n_atoms(), comm.is_root() ? 317u : 0u);
  EXPECT_EQ(back.ids, comm.is_root() ? given.ids : back.ids);
  EXPECT_EQ(back.types, comm.is_root() ? given.types : back.types);
  EXPECT_EQ(back.velocities, comm.is_root() ? given.velocities : back.velocities);
  for (std::size_t i = 0; i < back.n_atoms(); ++i)
    for (int l = 0; l < 3; ++l) EXPECT_NEAR(back.positions[i][l], given.positions[i][l], 1e-12);
}

/// Numbers that a model reads of each atom, different for each.
void give_parameters(Configuration& c, int n) {
  for (std::size_t k = 0; k < n * c.n_atoms(); ++k) c.parameters.push_back(std::cos(1.7 * double(k)));
}

/// Each rank makes the copies of its own atoms; the bits are those of the whole configuration shared out.
TEST(Domain, copies_are_those_of_the_replicated_configuration) {
  const Comm comm = Comm::world();
  const Box slab({9, 0, 0, 2, 8, 0, 0, 0, 23}, {true, true, false}, {-4, 0, 2}), cell = skewed;
  for (const auto& [box, copies] : {std::pair(cell, Copies{2, 3, 1}), std::pair(cell, Copies{1, 1, 4}),
                                    std::pair(slab, Copies{5, 2, 1}), std::pair(cell, Copies{1, 1, 1})}) {
    auto c = random_configuration(box, 61, 2, 3, -1.4, 2.3);
    c.ids.clear();
    give_parameters(c, 3);
    const auto whole = replicated(c, copies);
    Domain one(comm, {.cutoff = 4, .skin = 1}, whole.box), two(comm, {.cutoff = 4, .skin = 1}, whole.box);

    Atoms a = one.distribute(comm.is_root() ? c : Configuration{}, copies);
    Atoms b = two.distribute(comm.is_root() ? whole : Configuration{});
    ASSERT_EQ(a.n_global, static_cast<std::int64_t>(whole.n_atoms()));
    ASSERT_EQ(a.n_local, b.n_local);
    one.rebuild(Exec(), a);
    two.rebuild(Exec(), b);

    EXPECT_TRUE(a.box == b.box);
    ASSERT_EQ(a.n_all(), b.n_all());
    for (int i = 0; i < a.n_all(); ++i) {
      ASSERT_EQ(a.id(i), b.id(i));
      ASSERT_EQ(a.type(i), b.type(i));
      for (int k = 0; i < a.n_local && k < 3; ++k) {
        ASSERT_EQ(a.parameters(i, k), b.parameters(i, k));
        ASSERT_EQ(a.parameters(i, k), c.parameters[3 * ((a.id(i) - 1) % 61) + k]);
      }
      for (int l = 0; l < 3; ++l) {
        ASSERT_EQ(a.position(i, l), b.position(i, l));
        if (i >= a.n_local) continue;
        ASSERT_EQ(a.velocity(i, l), b.velocity(i, l));
        ASSERT_EQ(a.image(i, l), b.image(i, l));
      }
    }
  }
}

/// More than a part that travels at once, so that every rank gets atoms of several.
TEST(Domain, a_large_configuration_comes_in_parts) {
  const Comm comm = Comm::world();
  auto c = cubic_lattice(60, 2.0, 0.1, 4);
  std::reverse(c.ids.begin(), c.ids.end());
  Domain domain(comm, {.cutoff = 2, .skin = 0.5}, c.box);
  Atoms atoms = domain.distribute(comm.is_root() ? c : Configuration{});
  domain.rebuild(Exec(), atoms);

  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(atoms.n_local)), 216000);
  for (int i = 0; i < atoms.n_local; ++i) {
    const auto& v = c.velocities[216000 - atoms.id(i)];
    for (int l = 0; l < 3; ++l) ASSERT_EQ(atoms.velocity(i, l), v[l]);
  }
}

TEST(Domain, gathers_a_range_of_ids) {
  const Comm comm = Comm::world();
  Domain domain(comm, {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 317, 2, 3));
  domain.rebuild(Exec(), atoms);

  const auto some = domain.gather(atoms, true, 100, 149), all = domain.gather(atoms, true);

  ASSERT_EQ(some.n_atoms(), comm.is_root() ? 50u : 0u);
  for (std::size_t i = 0; i < some.n_atoms(); ++i) {
    EXPECT_EQ(some.ids[i], static_cast<std::int64_t>(100 + i));
    EXPECT_EQ(some.positions[i], all.positions[99 + i]);
  }
}

TEST(Domain, local_atoms_lie_in_their_brick) {
  const Comm comm = Comm::world();
  Domain domain(comm, {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 317, 2, 3));

  move_locals(atoms, 40);
  domain.rebuild(Exec(), atoms);

  const auto& grid = domain.rank_grid();
  const int place[3] = {comm.rank() / (grid[1] * grid[2]), comm.rank() / grid[2] % grid[1],
                        comm.rank() % grid[2]};
  for (int i = 0; i < atoms.n_local; ++i)
    for (int k = 0; k < 3; ++k) {
      const double s =
          skewed.fractional(k, atoms.position(i, 0), atoms.position(i, 1), atoms.position(i, 2)) * grid[k];
      EXPECT_GE(s, place[k] - 1e-12);
      EXPECT_LE(s, place[k] + 1 + 1e-12);
    }
}

TEST(Domain, atoms_migrate_to_any_rank_with_all_they_carry) {
  const Comm comm = Comm::world();
  auto given = random_configuration(skewed, 211, 2, 9);
  give_parameters(given, 2);
  Domain domain(comm, {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(given);

  for (int round = 1; round <= 5; ++round) {
    move_locals(atoms, 7.0 * round);
    for (int i = 0; i < atoms.n_local; ++i) atoms.force(i, 1) = round * atoms.id(i);
    domain.rebuild(Exec(), atoms);
  }
  const auto back = domain.gather(atoms, true);

  EXPECT_EQ(comm.sum(static_cast<std::int64_t>(atoms.n_local)), 211);
  for (int i = 0; i < atoms.n_local; ++i)
    for (int k = 0; k < 2; ++k)
      ASSERT_EQ(atoms.parameters(i, k), given.parameters[2 * (atoms.id(i) - 1) + k]);
  EXPECT_EQ(domain.gather(atoms, true, 100, 149).parameters.size(), comm.is_root() ? 100u : 0u);
  if (!comm.is_root()) return;
  ASSERT_EQ(back.ids, given.ids);
  EXPECT_EQ(back.types, given.types);
  EXPECT_EQ(back.velocities, given.velocities);
  EXPECT_EQ(back.parameters, given.parameters);
  for (std::size_t i = 0; i < back.n_atoms(); ++i) {
    EXPECT_EQ(back.forces[i][1], 5.0 * (i + 1));
    for (int l = 0; l < 3; ++l)
      EXPECT_NEAR(back.positions[i][l], given.positions[i][l] + 105 * noise(back.ids[i], l), 1e-10);
  }
}

TEST(Domain, ghosts_follow_their_owners_and_the_box) {
  Domain domain(Comm::world(), {.cutoff = 6, .skin = 3}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 150, 2, 4));
  domain.rebuild(Exec(), atoms);
  const auto before = ghost_places(domain, atoms);

  atoms.box = skewed.deformed({1.01, 0.003, 0, 0, 0.99, 0, -0.004, 0, 1.02});
  for (int i = 0; i < atoms.n_local; ++i) {
    const Vec3 x = atoms.box.to_cartesian(
        skewed.to_fractional({atoms.position(i, 0), atoms.position(i, 1), atoms.position(i, 2)}));
    for (int l = 0; l < 3; ++l) atoms.position(i, l) = x[l];
  }
  move_locals(atoms, 0.5);
  const bool rebuilt = domain.refresh(Exec(), atoms);

  EXPECT_FALSE(rebuilt);
  const auto after = ghost_places(domain, atoms);
  EXPECT_GT(domain.comm().sum(std::ssize(after.images)), 0);
  EXPECT_EQ(after.images, before.images);
  EXPECT_LT(after.worst, 1e-13);
}

TEST(Domain, list_is_rebuilt_when_an_atom_has_moved_by_half_the_skin) {
  Domain domain(Comm::world(), {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 150, 2, 4));
  domain.rebuild(Exec(), atoms);
  const auto push = [&](double by) {
    for (int i = 0; i < atoms.n_local; ++i)
      if (atoms.id(i) == 77) atoms.position(i, 1) += by;
  };

  push(0.499);
  EXPECT_FALSE(domain.refresh(Exec(), atoms));
  push(0.002);
  EXPECT_TRUE(domain.refresh(Exec(), atoms));
  EXPECT_EQ(domain.rebuilds(), 2);
  EXPECT_EQ(domain.dangerous_rebuilds(), 0);
  push(0.501);
  EXPECT_TRUE(domain.refresh(Exec(), atoms));
  EXPECT_EQ(domain.dangerous_rebuilds(), 1);
}

TEST(Domain, list_is_rebuilt_when_the_box_has_shrunk_too_far) {
  Domain domain(Comm::world(), {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 150, 2, 4));
  domain.rebuild(Exec(), atoms);
  const auto scale_to =
      [&](double factor) {  // atoms and box together: nothing moves in fractional coordinates
        const Box before = atoms.box;
        atoms.box = skewed.deformed({factor, 0, 0, 0, factor, 0, 0, 0, factor});
        for (int i = 0; i < atoms.n_local; ++i) {
          const Vec3 x = atoms.box.to_cartesian(
              before.to_fractional({atoms.position(i, 0), atoms.position(i, 1), atoms.position(i, 2)}));
          for (int l = 0; l < 3; ++l) atoms.position(i, l) = x[l];
        }
      };

  scale_to(1.3);
  EXPECT_FALSE(domain.refresh(Exec(), atoms));
  scale_to(0.81);  // cutoff / 0.81 = 4.94 < range
  EXPECT_FALSE(domain.refresh(Exec(), atoms));
  scale_to(0.79);  // cutoff / 0.79 = 5.06 > range
  EXPECT_TRUE(domain.refresh(Exec(), atoms));
}

TEST(Domain, uneven_and_empty_domains_work) {
  const Comm comm = Comm::world();
  for (const int n : {1, 2, 37}) {
    const auto given = random_configuration(skewed, n, 1, 8, 0.02, 0.05);  // one corner
    Domain domain(comm, {.cutoff = 4, .skin = 1}, skewed);

    Atoms atoms = domain.distribute(given);
    domain.rebuild(Exec(), atoms);
    EXPECT_FALSE(domain.refresh(Exec(), atoms));
    domain.return_forces(Exec(), atoms);
    const auto back = domain.gather(atoms);

    EXPECT_EQ(atoms.n_local, comm.is_root() ? n : 0);
    EXPECT_EQ(domain.list().offset(atoms.n_local),
              static_cast<std::size_t>(comm.is_root() ? n * (n - 1) : 0));
    EXPECT_EQ(back.n_atoms(), comm.is_root() ? static_cast<std::size_t>(n) : 0u);
  }
}

TEST(Domain, a_cell_may_be_as_thin_as_it_likes_along_an_open_direction) {
  const Box sheet({20, 0, 0, 0, 20, 0, 0, 0, 1e-10}, {true, true, false});
  Domain domain(Comm::world(), {.cutoff = 4, .skin = 1}, sheet);

  Atoms atoms = domain.distribute(random_configuration(sheet, 200, 1, 8));
  domain.rebuild(Exec(), atoms);

  EXPECT_EQ(domain.rank_grid()[2], 1);
  EXPECT_EQ(domain.gather(atoms).n_atoms(), Comm::world().is_root() ? 200u : 0u);
}

TEST(Domain, restore_gives_the_same_order_ghosts_and_list_bitwise) {
  const Comm comm = Comm::world();
  Domain domain(comm, {.cutoff = 5, .skin = 2}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 407, 3, 21));
  domain.rebuild(Exec(), atoms);
  move_locals(atoms, 30);
  domain.rebuild(Exec(), atoms);
  move_locals(atoms, 0.4);
  atoms.box = skewed.deformed({1.002, 0, 0, 0, 1.001, 0, 0, 0, 0.999});
  ASSERT_FALSE(domain.refresh(Exec(), atoms));

  Atoms copy = checkpoint_of(atoms);
  Domain again(comm, {.cutoff = 5, .skin = 2}, skewed);
  again.restore(Exec(), copy, domain.built_positions(), domain.built_box());

  ASSERT_EQ(copy.n_local, atoms.n_local);
  ASSERT_EQ(copy.n_ghost, atoms.n_ghost);
  for (int i = 0; i < atoms.n_all(); ++i) {
    ASSERT_EQ(copy.id(i), atoms.id(i));
    ASSERT_EQ(copy.type(i), atoms.type(i));
    for (int l = 0; l < 3; ++l) ASSERT_EQ(copy.position(i, l), atoms.position(i, l));
  }
  const auto &list = domain.list(), &restored = again.list();
  ASSERT_EQ(restored.neighbour.extent(0), list.neighbour.extent(0));
  for (int i = 0; i <= atoms.n_local; ++i) ASSERT_EQ(restored.offset(i), list.offset(i));
  for (std::size_t p = 0; p < list.neighbour.extent(0); ++p)
    ASSERT_EQ(restored.neighbour(p), list.neighbour(p));
  EXPECT_TRUE(again.built_box() == domain.built_box());
}

TEST(Domain, local_order_depends_on_positions_alone) {
  const Comm comm = Comm::world();
  const auto given = random_configuration(skewed, 407, 3, 21);
  auto shuffled = given;
  std::mt19937_64 random(5);
  for (std::size_t i = given.n_atoms() - 1; i > 0; --i) {
    const std::size_t j = random() % (i + 1);
    std::swap(shuffled.positions[i], shuffled.positions[j]);
    std::swap(shuffled.types[i], shuffled.types[j]);
    std::swap(shuffled.ids[i], shuffled.ids[j]);
  }
  Domain one(comm, {.cutoff = 4, .skin = 1}, skewed), two(comm, {.cutoff = 4, .skin = 1}, skewed);

  Atoms a = one.distribute(given), b = two.distribute(shuffled);
  one.rebuild(Exec(), a);
  two.rebuild(Exec(), b);

  ASSERT_EQ(a.n_all(), b.n_all());
  for (int i = 0; i < a.n_all(); ++i) ASSERT_EQ(a.id(i), b.id(i));
}

/// On a simple cubic lattice of constant a, with atoms a quarter of a above the brick's lower face and a
/// range of 2.5 a, three layers go down and two go up along each direction; directions exchanged earlier have
/// grown by five layers.
TEST(Domain, sends_as_many_bytes_as_the_formula_says) {
  const Comm comm = Comm::world();
  const int n = 12;
  const double a = 2.0;
  const auto lattice = cubic_lattice(n, a, 0, 1);
  Domain domain(comm, {.cutoff = 2 * a, .skin = 0.5 * a}, lattice.box);
  Atoms atoms = domain.distribute(lattice);
  domain.rebuild(Exec(), atoms);
  std::int64_t sent = 0, ghosts = 1, before = 1;
  for (int k = 0; k < 3; ++k) {
    const int m = n / domain.rank_grid()[k];
    std::int64_t layer = 1;
    for (int other = 0; other < 3; ++other)
      if (other != k) layer *= n / domain.rank_grid()[other] + (other < k ? 5 : 0);
    if (domain.rank_grid()[k] > 1) sent += 5 * layer;
    ghosts *= m + 5;
    before *= m;
  }

  comm.reset_counters();
  EXPECT_FALSE(domain.refresh(Exec(), atoms));

  EXPECT_EQ(atoms.n_ghost, ghosts - before);
  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).bytes, 24 * sent);
  EXPECT_EQ(comm.counter(Comm::Call::reduce).messages, 1);
  EXPECT_EQ(comm.counter(Comm::Call::broadcast).messages + comm.counter(Comm::Call::gather).messages, 0);
  comm.reset_counters();
  domain.return_forces(Exec(), atoms);
  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).bytes, 24 * sent);
}
