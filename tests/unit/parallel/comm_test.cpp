#include <numeric>
#include <stdexcept>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_session.hpp"

using quintet::Comm;

namespace {

constexpr int ring_tag = 7;

/// Neighbours of this rank on a ring.
struct Ring {
  explicit Ring(const Comm& comm)
      : next((comm.rank() + 1) % comm.size()), previous((comm.rank() + comm.size() - 1) % comm.size()) {}
  int next, previous;
};

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const quintet::Error& error) {
    return error.what();
  }
  return "no error";
}

/// n numbers that tell who made them.
std::vector<double> signed_by(int rank, std::size_t n) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1000.0 * rank);
  return values;
}

}  // namespace

TEST(Comm, exchange_around_the_ring_brings_all_home) {
  const auto comm = Comm::world();
  const Ring ring(comm);
  auto values = signed_by(comm.rank(), 5);

  for (int i_hop = 0; i_hop < comm.size(); ++i_hop) {
    std::vector<double> received(values.size());
    comm.exchange(std::span<const double>(values), ring.next, std::span(received), ring.previous, ring_tag);
    values = received;
    const int maker = (comm.rank() + comm.size() - 1 - i_hop) % comm.size();
    EXPECT_EQ(values, signed_by(maker, 5));
  }
}

TEST(Comm, exchange_of_unknown_size_brings_what_was_sent) {
  const auto comm = Comm::world();
  const Ring ring(comm);
  const auto mine = signed_by(comm.rank(), 3 * comm.rank());  // rank 0 sends nothing

  const auto received = comm.exchange_any(std::span<const double>(mine), ring.next, ring.previous, ring_tag);

  EXPECT_EQ(received, signed_by(ring.previous, 3 * ring.previous));
}

TEST(Comm, exchange_with_nobody_at_the_ends_of_a_line) {
  const auto comm = Comm::world();
  const int left = comm.rank() - 1, right = comm.rank() + 1 < comm.size() ? comm.rank() + 1 : -1;
  const int mine = 10 + comm.rank();
  int received = -5;

  comm.exchange(std::span(&mine, 1), right, std::span(&received, 1), left, ring_tag);

  EXPECT_EQ(received, left < 0 ? -5 : 10 + left);
}

TEST(Comm, exchange_under_way_survives_what_happens_meanwhile) {
  const auto comm = Comm::world();
  const Ring ring(comm);
  const auto sent = signed_by(comm.rank(), 100001);
  std::vector<double> received(sent.size());

  auto pending = comm.start_exchange(std::span<const double>(sent), ring.next, std::span(received),
                                     ring.previous, ring_tag);
  EXPECT_EQ(comm.sum(1), comm.size()) << "collective calls meanwhile are allowed";
  pending.wait();

  EXPECT_EQ(received, signed_by(ring.previous, sent.size()));
}

TEST(Comm, broadcast_copies_the_root) {
  const auto comm = Comm::world();
  const int root = comm.size() - 1;

  EXPECT_EQ(comm.broadcast(100 + comm.rank(), root), 100 + root);
  EXPECT_EQ(comm.broadcast(std::string(static_cast<std::size_t>(comm.rank()), 'x') + "é", root),
            std::string(static_cast<std::size_t>(root), 'x') + "é");
  EXPECT_EQ(comm.broadcast(std::string(comm.rank() == root ? "" : "lost"), root), "");
}

TEST(Comm, reductions_equal_their_formulas) {
  const auto comm = Comm::world();
  const int n = comm.size(), rank = comm.rank();

  EXPECT_EQ(comm.sum(rank + 1), n * (n + 1) / 2);
  EXPECT_EQ(comm.minimum(0.5 - rank), 1.5 - n);
  EXPECT_EQ(comm.maximum(2.5f * rank), 2.5f * (n - 1));
  EXPECT_EQ(comm.sum(1UL << 40), static_cast<unsigned long>(n) << 40);
  EXPECT_EQ(comm.any(rank == n - 1), true);
  EXPECT_EQ(comm.any(false), false);
}

TEST(Comm, gathers_keep_the_order_of_ranks) {
  const auto comm = Comm::world();
  const auto mine = signed_by(comm.rank(), 2 * comm.rank() + 1);
  std::vector<double> all;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const auto part = signed_by(rank, 2 * rank + 1);
    all.insert(all.end(), part.begin(), part.end());
  }
  const int root = comm.size() / 2;

  EXPECT_EQ(comm.all_gather(std::span<const double>(mine)), all);
  EXPECT_EQ(comm.gather(std::span<const double>(mine), root),
            comm.rank() == root ? all : std::vector<double>());
}

