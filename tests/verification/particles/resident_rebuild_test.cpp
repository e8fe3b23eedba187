#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "tests/support/kokkos_count.hpp"
#include "tests/verification/particles/resident_flight.hpp"

// Atoms that fly freely on the device against the same ones on the host: who holds which
// atom, in which order, with which ghosts. Nothing of forces.
using namespace quintet;

namespace {

void expect_equal(Flight& there, Flight& host, bool same_order) {
  bring_home(there.atoms);
  ASSERT_EQ(there.domain.rebuilds(), host.domain.rebuilds());
  const Atoms &a = there.atoms, &b = host.atoms;
  ASSERT_EQ(a.n_local, b.n_local);
  ASSERT_EQ(a.n_ghost, b.n_ghost);
  // Positions are wrapped: their digits are those of the cell.
  const double tolerance = 1e-11 + 1e-15 * host.atoms.box.width(0);
  if (same_order) {
    EXPECT_EQ(firsts(a.id, a.n_all()), firsts(b.id, b.n_all()));
    EXPECT_EQ(firsts(a.type, a.n_all()), firsts(b.type, b.n_all()));
    EXPECT_EQ(rows_of(a.image, a.n_local), rows_of(b.image, b.n_local));
    EXPECT_LE(largest_difference(rows_of(a.position, a.n_all()), rows_of(b.position, b.n_all())), tolerance);
    EXPECT_EQ(rows_of(a.velocity, a.n_local), rows_of(b.velocity, b.n_local));
    EXPECT_LE(largest_difference(rows_of(there.domain.built_positions(), a.n_local),
                                 rows_of(host.domain.built_positions(), b.n_local)),
              tolerance);
  }
  const auto all = there.domain.gather(a, true), expected = host.domain.gather(b, true);
  ASSERT_EQ(all.ids, expected.ids);
  EXPECT_EQ(all.types, expected.types);
  for (std::size_t i = 0; i < all.n_atoms(); ++i)
    for (int l = 0; l < 3; ++l) EXPECT_NEAR(all.positions[i][l], expected.positions[i][l], tolerance) << i;
}

void expect_the_same(const GasCase& c, bool rows) {
  const auto comm = Comm::world();
  Flight host(c, false, rows), there(c, true, rows);
  bool moved = false;
  const auto ids = firsts(host.atoms.id, host.atoms.n_local);
  for (int look = 0; look < 5; ++look) {
    host.fly(9);
    there.fly(9);
    moved = moved || firsts(host.atoms.id, host.atoms.n_local) != ids;
    expect_equal(there, host, comm.size() > 1 || rows);  // one rank keeps their order there
  }
  EXPECT_GT(host.domain.rebuilds(), 5);
  EXPECT_TRUE(comm.any(moved));
}

class ResidentRebuild : public testing::TestWithParam<GasCase> {};

TEST_P(ResidentRebuild, leaves_atoms_and_ghosts_as_the_hosts_does) { expect_the_same(GetParam(), false); }

TEST_P(ResidentRebuild, is_the_hosts_where_it_lists_rows) { expect_the_same(GetParam(), true); }

TEST_P(ResidentRebuild, sends_what_the_hosts_does) {
  const auto comm = Comm::world();
  if (comm.size() == 1) GTEST_SKIP() << "nothing is sent";
  Flight host(GetParam(), false), there(GetParam(), true);
  struct Sent {
    std::int64_t messages, bytes, records, counts;
  };
  const auto sent = [&](Flight& flight, Comm::Call of_records) {
    comm.reset_counters();
    flight.fly(20);
    const auto steps = comm.counter(Comm::Call::point_to_point);
    return Sent{steps.messages, steps.bytes, comm.counter(of_records).bytes,
                comm.counter(Comm::Call::gather).bytes};
  };
  const Sent by_host = sent(host, Comm::Call::gather), by_device = sent(there, Comm::Call::all_to_all_into);
  EXPECT_GT(by_host.bytes, 0);
  EXPECT_GT(comm.sum(by_host.records), 0);
  EXPECT_EQ(by_device.messages, by_host.messages);
  EXPECT_EQ(by_device.bytes, by_host.bytes);
  EXPECT_EQ(by_device.records, by_host.records) << "from the device's memory";
  EXPECT_LE(by_device.counts, 20 * 8 * (comm.size() - 1)) << "how many leave, alone, goes by the host";
}

TEST_P(ResidentRebuild, is_bitwise_the_same_from_the_devices_memory_and_through_the_hosts) {
  Flight direct(GetParam(), true, false, true), staged(GetParam(), true, false, false);
  for (Flight* flight : {&direct, &staged}) {
    flight->fly(30);
    bring_home(flight->atoms);
  }
  const Atoms &a = direct.atoms, &b = staged.atoms;
  ASSERT_EQ(firsts(a.id, a.n_all()), firsts(b.id, b.n_all()));
  EXPECT_EQ(rows_of(a.position, a.n_all()), rows_of(b.position, b.n_all()));
}

// All that a brick holds goes to the next but one, in one step.
TEST(ResidentRebuildInARow, may_take_all_atoms_of_every_rank_elsewhere) {
  const auto comm = Comm::world();
  GasCase flood{"flood", {24, 0, 0, 0, 9, 0, 0, 0, 11}, {true, true, true}};
  flood.in_a_row = true;
  flood.drift = {24 * std::max(1, comm.size() / 2) / (comm.size() * flight_step), 0, 0};
  Flight host(flood, false), there(flood, true);
  const std::int64_t before = there.atoms.n_local;
  comm.reset_counters();
  there.fly(1);
  host.fly(1);
  expect_equal(there, host, comm.size() > 1);
  if (comm.size() > 1) {
    EXPECT_GT(comm.counter(Comm::Call::all_to_all_into).bytes, 96 * before * 9 / 10);
  }
}

TEST(ResidentRebuildInARow, refuses_bricks_that_the_host_refuses) {
  const auto comm = Comm::world();
  const double least = (flight_cutoff + flight_skin) / 3;
  GasCase thin{"thin", {0.99 * least * comm.size(), 0, 0, 0, 9, 0, 0, 0, 11}, {true, true, true}};
  thin.in_a_row = true;
  if (comm.size() == 1) return;
  try {
    const Flight there(thin, true);
    FAIL() << "bricks of less than a third of the range were taken";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is too fine"), std::string::npos) << error.what();
  }
}

GasCase part_of(GasCase c, double lower, double upper) {
  c.lower = lower;
  c.upper = upper;
  return c;
}
/// Atoms in the first third of a row of ranks, on their way: some ranks have none.
GasCase slab() {
  auto c = part_of({"slab", {60, 0, 0, 5, 12, 0, -3, 2, 13}, {true, true, true}}, 0.02, 0.3);
  c.slab = c.in_a_row = true;
  c.drift = {250, 0, 0};
  return c;
}
/// A cluster about the first face between two of a row of ranks, in a cube.
GasCase cluster(const char* name, double edge, double radius) {
  const double place = 1.0 / std::max(2, Comm::world().size()), r = radius / edge;
  auto c = part_of({name, {edge, 0, 0, 0, edge, 0, 0, 0, edge}, {true, true, false}}, place - r, place + r);
  c.in_a_row = true;
  return c;
}
GasCase bricks_thinner_than_the_cutoff() {
  const double n = Comm::world().size();
  GasCase c{
      "bricks thinner than the cutoff", {1.01 * 2.6 / 3 * n, 0, 0, 0, 14, 0, 0, 0, 40}, {true, true, true}};
  c.in_a_row = true;
  return c;
}

std::vector<GasCase> cases() {
  return {{"upright", {12, 0, 0, 0, 14, 0, 0, 0, 17}, {true, true, true}},
          {"skew", {13, 0, 0, 4, 12, 0, 2, -3, 15}, {true, true, true}},
          {"open along y", {12, 0, 0, 0, 16, 0, 1, 0, 14}, {true, false, true}},
          {"thinner than the range", {2.2, 0, 0, 0, 9, 0, 0, 0, 40}, {true, true, true}},
          slab(),
          // Cells of it are some 10 angstrom wide, and there are 1e9; then all atoms are in two or so.
          cluster("a cluster in emptiness", 1e4, 10),
          cluster("a cluster in more of it", 1e6, 7)};
}

INSTANTIATE_TEST_SUITE_P(Cells, ResidentRebuild, testing::ValuesIn(cases()),
                         [](const auto& info) { return "cell_" + std::to_string(info.index); });

TEST(ResidentRebuildInARow, hops_over_bricks_thinner_than_the_cutoff) {
  expect_the_same(bricks_thinner_than_the_cutoff(), false);
}

TEST(ResidentRebuildInARow, leaves_a_rank_without_atoms_in_peace) {
  const auto comm = Comm::world();
  Flight there(slab(), true);
  if (comm.size() > 1) {
    EXPECT_TRUE(comm.any(there.atoms.n_local == 0));
  }
  there.fly(5);
  EXPECT_EQ(there.domain.rebuilds(), 6);
  EXPECT_EQ(comm.sum(there.atoms.n_local), 700);
}

// What a run tells a device to have free before it starts.
TEST(ResidentRebuildInARow, takes_no_more_memory_than_is_told_however_empty_the_box) {
  if (test::on_gpu()) GTEST_SKIP() << test::hooks_see_the_host;
  const KokkosCount count("resident::");
  for (const GasCase& c : cases()) {
    const auto before = count.so_far().live_bytes;
    Flight there(c, true, false, true);
    double told = 0;
    for (int step = 0; step < 20; ++step) {
      there.fly(1);
      told = std::max(told, resident_bytes(there.atoms.n_local, there.atoms.n_all(), true));
    }
    const double taken = count.so_far().live_bytes - before;
    EXPECT_LE(taken, told) << c.name;
  }
}

TEST_P(ResidentRebuild, brings_the_host_counts_alone) {
  if (test::on_gpu()) GTEST_SKIP() << test::hooks_see_the_host;
  const auto comm = Comm::world();
  Flight there(GetParam(), true, false, true);
  there.fly(45);
  const KokkosCount count("resident::");
  for (int step = 0; step < 25; ++step) {
    const auto before = count.so_far();
    const auto rebuilds = there.domain.rebuilds();
    there.fly(1);
    const auto n = count.so_far();
    const auto copies = n.copies - before.copies, bytes = n.bytes - before.bytes;
    if (there.domain.rebuilds() == rebuilds) {
      EXPECT_EQ(copies, 0);
      EXPECT_EQ(n.allocations, before.allocations);
      RecordProperty("launches_a_step", std::to_string(n.launches - before.launches));
    } else {
      const bool tells = comm.size() > 1;
      EXPECT_EQ(copies, tells ? 1 : 0);
      EXPECT_EQ(bytes, tells ? 4 * comm.size() : 0);
      RecordProperty("launches_a_rebuild", std::to_string(n.launches - before.launches));
    }
  }
}

}  // namespace
