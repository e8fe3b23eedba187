#include <algorithm>
#include <cmath>
#include <tuple>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/domain/domain.hpp"
#include "tests/support/sample_systems.hpp"

using namespace quintet;

namespace {

/// A pair by ids and by how many rows apart their images are, with both atoms taken at their wrapped places.
struct PairOfAtoms {
  std::int64_t i, j;
  int image[3];
  auto operator<=>(const PairOfAtoms&) const = default;
};

/// A case: what kind of box, and how far to look.
struct Case {
  const char* name;
  Mat3 rows;
  std::array<bool, 3> periodic;
  int n;
  double cutoff;
  double lower = 0, upper = 1;  ///< where the atoms are (fractional)
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class NeighbourListOf : public testing::TestWithParam<Case> {};

/// Positions wrapped along periodic directions, by id - 1.
std::vector<Vec3> wrapped(const Configuration& c) {
  auto x = c.positions;
  for (auto& p : x) {
    Vec3 s = c.box.to_fractional(p);
    for (int k = 0; k < 3; ++k)
      if (c.box.periodic()[k]) s[k] -= std::floor(s[k]);
    p = c.box.to_cartesian(s);
  }
  return x;
}

Vec3 image_shift(const Box& box, const int* image) {
  Vec3 d{};
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3; ++l) d[l] += image[k] * box.rows()[3 * k + l];
  return d;
}

/// All pairs by trying every image that the range could reach.
std::vector<PairOfAtoms> brute_force(const Configuration& c, double range) {
  const auto x = wrapped(c);
  int most[3];
  for (int k = 0; k < 3; ++k)
    most[k] = c.box.periodic()[k] ? static_cast<int>(range / c.box.width(k)) + 2 : 0;
  std::vector<PairOfAtoms> pairs;
  PairOfAtoms p{};
  for (p.image[0] = -most[0]; p.image[0] <= most[0]; ++p.image[0])
    for (p.image[1] = -most[1]; p.image[1] <= most[1]; ++p.image[1])
      for (p.image[2] = -most[2]; p.image[2] <= most[2]; ++p.image[2]) {
        const Vec3 shift = image_shift(c.box, p.image);
        for (std::size_t i = 0; i < x.size(); ++i)
          for (std::size_t j = 0; j < x.size(); ++j) {
            const bool itself = i == j && p.image[0] == 0 && p.image[1] == 0 && p.image[2] == 0;
            if (itself || std::hypot(x[j][0] + shift[0] - x[i][0], x[j][1] + shift[1] - x[i][1],
                                     x[j][2] + shift[2] - x[i][2]) > range)
              continue;
            p.i = static_cast<std::int64_t>(i) + 1;
            p.j = static_cast<std::int64_t>(j) + 1;
            pairs.push_back(p);
          }
      }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// The pairs of all ranks' lists, sorted, on rank 0.
std::vector<PairOfAtoms> listed(const Domain& domain, const Atoms& atoms, const Configuration& c) {
  const auto x = wrapped(c);
  std::vector<PairOfAtoms> mine;
  const auto image_of = [&](int a, int k) {  // rows from the atom's wrapped place to where this copy is
    const auto& home = x[atoms.id(a) - 1];
    const Vec3 s0 = c.box.to_fractional(home);
    return static_cast<int>(std::lround(
        c.box.fractional(k, atoms.position(a, 0), atoms.position(a, 1), atoms.position(a, 2)) - s0[k]));
  };
  const auto& list = domain.list();
  for (int i = 0; i < atoms.n_local; ++i)
    for (std::size_t p = list.offset(i); p < list.offset(i + 1); ++p) {
      const int j = list.neighbour(p);
      PairOfAtoms pair{atoms.id(i), atoms.id(j), {}};
      for (int k = 0; k < 3; ++k) pair.image[k] = image_of(j, k) - image_of(i, k);
      mine.push_back(pair);
    }
  auto all = domain.comm().gather(std::span<const PairOfAtoms>(mine));
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_P(NeighbourListOf, holds_exactly_the_pairs_in_range) {
  const Case& given = GetParam();
  const Comm comm = Comm::world();
  const auto c = random_configuration(Box(given.rows, given.periodic, {-1.5, 2.25, 0.5}), given.n, 3, 11,
                                      given.lower, given.upper);
  Domain domain(comm, {.cutoff = given.cutoff, .skin = 0.5}, c.box);
  const Exec exec;

  Atoms atoms = domain.distribute(c);
  domain.rebuild(exec, atoms);

  const auto found = listed(domain, atoms, c);
  if (!comm.is_root()) return;
  const auto expected = brute_force(c, given.cutoff + 0.5);
  ASSERT_GT(expected.size(), 0u);
  EXPECT_EQ(found.size(), expected.size());
  EXPECT_TRUE(found == expected);
}

TEST_P(NeighbourListOf, is_ordered_by_type_within_a_row) {
  const Case& given = GetParam();
  const auto c =
      random_configuration(Box(given.rows, given.periodic), given.n, 3, 5, given.lower, given.upper);
  Domain domain(Comm::world(), {.cutoff = given.cutoff, .skin = 0.5}, c.box);
  const Exec exec;

  Atoms atoms = domain.distribute(c);
  domain.rebuild(exec, atoms);

  const auto& list = domain.list();
  ASSERT_EQ(list.offset.extent(0), static_cast<std::size_t>(atoms.n_local) + 1);
  EXPECT_EQ(list.offset(atoms.n_local), list.neighbour.extent(0));
  for (int i = 0; i < atoms.n_local; ++i)
    for (std::size_t p = list.offset(i) + 1; p < list.offset(i + 1); ++p)
      ASSERT_LE(atoms.type(list.neighbour(p - 1)), atoms.type(list.neighbour(p)));
}

/// Every 64th atom, of which the room for the list is guessed, is alone here; the others are in clumps.
TEST(NeighbourList, is_whole_where_a_sample_of_its_rows_says_little) {
  const Comm comm = Comm::world();
  constexpr int n_clumps = 20, in_clump = 63;
  const Box wire({100.0 * n_clumps, 0, 0, 0, 10, 0, 0, 0, 10}, {false, false, false});
  Configuration c = random_configuration(wire, n_clumps * (in_clump + 1), 1, 3);
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    const int clump = static_cast<int>(i) / (in_clump + 1), place = static_cast<int>(i) % (in_clump + 1);
    c.positions[i] = {100.0 * clump + (place == 0 ? 20 : 70), 5.1 + 0.01 * place, 5.1};
  }
  Domain domain(comm, {.cutoff = 2, .skin = 0.5}, wire);
  Atoms atoms = domain.distribute(c);
  domain.rebuild(Exec(), atoms);

  const auto found = listed(domain, atoms, c);
  if (!comm.is_root()) return;
  EXPECT_EQ(found.size(), std::size_t{n_clumps * in_clump * (in_clump - 1)});
  EXPECT_TRUE(found == brute_force(c, 2.5));
}

constexpr std::array<bool, 3> all{true, true, true}, none{false, false, false};
INSTANTIATE_TEST_SUITE_P(
    Boxes, NeighbourListOf,
    testing::Values(Case{"orthogonal", {17, 0, 0, 0, 13, 0, 0, 0, 15}, all, 331, 4},
                    Case{"flat_cells", {40, 0, 0, 0, 9, 0, 0, 0, 11}, all, 257, 3.5},
                    Case{"triclinic", {14, 0, 0, 5, 13, 0, -6, 4, 15}, all, 301, 4},
                    Case{"triclinic_rotated", {10, 6, 3, -5, 11, 2, 1, -4, 13}, all, 223, 4},
                    Case{"tiny", {6.5, 0, 0, 0, 5, 0, 0, 0, 5.5}, all, 7, 5.8},
                    Case{
                        "tinier_than_half_the_cutoff", {3.1, 0, 0, 0.4, 12.5, 0, 0.2, 0.1, 3.3}, all, 5, 6.6},
                    Case{"one_atom_alone", {12, 0, 0, 0, 3.2, 0, 0, 0, 2.9}, all, 1, 6.6},
                    Case{"open", {15, 0, 0, 0, 14, 0, 0, 0, 16}, none, 241, 4},
                    Case{"open_and_far_outside", {15, 0, 0, 0, 14, 0, 0, 0, 16}, none, 241, 6, -0.8, 1.7},
                    Case{"outside_a_periodic_box", {15, 0, 0, 3, 14, 0, 0, 0, 16}, all, 151, 4, -2.3, 3.1},
                    Case{"slab", {13, 0, 0, 2, 12, 0, 0, 0, 14}, {true, true, false}, 211, 4, -0.2, 1.2},
                    Case{"wire", {13, 0, 0, 2, 12, 0, 1, 0, 14}, {false, true, false}, 211, 4, -0.2, 1.2}),
    [](const auto& info) { return std::string(info.param.name); });