TEST(Comm, all_to_all_transposes) {
  const auto comm = Comm::world();
  const std::size_t n = comm.size();
  const auto part = [](int from, int to) { return std::vector<int>(from + 2 * to, 10 * from + to); };
  std::vector<std::vector<int>> send(n);
  for (int to = 0; to < comm.size(); ++to) send[to] = part(comm.rank(), to);

  const auto received = comm.all_to_all(send);

  ASSERT_EQ(received.size(), n);
  for (int from = 0; from < comm.size(); ++from) {
    EXPECT_EQ(received[from], part(from, comm.rank()));
  }
}

TEST(Comm, split_makes_groups_in_the_order_of_the_key) {
  const auto comm = Comm::world();
  const int color = comm.rank() % 2;

  const auto group = comm.split(color, -comm.rank());

  EXPECT_EQ(group.size(), (comm.size() + 1 - color) / 2);
  EXPECT_EQ(group.rank(), group.size() - 1 - comm.rank() / 2);
  EXPECT_EQ(group.maximum(color), color) << "groups do not mix";
}

TEST(Comm, self_is_alone_and_the_node_is_shared) {
  const auto self = Comm::self();
  const auto comm = Comm::world();

  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(self.rank(), 0);
  EXPECT_EQ(self.sum(3), 3);
  EXPECT_EQ(self.split(4, 2).size(), 1);
  EXPECT_EQ(comm.node_size(), comm.size()) << "tests run on one node";
  EXPECT_EQ(comm.node_rank(), comm.rank());
}

TEST(Comm, wrong_arguments_are_named) {
  const auto comm = Comm::world();
  const int value = 1;
  int received = 0;
  const auto exchange = [&](int destination, int source, int tag) {
    return message_of(
        [&] { comm.exchange(std::span(&value, 1), destination, std::span(&received, 1), source, tag); });
  };

  EXPECT_EQ(exchange(comm.size(), -1, 1), "Rank " + std::to_string(comm.size()) +
                                              " does not exist: expected -1 (none) or 0 to " +
                                              std::to_string(comm.size() - 1) + ".");
  EXPECT_EQ(exchange(-1, -2, 1).substr(0, 23), "Rank -2 does not exist:");
  EXPECT_EQ(exchange(-1, -1, 30000), "Tag 30000 is not in 0 to 29999.");
  EXPECT_NE(exchange(comm.rank(), -1, 1).find("a message to itself goes both ways"), std::string::npos);
}

TEST(Comm, message_of_another_size_than_expected_is_an_error) {
  const auto comm = Comm::world();
  const Ring ring(comm);
  const std::vector<int> sent(2);
  std::vector<int> received(3), short_of_room(1);

  const auto too_little = message_of([&] {
    comm.exchange(std::span<const int>(sent), ring.next, std::span(received), ring.previous, ring_tag);
  });
  const auto too_much = message_of([&] {
    comm.exchange(std::span<const int>(sent), ring.next, std::span(short_of_room), ring.previous, ring_tag);
  });

  EXPECT_EQ(too_little, "A message of 12 bytes from rank " + std::to_string(ring.previous) +
                            " was expected, 8 bytes came.");
  if (comm.size() == 1) {
    EXPECT_NE(too_much.find("4 bytes"), std::string::npos) << too_much;
  } else {
    EXPECT_NE(too_much.find("MPI_ERR_TRUNCATE"), std::string::npos)
        << "the text of MPI is kept: " << too_much;
  }
}

TEST(Comm, wrong_number_of_parts_in_all_to_all_is_named) {
  const auto comm = Comm::world();
  const std::vector<std::vector<int>> parts(comm.size() + 1);

  const auto message = message_of([&] { static_cast<void>(comm.all_to_all(parts)); });

  EXPECT_EQ(message, "all_to_all was given " + std::to_string(comm.size() + 1) + " parts for " +
                         std::to_string(comm.size()) + " ranks.");
}

TEST(Comm, rank_that_fails_during_an_exchange_does_not_hang) {
  const auto comm = Comm::world();
  std::vector<int> received(4);

  // The message never comes: the receive must be given up when the error passes.
  const auto fail = [&] {
    const int partner = comm.size() == 1 ? -1 : Ring(comm).previous;
    auto pending =
        comm.start_exchange(std::span<const int>(), -1, std::span(received), partner, ring_tag + 2);
    throw quintet::NumericalError("NaN");
  };

  EXPECT_EQ(message_of(fail), "NaN");
}

TEST(Mpi, names_its_version) {
  EXPECT_TRUE(quintet::mpi_is_up());
  EXPECT_NE(quintet::mpi_version().find_first_of("0123456789"), std::string::npos) << quintet::mpi_version();
}
