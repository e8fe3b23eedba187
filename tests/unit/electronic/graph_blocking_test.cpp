#include <algorithm>
#include <set>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/electronic_samples.hpp"

namespace quintet::electronic {
namespace {

/// A chain of weakly coupled molecules of six orbitals whose rows are shuffled: row i of the chain is row
/// place(i) of the matrix.
struct Shuffled {
  MoleculeChain chain;
  SamplePair pair;
  [[nodiscard]] int place(int i) const { return (i * 7 + 3) % pair.n_rows; }
  [[nodiscard]] int molecule(int row) const {
    for (int i = 0; i < pair.n_rows; ++i)
      if (place(i) == row) return i / chain.n_orbitals;
    return -1;
  }
};

Shuffled shuffled_chain(const Comm& comm) {
  Shuffled s;
  s.chain.n_molecules = 17;
  s.chain.coupling = 0.002;
  s.pair = sample(comm, s.chain);
  for (auto& e : s.pair.k) e = {s.place(e.row), s.place(e.column), e.value};
  return s;
}

TEST(GraphBlocking, finds_the_molecules_again) {
  const auto comm = Comm::world();
  const auto s = shuffled_chain(comm);

  const auto blocking = graph_blocking(comm, uniform_blocking(s.pair.n_rows, 1), s.pair.k, 6);

  EXPECT_NO_THROW(check_blocking(blocking));
  ASSERT_EQ(blocking.n_blocks(), 17);
  for (int b = 0; b < 17; ++b) {
    std::set<int> molecules;
    for (int i = blocking.begin[b]; i < blocking.begin[static_cast<std::size_t>(b) + 1]; ++i)
      molecules.insert(s.molecule(blocking.order[i]));
    EXPECT_EQ(molecules.size(), 1U) << "block " << b;
  }
}

TEST(GraphBlocking, joins_neighbours_and_is_the_same_on_any_number_of_ranks) {
  const auto comm = Comm::world();
  MoleculeChain chain;
  chain.n_molecules = 16;
  const auto mine = sample(comm, chain), all = sample(Comm::self(), chain);
  const auto units = uniform_blocking(mine.n_rows, 6);

  const auto blocking = graph_blocking(comm, units, mine.k, 24),
             alone = graph_blocking(Comm::self(), units, all.k, 24);

  EXPECT_EQ(blocking.begin, alone.begin);
  EXPECT_EQ(blocking.order, alone.order);
  for (int b = 0; b < blocking.n_blocks(); ++b) {
    EXPECT_LE(blocking.size(b), 24);
    EXPECT_EQ(blocking.size(b) % 6, 0);
  }
  EXPECT_LE(blocking.n_blocks(), 6);  // 4 if the greedy choice were the best
}

TEST(GraphBlocking, without_couplings_leaves_the_units) {
  const auto comm = Comm::world();

  const auto blocking = graph_blocking(comm, blocking_of_sizes(6, {1, 3, 2}), {}, 5);

  EXPECT_EQ(blocking.begin, (std::vector<int>{0, 1, 4, 6}));
}

TEST(GraphBlocking, refuses_units_that_do_not_fit) {
  const auto comm = Comm::world();
  const std::vector<Triplet> outside{{0, 6, 1.0}};

  EXPECT_THROW(static_cast<void>(graph_blocking(comm, blocking_of_sizes(6, {1, 3, 2}), {}, 2)), InputError);
  EXPECT_THROW(static_cast<void>(graph_blocking(comm, blocking_of_sizes(6, {1, 3, 2}), outside, 3)),
               InputError);
}

}  // namespace
}  // namespace quintet::electronic
