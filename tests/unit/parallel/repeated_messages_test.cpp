#include "io/parallel/repeated_messages.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

using quintet::Comm;
using quintet::InternalError;
using quintet::RepeatedMessages;

namespace {

Comm fresh_comm() { return Comm::world().split(0, Comm::world().rank()); }

template <class T>
std::span<const std::byte> bytes(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}
template <class T>
std::span<std::byte> writable(std::vector<T>& values) {
  return std::as_writable_bytes(std::span(values));
}

}  // namespace

TEST(RepeatedMessages, bring_what_is_there_at_each_start) {
  const auto comm = fresh_comm();
  const int n = comm.size(), next = (comm.rank() + 1) % n, last = (comm.rank() + n - 1) % n;
  if (n == 1) GTEST_SKIP() << "one rank has nobody to write to";
  for (const std::size_t length : {1u, 1000u, 100000u}) {  // short ones, and longer than MPI sends unasked
    std::vector<int> sent(length), first(length, -1), second(length, -1);
    RepeatedMessages messages(comm);
    messages.receive(writable(first), last, 3);
    messages.receive(writable(second), last, 3);
    messages.send(bytes(sent), next, 3);
    messages.send(bytes(sent), next, 3);
    for (int round = 0; round < 5; ++round) {
      sent.assign(length, 100 * round + comm.rank());
      messages.start();
      messages.wait();
      EXPECT_EQ(first, std::vector<int>(length, 100 * round + last));
      EXPECT_EQ(second, first);
    }
  }
}

TEST(RepeatedMessages, of_one_tag_arrive_in_their_order) {
  const auto comm = fresh_comm();
  if (comm.size() < 2) GTEST_SKIP() << "one rank has nobody to write to";
  std::vector<int> a = {1}, b = {2}, to_a(1), to_b(1);
  RepeatedMessages messages(comm);
  if (comm.rank() == 0) messages.send(bytes(a), 1, 0), messages.send(bytes(b), 1, 0);
  if (comm.rank() == 1) messages.receive(writable(to_a), 0, 0), messages.receive(writable(to_b), 0, 0);
  messages.start();
  messages.wait();
  if (comm.rank() == 1) {
    EXPECT_EQ(to_a, a);
    EXPECT_EQ(to_b, b);
  }
}

TEST(RepeatedMessages, are_counted_at_each_start) {
  const auto comm = fresh_comm();
  std::vector<double> sent(5), received(5);
  RepeatedMessages messages(comm);
  if (comm.rank() == 0 && comm.size() > 1) messages.send(bytes(sent), 1, 0);
  if (comm.rank() == 1) messages.receive(writable(received), 0, 0);
  for (int i = 0; i < 3; ++i) messages.start(), messages.wait();
  const auto& counter = comm.counter(Comm::Call::point_to_point);
  const bool sends = comm.rank() == 0 && comm.size() > 1;
  EXPECT_EQ(counter.messages, sends ? 3 : 0);
  EXPECT_EQ(counter.bytes, sends ? 120 : 0);
  EXPECT_EQ(counter.received, comm.rank() == 1 ? 120 : 0);
}

TEST(RepeatedMessages, of_another_length_are_found) {
  const auto comm = fresh_comm();
  if (comm.size() < 2) GTEST_SKIP() << "one rank has nobody to write to";
  std::vector<int> short_one(3), long_one(4);
  RepeatedMessages messages(comm);
  if (comm.rank() == 0) messages.send(bytes(short_one), 1, 0);
  if (comm.rank() == 1) messages.receive(writable(long_one), 0, 0);
  messages.start();
  if (comm.rank() == 1)
    EXPECT_THROW(messages.wait(), InternalError);
  else
    messages.wait();
}

TEST(RepeatedMessages, that_cannot_be_are_refused) {
  const auto comm = fresh_comm();
  std::vector<int> values(1);
  RepeatedMessages messages(comm);
  EXPECT_THROW(messages.send(bytes(values), comm.rank(), 0), InternalError);
  EXPECT_THROW(messages.send(bytes(values), comm.size(), 0), InternalError);
  EXPECT_THROW(messages.receive(writable(values), -1, 0), InternalError);
}

TEST(RepeatedMessages, are_given_up_where_nobody_answers) {
  const auto comm = fresh_comm();
  std::vector<int> values{3};
  {
    RepeatedMessages messages(comm);
    if (comm.size() > 1) messages.receive(writable(values), (comm.rank() + 1) % comm.size(), 7);
    messages.start();
  }
  EXPECT_EQ(comm.sum(1.0), comm.size());  // the ranks go on
  EXPECT_EQ(values.front(), 3);
}
