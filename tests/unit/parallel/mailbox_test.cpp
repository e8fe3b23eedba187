#include "io/parallel/mailbox.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

std::vector<std::byte> letter(int from, int number, std::size_t bytes) {
  std::vector<std::byte> text(bytes, static_cast<std::byte>(number));
  text[0] = static_cast<std::byte>(from);
  return text;
}

TEST(Mailbox, letters_of_any_length_arrive_in_their_order) {
  const Comm comm = Comm::world();
  Mailbox mailbox(comm);
  constexpr int n = 20;
  const auto bytes = [](int number) { return std::size_t{1} + 40000 * std::int64_t{number % 3}; };
  for (int number = 0; number < n; ++number)
    for (int rank = 0; rank < comm.size(); ++rank)
      if (rank != comm.rank()) mailbox.send(letter(comm.rank(), number, bytes(number)), rank);
  EXPECT_EQ(mailbox.sent().messages, n * (comm.size() - 1));
  std::vector<int> next(comm.size(), 0);
  for (int left = n * (comm.size() - 1); left > 0;) {
    const auto got = mailbox.receive();
    if (!got) continue;
    int& number = next[got->source];
    ASSERT_EQ(got->bytes, letter(got->source, number, bytes(number))) << "letter " << number;
    ++number;
    --left;
  }
  EXPECT_FALSE(mailbox.receive());
  comm.barrier();
}

TEST(Mailbox, nobody_writes_to_himself_or_to_nobody) {
  const Comm comm = Comm::world();
  Mailbox mailbox(comm);
  const std::vector<std::byte> text(1);
  EXPECT_THROW(mailbox.send(text, comm.rank()), InternalError);
  EXPECT_THROW(mailbox.send(text, comm.size()), InternalError);
}

TEST(Mailbox, may_be_closed_with_letters_that_nobody_reads_and_that_no_later_one_gets) {
  const Comm comm = Comm::world();
  const auto send_all = [&](Mailbox& mailbox, std::size_t bytes) {
    const std::vector<std::byte> text(bytes);
    for (int rank = 0; rank < comm.size(); ++rank)
      if (rank != comm.rank()) mailbox.send(text, rank);
  };
  {
    Mailbox closed(comm);
    send_all(closed, 100000);
  }
  Mailbox mailbox(comm);
  send_all(mailbox, 3);
  for (int n = 1; n < comm.size();)
    if (const auto letter = mailbox.receive()) {
      EXPECT_EQ(letter->bytes.size(), 3U);
      ++n;
    }
  comm.barrier();
  EXPECT_FALSE(mailbox.receive());
}

}  // namespace
}  // namespace quintet
