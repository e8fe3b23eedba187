#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace {

/// A communicator of all ranks whose counters start at 0.
Comm fresh_comm() { return Comm::world().split(0, Comm::world().rank()); }

/// Numbers whose sum depends on the order in which they are added.
template <class T>
T number(int rank, std::size_t i) {
  return static_cast<T>(std::sin(i + 0.7 * rank) * std::pow(10.0, (rank * 3 + i) % 7));
}

template <class T>
void sums_in_rank_order(std::size_t slice) {
  const Comm comm = fresh_comm();
  const std::size_t n_ranks = comm.size(), self = comm.rank();
  std::vector<T> parts(n_ranks * slice), workspace((n_ranks - 1) * slice), own(slice);
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = number<T>(comm.rank(), i);
  const auto expected = [&](std::size_t i) {
    T sum = number<T>(0, i);
    for (int rank = 1; rank < comm.size(); ++rank) sum += number<T>(rank, i);
    return sum;
  };

  comm.reduce_scatter(std::span<const T>(parts), std::span(own), std::span(workspace));
  for (std::size_t i = 0; i < slice; ++i) ASSERT_EQ(own[i], expected(self * slice + i)) << i;

  // In place, with a pause in which it may progress, and back to all ranks.
  const auto mine = std::span(parts).subspan(self * slice, slice);
  auto pending = comm.start_reduce_scatter(std::span<const T>(parts), std::span(workspace));
  while (!pending.progress()) {
  }
  pending.wait(mine);
  auto gathering = comm.start_all_gather_into(std::span(parts));
  while (!gathering.progress()) {
  }
  gathering.wait();
  for (std::size_t i = 0; i < parts.size(); ++i) ASSERT_EQ(parts[i], expected(i)) << i;

  const std::int64_t words = (n_ranks - 1) * slice * sizeof(T);
  const auto& sums = comm.counter(Comm::Call::reduce_scatter);
  EXPECT_EQ(sums.messages, 2 * (comm.size() - 1));
  EXPECT_EQ(sums.bytes, 2 * words);
  EXPECT_EQ(sums.received, 2 * words);
  const auto& gathers = comm.counter(Comm::Call::all_gather_into);
  EXPECT_EQ(gathers.messages, comm.size() - 1);
  EXPECT_EQ(gathers.bytes, words);
  EXPECT_EQ(gathers.received, words);
}

TEST(Slices, are_summed_in_rank_order_and_gathered_and_counted) {
  sums_in_rank_order<float>(16);
  sums_in_rank_order<double>(1029);
  sums_in_rank_order<float>(300001);
}

TEST(Slices, of_unequal_length_are_refused) {
  const Comm comm = fresh_comm();
  if (comm.size() == 1) GTEST_SKIP() << "one rank takes any length";
  std::vector<float> values(static_cast<std::size_t>(comm.size()) + 1), workspace(values.size());
  EXPECT_THROW(comm.all_gather_into(std::span(values)), InternalError);
  EXPECT_THROW(
      static_cast<void>(comm.start_reduce_scatter(std::span<const float>(values), std::span(workspace))),
      InternalError);
  values.pop_back();
  EXPECT_THROW(
      static_cast<void>(comm.start_reduce_scatter(std::span<const float>(values), std::span<float>())),
      InternalError);
}

std::vector<std::size_t> parts_of(std::size_t n, int n_ranks) {
  std::vector<std::size_t> parts;
  for (int rank = 0; rank < n_ranks; ++rank)
    parts.push_back(n / n_ranks + (static_cast<std::size_t>(rank) < n % n_ranks ? 1 : 0));
  return parts;
}

/// Embeddings of S tables of width E for B queries, both divided unevenly, forward (each rank its tables'
/// rows to the owners of queries) or back: words that this rank sends, and messages.
struct Sent {
  std::int64_t words, messages;
};
Sent exchange(std::size_t tables, std::size_t width, std::size_t batch, bool forward) {
  const Comm comm = fresh_comm();
  const std::size_t self = comm.rank();
  const auto of_tables = parts_of(tables, comm.size()), of_batch = parts_of(batch, comm.size());
  std::vector<std::size_t> sends, receives;
  for (std::size_t r = 0; r < of_batch.size(); ++r) {
    sends.push_back(width * (forward ? of_tables[self] * of_batch[r] : of_tables[r] * of_batch[self]));
    receives.push_back(width * (forward ? of_tables[r] * of_batch[self] : of_tables[self] * of_batch[r]));
  }
  std::vector<int> sent, received(std::accumulate(receives.begin(), receives.end(), std::size_t{0}));
  for (std::size_t r = 0; r < sends.size(); ++r)
    sent.insert(sent.end(), sends[r], static_cast<int>(100 * self + r));
  comm.all_to_all_into(std::span<const int>(sent), std::span<const std::size_t>(sends), std::span(received),
                       std::span<const std::size_t>(receives));
  std::size_t next = 0;
  for (std::size_t r = 0; r < receives.size(); ++r)
    for (std::size_t i = 0; i < receives[r]; ++i)
      EXPECT_EQ(received[next++], static_cast<int>(100 * r + self));
  const auto& counter = comm.counter(Comm::Call::all_to_all_into);
  EXPECT_EQ(comm.sum(counter.bytes), comm.sum(counter.received));
  return {counter.bytes / static_cast<std::int64_t>(sizeof(int)), counter.messages};
}

TEST(Slices, parts_of_any_length_go_to_their_ranks) {
  const Comm comm = Comm::world();
  for (const auto& [tables, width, batch] :
       {std::array<std::size_t, 3>{8, 64, 2048}, {5, 16, 96}, {13, 4, 7}, {1, 4, 9}}) {
    const std::size_t self = comm.rank();
    const auto own_tables = parts_of(tables, comm.size())[self],
               own_batch = parts_of(batch, comm.size())[self];
    const auto [words, messages] = exchange(tables, width, batch, true);
    EXPECT_EQ(words, static_cast<std::int64_t>(own_tables * width * (batch - own_batch)));
    EXPECT_EQ(messages, own_tables == 0 ? 0 : comm.size() - 1);
  }
}

/// all_to_all.json in ../shared/data/training: words and messages of every case of so many ranks.
TEST(Slices, an_exchange_of_embeddings_sends_the_words_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string place =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/all_to_all.json";
  if (!std::filesystem::exists(place)) GTEST_SKIP() << "../shared/data/training is not here";
  const Comm comm = Comm::world();
  const Tree given = read_yaml(place);
  int found = 0;
  for (const auto& row : given.at("cases").items()) {
    const auto number = [&](const char* key) { return std::lround(row.at(key).as_number()); };
    if (number("ranks") != comm.size()) continue;
    for (const bool forward : {true, false}) {
      const auto [words, messages] = exchange(number("tables"), number("dim"), number("batch"), forward);
      const auto& of_ranks = row.at(forward ? "forward_words_sent" : "backward_words_sent").items();
      EXPECT_EQ(words, std::lround(of_ranks[comm.rank()].as_number()));
      EXPECT_EQ(messages, number("messages_fused"));
    }
    ++found;
  }
  EXPECT_EQ(found, 3);
}

}  // namespace
}  // namespace quintet
