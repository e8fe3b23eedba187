#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"

using quintet::Comm;

namespace {

/// A communicator of all ranks whose counters start at 0.
Comm fresh_comm() { return Comm::world().split(0, Comm::world().rank()); }

void expect_counted(const Comm& comm, Comm::Call call, std::int64_t messages, std::int64_t bytes) {
  EXPECT_EQ(comm.counter(call).messages, messages);
  EXPECT_EQ(comm.counter(call).bytes, bytes);
}

}  // namespace

TEST(Counters, start_at_zero_and_are_reset) {
  const auto comm = fresh_comm();
  expect_counted(comm, Comm::Call::barrier, 0, 0);
  comm.barrier();
  expect_counted(comm, Comm::Call::barrier, 1, 0);

  comm.reset_counters();

  expect_counted(comm, Comm::Call::barrier, 0, 0);
}

TEST(Counters, are_shared_by_copies_but_not_by_splits) {
  const auto comm = fresh_comm();
  const auto copy = comm;
  const auto split = comm.split(0, comm.rank());

  copy.barrier();
  split.barrier();
  split.barrier();

  EXPECT_EQ(comm.counter(Comm::Call::barrier).messages, 1);
  EXPECT_EQ(split.counter(Comm::Call::barrier).messages, 2);
}

TEST(Counters, broadcast_is_counted_where_it_starts) {
  const auto comm = fresh_comm();
  const int root = comm.size() - 1;
  std::vector<double> values(6);

  comm.broadcast(std::span(values), root);

  expect_counted(comm, Comm::Call::broadcast, 1, comm.rank() == root ? 48 : 0);
}

TEST(Counters, broadcast_of_a_text_is_its_length_and_its_letters) {
  const auto comm = fresh_comm();

  static_cast<void>(comm.broadcast(std::string("quintet")));

  expect_counted(comm, Comm::Call::broadcast, 2, comm.is_root() ? 8 + 7 : 0);
}

TEST(Counters, reductions_count_what_every_rank_hands_in) {
  const auto comm = fresh_comm();
  std::vector<float> values(5);

  comm.reduce(std::span(values), Comm::Reduction::sum);
  static_cast<void>(comm.any(true));

  expect_counted(comm, Comm::Call::reduce, 2, 20 + 4);
}

TEST(Counters, ring_exchange_counts_messages_that_travel) {
  const auto comm = fresh_comm();
  const int next = (comm.rank() + 1) % comm.size(), previous = (comm.rank() + comm.size() - 1) % comm.size();
  const std::vector<double> sent(10);
  std::vector<double> received(10);
  constexpr int n_exchanges = 3;

  for (int i = 0; i < n_exchanges; ++i) {
    comm.exchange(std::span<const double>(sent), next, std::span(received), previous, 1);
    comm.exchange(std::span<const double>(sent), -1, std::span(received), -1, 1);
  }

  const int travelling = comm.size() == 1 ? 0 : n_exchanges;  // to itself a rank copies
  expect_counted(comm, Comm::Call::point_to_point, travelling, 80 * travelling);
  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).received, 80 * travelling);
}

TEST(Counters, gathers_count_what_every_rank_hands_in_and_all_to_all_what_leaves_it) {
  const auto comm = fresh_comm();
  const std::vector<int> mine(comm.rank() + 1);

  static_cast<void>(comm.all_gather(std::span<const int>(mine)));
  static_cast<void>(comm.gather(std::span<const int>(mine)));
  static_cast<void>(comm.all_to_all(std::vector<std::vector<int>>(comm.size(), mine)));

  expect_counted(comm, Comm::Call::gather, 3, (2 + comm.size() - 1) * 4 * (comm.rank() + 1));
}
