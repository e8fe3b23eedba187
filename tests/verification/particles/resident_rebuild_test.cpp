#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "physics/particles/device/at_home.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/domain/domain.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"
#include "tests/support/device/test_device.hpp"
#include "tests/support/sample_systems.hpp"

// Atoms that fly freely on the device against the same ones on the host: who holds which
// atom, in which order, with which ghosts. Nothing of forces.
using namespace quintet;

namespace {

struct Case {
  const char* name;
  Mat3 rows;
  std::array<bool, 3> periodic;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

/// Flying fast enough that some atoms cross a brick between two rebuilds.
Configuration gas(const Case& c) {
  auto atoms = random_configuration(Box(c.rows, c.periodic), 700, 2, 11);
  for (std::size_t i = 0; i < atoms.n_atoms(); ++i) {
    const double x = static_cast<double>(i);
    atoms.velocities[i] = {20 * std::sin(3 * x + 1), 20 * std::sin(5 * x + 2), 20 * std::sin(7 * x)};
  }
  return atoms;
}

struct Flight {
  /// @param rows list neighbours on the host, which then rebuilds
  Flight(const Configuration& start, bool there, bool rows = false)
      : domain(Comm::world(), {2.0, 0.6, {0, 0, 0}, rows}, start.box), atoms(domain.distribute(start)) {
    domain.rebuild(exec, atoms);
    if (there)
      domain.stay_on(
          exec, atoms,
          std::shared_ptr<ResidentAtoms>(QUINTET_DEVICE_FUNCTION(quintet_make_resident_atoms)(false)));
  }
  void fly(int n_steps) {
    for (int step = 0; step < n_steps; ++step) {
      drift(exec, atoms, 0.004);
      (void)domain.refresh(exec, atoms);
    }
  }
  Exec exec;
  Domain domain;
  Atoms atoms;
};

template <class View>
std::vector<double> rows_of(const View& view, int n) {
  std::vector<double> values;
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < 3; ++l) values.push_back(static_cast<double>(view(i, l)));
  return values;
}
double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double most = a.size() == b.size() ? 0 : 1e300;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}
template <class View>
auto firsts(const View& view, int n) {
  return std::vector<typename View::value_type>(view.data(), view.data() + n);
}

void expect_the_same(const Configuration& start, bool rows) {
  const auto comm = Comm::world();
  Flight host(start, false, rows), there(start, true, rows);
  bool moved = false;
  const auto ids = firsts(host.atoms.id, host.atoms.n_local);
  for (int look = 0; look < 5; ++look) {
    host.fly(9);
    there.fly(9);
    bring_home(there.atoms);
    moved = moved || firsts(host.atoms.id, host.atoms.n_local) != ids;
    ASSERT_EQ(there.domain.rebuilds(), host.domain.rebuilds());
    const Atoms &a = there.atoms, &b = host.atoms;
    ASSERT_EQ(a.n_local, b.n_local);
    ASSERT_EQ(a.n_ghost, b.n_ghost);
    if (comm.size() > 1 || rows) {  // one rank keeps their order there
      EXPECT_EQ(firsts(a.id, a.n_all()), firsts(b.id, b.n_all()));
      EXPECT_EQ(firsts(a.type, a.n_all()), firsts(b.type, b.n_all()));
      EXPECT_EQ(rows_of(a.image, a.n_local), rows_of(b.image, b.n_local));
      EXPECT_LE(largest_difference(rows_of(a.position, a.n_all()), rows_of(b.position, b.n_all())), 1e-11);
      EXPECT_EQ(rows_of(a.velocity, a.n_local), rows_of(b.velocity, b.n_local));
      EXPECT_LE(largest_difference(rows_of(there.domain.built_positions(), a.n_local),
                                   rows_of(host.domain.built_positions(), b.n_local)),
                1e-11);
    }
    const auto all = there.domain.gather(a, true), expected = host.domain.gather(b, true);
    ASSERT_EQ(all.ids, expected.ids);
    EXPECT_EQ(all.types, expected.types);
    for (std::size_t i = 0; i < all.n_atoms(); ++i)
      for (int l = 0; l < 3; ++l) EXPECT_NEAR(all.positions[i][l], expected.positions[i][l], 1e-11) << i;
  }
  EXPECT_GT(host.domain.rebuilds(), 5);
  EXPECT_TRUE(comm.any(moved));
}

class ResidentRebuild : public testing::TestWithParam<Case> {};

TEST_P(ResidentRebuild, leaves_atoms_and_ghosts_as_the_hosts_does) {
  expect_the_same(gas(GetParam()), false);
}

TEST_P(ResidentRebuild, is_the_hosts_where_it_lists_rows) { expect_the_same(gas(GetParam()), true); }

TEST_P(ResidentRebuild, sends_what_the_hosts_does) {
  const auto comm = Comm::world();
  if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
  Flight host(gas(GetParam()), false), there(gas(GetParam()), true);
  const auto sent = [&](Flight& flight) {
    const auto before = comm.counter(Comm::Call::point_to_point);
    const auto gathered = comm.counter(Comm::Call::gather);
    flight.fly(20);
    const auto after = comm.counter(Comm::Call::point_to_point);
    return std::array<std::int64_t, 3>{after.messages - before.messages, after.bytes - before.bytes,
                                       comm.counter(Comm::Call::gather).bytes - gathered.bytes};
  };
  const auto by_host = sent(host), by_device = sent(there);
  EXPECT_GT(by_host[1], 0);
  EXPECT_EQ(by_device, by_host);
}

INSTANTIATE_TEST_SUITE_P(
    Cells, ResidentRebuild,
    testing::Values(Case{"upright", {12, 0, 0, 0, 14, 0, 0, 0, 17}, {true, true, true}},
                    Case{"skew", {13, 0, 0, 4, 12, 0, 2, -3, 15}, {true, true, true}},
                    Case{"open along y", {12, 0, 0, 0, 16, 0, 1, 0, 14}, {true, false, true}},
                    Case{"thinner than the range", {2.2, 0, 0, 0, 9, 0, 0, 0, 40}, {true, true, true}}),
    [](const auto& info) { return "cell_" + std::to_string(info.index); });

}  // namespace
