#include "surrogates/planning/links.hpp"

#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

using namespace quintet;
using namespace quintet::planning;

namespace {

/// Ring all-reduce as its authors describe it: p - 1 rounds that sum parts, p - 1 that hand them on.
void ring_sum(const Comm& comm, std::span<double> values) {
  const int p = comm.size(), rank = comm.rank();
  const std::size_t part = values.size() / p;
  const auto part_of = [&](int k) { return values.subspan(((k % p + p) % p) * part, part); };
  std::vector<double> received(part);
  for (int round = 0; round < 2 * (p - 1); ++round) {
    comm.exchange(std::span<const double>(part_of(rank - round)), (rank + 1) % p, std::span(received),
                  (rank + p - 1) % p, 1);
    const auto target = part_of(rank - round - 1);
    for (std::size_t i = 0; i < part; ++i) target[i] = received[i] + (round < p - 1 ? target[i] : 0.0);
  }
}

/// One part of each rank, all parts on all.
void ring_gather(const Comm& comm, std::span<double> values) {
  const int p = comm.size(), rank = comm.rank();
  const std::size_t part = values.size() / p;
  for (int round = 0; round < p - 1; ++round) {
    const std::size_t from = (rank - round + p) % p;
    const std::size_t to = (rank - round - 1 + p) % p;
    comm.exchange(std::span<const double>(values.subspan(from * part, part)), (rank + 1) % p,
                  values.subspan(to * part, part), (rank + p - 1) % p, 1);
  }
}

void expect_counted(const Comm& comm, const Traffic& traffic) {
  const auto& counter = comm.counter(Comm::Call::point_to_point);
  EXPECT_EQ(static_cast<double>(counter.messages), traffic.messages);
  EXPECT_EQ(static_cast<double>(counter.bytes), traffic.bytes);
}

}  // namespace

TEST(Links, a_ring_that_sums_sends_what_the_formula_says) {
  const Comm comm = Comm::world();
  std::vector<double> values(12);
  std::iota(values.begin(), values.end(), 100.0 * comm.rank());
  comm.reset_counters();

  ring_sum(comm, values);

  expect_counted(comm, ring_all_reduce(comm.size(), 8.0 * 12));
  const int p = comm.size();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], p * static_cast<double>(i) + 100.0 * p * (p - 1) / 2);
}

TEST(Links, a_ring_that_gathers_sends_what_the_formula_says) {
  const Comm comm = Comm::world();
  const std::size_t p = comm.size();
  std::vector<double> values(4 * p);
  for (std::size_t i = 0; i < 4; ++i) values[4 * std::int64_t{comm.rank()} + i] = comm.rank();
  comm.reset_counters();

  ring_gather(comm, values);

  expect_counted(comm, ring_all_gather(comm.size(), 8.0 * 4 * comm.size()));
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<double>(i / 4));
}

TEST(Links, a_tree_has_as_many_rounds_as_halvings) {
  EXPECT_EQ(tree_all_reduce(1, 8).messages, 0);
  EXPECT_EQ(tree_all_reduce(2, 8).messages, 1);
  EXPECT_EQ(tree_all_reduce(5, 8).messages, 3);
  EXPECT_EQ(tree_all_reduce(8, 8).bytes, 24);
}

TEST(Links, the_nearest_level_that_reaches_holds) {
  const Links links({{4, {1e-6, 1e-11}}, {64, {2e-6, 1e-10}}});

  EXPECT_EQ(links.among(2).alpha, 1e-6);
  EXPECT_EQ(links.among(4).alpha, 1e-6);
  EXPECT_EQ(links.among(5).alpha, 2e-6);
  EXPECT_DOUBLE_EQ(Traffic({3, 1000}).seconds(links.among(64)), 3 * 2e-6 + 1000 * 1e-10);
  EXPECT_THROW(static_cast<void>(links.among(65)), InputError);
  EXPECT_THROW(static_cast<void>(Links().among(2)), InputError);
}

TEST(Links, levels_rise_and_take_time) {
  constexpr double any = std::numeric_limits<double>::infinity();

  EXPECT_NO_THROW(Links({{1, {0, 0}}, {any, {1e-6, 1e-10}}}));
  EXPECT_THROW(Links({{4, {1e-6, 0}}, {4, {1e-6, 0}}}), InputError);
  EXPECT_THROW(Links(std::vector<Links::Tier>{{4, {-1e-6, 0}}}), InputError);
  EXPECT_THROW(Links(std::vector<Links::Tier>{{4, {1e-6, any}}}), InputError);
}
