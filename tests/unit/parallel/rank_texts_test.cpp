#include "io/parallel/rank_texts.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

using Texts = std::vector<std::string>;

TEST(RankTexts, arrive_in_order_of_rank_whatever_their_lengths) {
  const Comm comm = Comm::world();
  Texts expected;
  for (int rank = 0; rank < comm.size() && comm.is_root(); ++rank)
    expected.emplace_back(static_cast<std::size_t>(3 * (rank % 2) + rank / 2), static_cast<char>('a' + rank));
  const std::size_t n = 3 * (comm.rank() % 2) + comm.rank() / 2;
  EXPECT_EQ(gather_texts(comm, std::string(n, static_cast<char>('a' + comm.rank()))), expected);
}

TEST(RankTexts, are_said_once_each_and_not_where_empty) {
  const Comm comm = Comm::world();
  // "", "odd", "even", "odd": of up to four ranks
  const std::string mine = comm.rank() == 0 ? "" : comm.rank() % 2 == 1 ? "odd" : "even";
  Texts expected;
  if (comm.is_root() && comm.size() > 1) expected.emplace_back("odd");
  if (comm.is_root() && comm.size() > 2) expected.emplace_back("even");
  EXPECT_EQ(words_of_ranks(comm, mine), expected);
}

}  // namespace
}  // namespace quintet
