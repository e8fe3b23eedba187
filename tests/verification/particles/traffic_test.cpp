#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/domain/brick_needs.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "tests/support/lennard_jones.hpp"
#include "tests/support/sample_systems.hpp"

/// What ranks send each other in a step, counted by Comm, against formulas of the geometry alone: positions
/// of all atoms, box, grid of ranks and range (Plimpton 1995, J. Comput. Phys. 117, 1). Nothing of the
/// exchange itself is asked.
using namespace quintet;

namespace {

/// An interval of fractional coordinates along one direction, [lower, upper).
struct Span {
  double lower, upper;
  [[nodiscard]] bool holds(double s) const { return lower <= s && s < upper; }
};

/// A case: a cell, how far ranks look, and a grid that shares out these directions (0: to be chosen).
struct Case {
  const char* name;
  Mat3 rows;
  std::array<bool, 3> periodic;
  int n_atoms;
  double range;
  std::function<std::array<int, 3>(int)> grid;
  double lower = 0, upper = 1;  ///< where the atoms are (fractional)
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

constexpr double infinity = std::numeric_limits<double>::infinity();

Vec3 cross(const double* a, const double* b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// The bricks of a grid and all images of all atoms: what the counts are taken of.
class Geometry {
 public:
  Geometry(const Configuration& c, double range, const std::array<int, 3>& grid, int rank)
      : periodic_(c.box.periodic()), grid_(grid) {
    // rank = (p_0 g_1 + p_1) g_2 + p_2
    place_ = {rank / (grid[1] * grid[2]), rank / grid[2] % grid[1], rank % grid[2]};
    const double* rows = c.box.rows().data();
    for (int k = 0; k < 3; ++k) {
      // Distance between the faces normal to k: volume over the area of the other two rows.
      const Vec3 area = cross(rows + 3 * ((k + 1) % 3), rows + 3 * ((k + 2) % 3));
      const double volume = rows[3 * k] * area[0] + rows[3 * k + 1] * area[1] + rows[3 * k + 2] * area[2];
      width_[k] = volume / std::sqrt(area[0] * area[0] + area[1] * area[1] + area[2] * area[2]);
      reach_[k] = range / width_[k];
      // s_k = (x - origin) . area / volume
      for (const Vec3& x : c.positions) {
        double s = 0;
        for (int l = 0; l < 3; ++l) s += (x[l] - c.box.origin()[l]) * area[l] / volume;
        s_[k].push_back(periodic_[k] ? s - std::floor(s) : s);
      }
    }
  }

  [[nodiscard]] int hops(int k) const {
    const int most = std::ceil(reach_[k] * grid_[k]);
    return periodic_[k] ? most : std::min(most, grid_[k] - 1);
  }
  /// Does the rank at `steps` along k from this one exist?
  [[nodiscard]] bool has_neighbour(int k, int steps) const {
    const int place = place_[k] + steps;
    return periodic_[k] || (place >= 0 && place < grid_[k]);
  }
  [[nodiscard]] bool shared(int k) const { return grid_[k] > 1; }
  [[nodiscard]] const std::array<int, 3>& place() const { return place_; }

  /// Atoms (images included) that this rank hands down (side -1) or up (+1) along k at a hop: those within
  /// reach of the face there that lie hop - 1 bricks on the other side of it. Directions exchanged before
  /// have grown by the reach.
  [[nodiscard]] std::int64_t sent(int k, int side, int hop) const {
    return has_neighbour(k, side) ? atoms_near(k, side, -side * (hop - 1)) : 0;
  }
  /// Those that come in from below (side -1) or above at a hop: from `hop` bricks away.
  [[nodiscard]] std::int64_t received(int k, int side, int hop) const {
    return atoms_near(k, side, side * hop);
  }
  [[nodiscard]] std::int64_t ghosts() const {
    std::int64_t n = 0;
    for (int k = 0; k < 3; ++k)
      for (int hop = 1; hop <= hops(k); ++hop) n += received(k, -1, hop) + received(k, 1, hop);
    return n;
  }
  [[nodiscard]] std::int64_t own() const { return atoms_in(-1, {}); }

  /// The rank whose brick holds an atom.
  [[nodiscard]] int owner(std::size_t i) const {
    int place[3];
    for (int k = 0; k < 3; ++k)
      place[k] = std::clamp(static_cast<int>(std::floor(s_[k][i] * grid_[k])), 0, grid_[k] - 1);
    return (place[0] * grid_[1] + place[1]) * grid_[2] + place[2];
  }

 private:
  /// Atoms within reach of this rank's face on a side of k, in the brick at `steps` along k.
  [[nodiscard]] std::int64_t atoms_near(int k, int side, int steps) const {
    if (!has_neighbour(k, steps)) return 0;
    const double face = static_cast<double>(place_[k] + (side > 0)) / grid_[k];
    const Span brick = brick_at(k, place_[k] + steps);
    return atoms_in(k, {std::max(brick.lower, face - reach_[k]), std::min(brick.upper, face + reach_[k])});
  }
  /// The bricks at an open end reach as far as there are atoms.
  [[nodiscard]] Span brick_at(int k, int place) const {
    Span span{static_cast<double>(place) / grid_[k], static_cast<double>(place + 1) / grid_[k]};
    if (!periodic_[k] && place == 0) span.lower = -infinity;
    if (!periodic_[k] && place == grid_[k] - 1) span.upper = infinity;
    return span;
  }
  /// Images in `along` of direction k, in the brick along the directions after k, and in the brick and a
  /// reach on either side along those before it.
  [[nodiscard]] std::int64_t atoms_in(int k, Span along) const {
    std::array<Span, 3> region;
    for (int m = 0; m < 3; ++m) {
      const double more = m < k ? reach_[m] : 0;
      const Span brick = brick_at(m, place_[m]);
      region[m] = m == k ? along : Span{brick.lower - more, brick.upper + more};
    }
    std::int64_t n = 0;
    for (std::size_t i = 0; i < s_[0].size(); ++i) {
      std::int64_t images = 1;
      for (int m = 0; m < 3; ++m) images *= images_in(m, s_[m][i], region[m]);
      n += images;
    }
    return n;
  }
  [[nodiscard]] std::int64_t images_in(int k, double s, const Span& region) const {
    if (!periodic_[k]) return region.holds(s);
    std::int64_t n = 0;
    const int most = static_cast<int>(std::ceil(reach_[k])) + 1;
    for (int image = -most; image <= most; ++image) n += region.holds(s + image);
    return n;
  }

  std::array<bool, 3> periodic_;
  std::array<int, 3> grid_, place_{};
  double width_[3]{}, reach_[3]{};
  std::vector<double> s_[3];
};

/// Messages and bytes that a rank sends to others.
struct Traffic {
  std::int64_t messages = 0, bytes = 0;
  bool operator==(const Traffic&) const = default;
};
void PrintTo(const Traffic& t, std::ostream* out) {
  *out << t.messages << " messages, " << t.bytes << " bytes";
}

Traffic counted(const Comm& comm, Comm::Call call) {
  return {comm.counter(call).messages, comm.counter(call).bytes};
}

constexpr std::int64_t vector_bytes = 3 * 8;              // a position, or a force
constexpr std::int64_t border_bytes = 3 * 8 + 8 + 8;      // a new ghost: position, id, type
constexpr std::int64_t record_bytes = 9 * 8 + 8 + 4 * 4;  // an atom: three vectors, id, image and type
constexpr std::int64_t size_bytes = 8;

/// In a step: positions to those who hold ghosts of our atoms, a message for each hop that has any.
Traffic expected_positions(const Geometry& geometry) {
  Traffic t;
  for (int k = 0; k < 3; ++k)
    for (int hop = 1; geometry.shared(k) && hop <= geometry.hops(k); ++hop)
      for (const int side : {-1, 1}) {
        const std::int64_t n = geometry.sent(k, side, hop);
        t.messages += n > 0;
        t.bytes += vector_bytes * n;
      }
  return t;
}

/// In a step: forces on our ghosts to where these came from.
Traffic expected_forces(const Geometry& geometry) {
  Traffic t;
  for (int k = 0; k < 3; ++k)
    for (int hop = 1; geometry.shared(k) && hop <= geometry.hops(k); ++hop)
      for (const int side : {-1, 1}) {
        const std::int64_t n = geometry.received(k, side, hop);
        t.messages += n > 0;
        t.bytes += vector_bytes * n;
      }
  return t;
}

/// When the ghosts are found: a size, then the atoms, for each hop and side.
Traffic expected_borders(const Geometry& geometry) {
  Traffic t;
  for (int k = 0; k < 3; ++k)
    for (int hop = 1; geometry.shared(k) && hop <= geometry.hops(k); ++hop)
      for (const int side : {-1, 1}) {
        if (!geometry.has_neighbour(k, side)) continue;
        t.messages += 2;
        t.bytes += size_bytes + border_bytes * geometry.sent(k, side, hop);
      }
  return t;
}

Configuration sample(const Case& given) {
  auto c = random_configuration(Box(given.rows, given.periodic, {-1.5, 2.25, 0.5}), given.n_atoms, 1, 11,
                                given.lower, given.upper);
  c.velocities.clear();
  return c;
}

class Traffics : public testing::TestWithParam<Case> {};

constexpr double skin = 0.5;

}  // namespace

TEST_P(Traffics, of_a_step_are_those_of_the_geometry) {
  const Case& given = GetParam();
  const Comm comm = Comm::world();
  const Configuration c = sample(given);
  // So weak that nothing moves by half the skin; the force at contact is finite in float64.
  LennardJones field(c.type_names, 1e-30, 0.5, given.range - skin);
  Domain domain(comm, {field.cutoff(), skin, given.grid(comm.size())}, c.box);
  Atoms atoms = domain.distribute(c);
  domain.rebuild(Exec(), atoms);
  ParticleSystem system(atoms, domain, field);
  system.update_forces(Exec());
  const auto integrator = make_integrator({}, {.dt = 1e-3, .steps = 10}, 1, system);
  const Geometry geometry(c, given.range, domain.rank_grid(), comm.rank());

  constexpr std::int64_t steps = 3;
  comm.reset_counters();
  for (std::int64_t step = 0; step < steps; ++step) integrator->step(Exec(), system, step);

  ASSERT_EQ(domain.rebuilds(), 1);
  const Traffic positions = expected_positions(geometry), forces = expected_forces(geometry);
  EXPECT_EQ(atoms.n_local, geometry.own());
  EXPECT_EQ(atoms.n_ghost, geometry.ghosts());
  EXPECT_EQ(
      counted(comm, Comm::Call::point_to_point),
      (Traffic{steps * (positions.messages + forces.messages), steps * (positions.bytes + forces.bytes)}));
  const BrickNeeds needs =
      brick_needs(fractional_atoms(c.box, c.positions), given.range, domain.rank_grid(), comm.rank());
  EXPECT_EQ(needs.own, atoms.n_local);
  EXPECT_EQ(needs.ghosts, atoms.n_ghost);
  EXPECT_EQ(counted(comm, Comm::Call::point_to_point),
            (Traffic{static_cast<std::int64_t>(steps * (needs.messages_sent + needs.messages_received)),
                     static_cast<std::int64_t>(steps * vector_bytes * (needs.sent + needs.received))}));
  // The farthest that an atom has moved; energy and virial.
  EXPECT_EQ(counted(comm, Comm::Call::reduce), (Traffic{2 * steps, steps * (8 + 10 * 8)}));
  for (const auto none : {Comm::Call::broadcast, Comm::Call::gather, Comm::Call::barrier})
    EXPECT_EQ(counted(comm, none), Traffic{});
}

TEST_P(Traffics, of_a_rebuild_are_those_of_the_geometry) {
  const Case& given = GetParam();
  const Comm comm = Comm::world();
  Configuration c = sample(given);
  Domain domain(comm, {given.range - skin, skin, given.grid(comm.size())}, c.box);
  Atoms atoms = domain.distribute(c);
  domain.rebuild(Exec(), atoms);
  const Geometry before(c, given.range, domain.rank_grid(), comm.rank());
  const auto moved = [](std::int64_t id, int l) { return 2.5 * std::sin(12.9 * double(id) + 78.2 * l); };
  for (int i = 0; i < atoms.n_local; ++i)
    for (int l = 0; l < 3; ++l) atoms.position(i, l) += moved(atoms.id(i), l);
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    for (int l = 0; l < 3; ++l) c.positions[i][l] += moved(c.ids[i], l);
  const Geometry after(c, given.range, domain.rank_grid(), comm.rank());

  comm.reset_counters();
  domain.rebuild(Exec(), atoms);

  std::int64_t leaving = 0;
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    leaving += before.owner(i) == comm.rank() && after.owner(i) != comm.rank();
  if (comm.size() > 1) {
    EXPECT_GT(comm.sum(leaving), 0);
  }
  EXPECT_EQ(atoms.n_local, after.own());
  EXPECT_EQ(counted(comm, Comm::Call::gather),
            (comm.size() > 1 ? Traffic{1, record_bytes * leaving} : Traffic{}));
  EXPECT_EQ(counted(comm, Comm::Call::point_to_point), expected_borders(after));
  const BrickNeeds needs =
      brick_needs(fractional_atoms(c.box, c.positions), given.range, domain.rank_grid(), comm.rank());
  EXPECT_EQ(counted(comm, Comm::Call::point_to_point),
            (Traffic{static_cast<std::int64_t>(2 * needs.sides),
                     static_cast<std::int64_t>(size_bytes * needs.sides + border_bytes * needs.sent)}));
}

TEST(BrickNeeds, of_a_uniform_density_are_those_of_many_atoms) {
  const Box box({40, 0, 0, 5, 42, 0, -3, 4, 38}, {true, true, true});
  const auto c = random_configuration(box, 200000, 1, 3);
  const auto atoms = fractional_atoms(c.box, c.positions);
  for (const auto& grid : {std::array<int, 3>{1, 1, 1}, {2, 1, 3}, {4, 4, 4}, {1, 1, 8}}) {
    const BrickNeeds counted = brick_needs(atoms, 6.5, grid, 0),
                     mean = mean_brick_needs(box, 200000, 6.5, grid);

    EXPECT_NEAR(mean.own / counted.own, 1, 0.04);
    EXPECT_NEAR(mean.ghosts / counted.ghosts, 1, 0.02);
    if (mean.sent > 0) {
      EXPECT_NEAR(mean.sent / counted.sent, 1, 0.02);
    }
    EXPECT_EQ(mean.messages_sent, counted.messages_sent);
    EXPECT_EQ(mean.sides, counted.sides);
  }
}

namespace {

constexpr std::array<bool, 3> all{true, true, true};
std::array<int, 3> chosen(int) { return {0, 0, 0}; }
std::array<int, 3> along_x(int n) { return {n, 1, 1}; }
std::array<int, 3> along_y(int n) { return {1, n, 1}; }
std::array<int, 3> along_z(int n) { return {1, 1, n}; }

}  // namespace

INSTANTIATE_TEST_SUITE_P(
    Cells, Traffics,
    testing::Values(
        Case{"orthogonal", {37, 0, 0, 0, 33, 0, 0, 0, 35}, all, 2003, 6.1, chosen},
        Case{"triclinic", {34, 0, 0, 7, 33, 0, -6, 4, 35}, all, 1801, 5.3, chosen},
        // Bricks of 3.1 angstrom: atoms come over three ranks.
        Case{"several_hops", {12, 0, 0, 1, 25, 0, 2, -3, 14}, all, 907, 7.3, along_y},
        Case{"several_hops_along_rows", {26, 0, 0, 0, 9, 0, 0, 0, 9}, all, 601, 7.7, along_x},
        // Eight images of a cell thinner than the range, along directions that nobody shares.
        Case{"thin_cell", {5, 0, 0, 0, 6, 0, 0, 0, 31}, all, 211, 8.1, along_z},
        Case{"slab", {33, 0, 0, 0, 21, 0, 0, 0, 31}, {true, true, false}, 1501, 5.9, along_z, 0.01, 0.99},
        Case{"open", {33, 0, 0, 3, 31, 0, 0, 0, 32}, {false, false, false}, 1501, 6.3, chosen, 0.1, 0.9}),
    [](const auto& info) { return std::string(info.param.name); });
