#include "physics/electronic/matrix/block_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/electronic/dense_twin.hpp"

namespace quintet::electronic {
namespace {

constexpr int n_rows = 29;

/// Blocks of 1 to 5 rows, in an order of their own.
std::shared_ptr<const Blocking> uneven_blocks(bool reordered) {
  auto blocking = blocking_of_sizes(n_rows, {3, 1, 5, 2, 4, 1, 1, 5, 2, 3, 2});
  if (reordered)
    for (int i = 0; i < n_rows; ++i) blocking.order.push_back((7 * i + 3) % n_rows);
  return std::make_shared<const Blocking>(blocking);
}

/// Elements (i, j) of a symmetric random sparse matrix that fall to this rank: every size-th, so that owners
/// get elements of all ranks.
std::vector<Triplet> sparse_elements(const Comm& comm, int seed, double asymmetry = 0) {
  std::vector<Triplet> mine;
  for (int i = 0; i < n_rows; ++i)
    for (int j = 0; j < n_rows; ++j) {
      const int low = std::min(i, j), high = std::max(i, j);
      const bool there = i == j || noise(low + 100 * seed, high) > 0.6;
      const double value = noise(low + 1000 * seed, high) + (i < j ? asymmetry * noise(j, i) : 0);
      if (there && (3 * i + j) % comm.size() == comm.rank()) mine.push_back({i, j, value});
    }
  return mine;
}

class BlockMatrices : public ::testing::TestWithParam<bool> {
 protected:
  const Comm comm = Comm::world();
  const std::shared_ptr<const Blocking> blocking = uneven_blocks(GetParam());
  const std::vector<int> shares = share_columns(comm, *blocking);

  [[nodiscard]] BlockMatrix random_matrix(int seed) const {
    return assemble(comm, blocking, sparse_elements(comm, seed), shares, 0);
  }
  /// Message of the InputError that assembling throws, on every rank.
  [[nodiscard]] std::string refusal(const std::vector<Triplet>& mine, double asymmetry) const {
    try {
      static_cast<void>(assemble(comm, blocking, mine, shares, asymmetry));
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_P(BlockMatrices, elements_come_back_as_they_were_given) {
  const auto given = dense_of(comm, n_rows, sparse_elements(comm, 1));

  const auto back = dense_of(random_matrix(1));

  EXPECT_EQ(back.m, given.m);
}

TEST_P(BlockMatrices, blocks_ascend_and_lie_with_their_owner) {
  const auto m = random_matrix(1);

  EXPECT_EQ(m.first, shares[comm.rank()]);
  EXPECT_EQ(m.column_begin.size(), static_cast<std::size_t>(m.n_columns()) + 1);
  for (int c = 0; c < m.n_columns(); ++c) {
    const auto begin = m.row.begin() + m.column_begin[c],
               end = m.row.begin() + m.column_begin[static_cast<std::size_t>(c) + 1];
    EXPECT_EQ(m.owner(m.first + c), comm.rank());
    EXPECT_TRUE(std::is_sorted(begin, end));
    EXPECT_TRUE(std::binary_search(begin, end, m.first + c));
    EXPECT_EQ(std::adjacent_find(begin, end), end);
  }
  EXPECT_GE(m.bytes(), static_cast<double>(8 * m.value.size()));
}

TEST_P(BlockMatrices, small_asymmetries_are_averaged) {
  const auto mine = sparse_elements(comm, 2, 1e-7);
  const auto given = dense_of(comm, n_rows, mine);

  const auto m = dense_of(assemble(comm, blocking, mine, shares, 1e-6));

  for (int i = 0; i < n_rows; ++i)
    for (int j = 0; j < n_rows; ++j) EXPECT_EQ(m(i, j), 0.5 * given(i, j) + 0.5 * given(j, i));
}

TEST_P(BlockMatrices, a_negative_tolerance_keeps_the_matrix_as_it_is) {
  const auto mine = sparse_elements(comm, 2, 0.3);

  const auto m = dense_of(assemble(comm, blocking, mine, shares, -1));

  EXPECT_EQ(m.m, dense_of(comm, n_rows, mine).m);
}

TEST_P(BlockMatrices, an_unsymmetric_matrix_is_refused_with_the_worst_element) {
  auto mine = sparse_elements(comm, 2);
  for (auto& e : mine)
    if (e.row == 4 && e.column == 4) e.value = 7;  // the diagonal is free
  if (comm.is_root()) mine.push_back({20, 3, 50.0}), mine.push_back({3, 20, 49.0});
  std::erase_if(mine, [](const Triplet& e) {
    return std::abs(e.value) < 2 && std::set{e.row, e.column} == std::set{3, 20};
  });

  const auto message = refusal(mine, 0.5);

  EXPECT_TRUE(contains(message, "not symmetric")) << message;
  EXPECT_TRUE(contains(message, "(row 4, column 21) is 49, (row 21, column 4) is 50") ||
              contains(message, "(row 21, column 4) is 50, (row 4, column 21) is 49"))
      << message;
  EXPECT_EQ(refusal(mine, 1.5), "no error");
}

TEST_P(BlockMatrices, one_triangle_alone_is_refused) {
  auto mine = sparse_elements(comm, 2);
  std::erase_if(mine, [](const Triplet& e) { return e.row > e.column; });

  const auto message = refusal(mine, 1e-3);

  EXPECT_TRUE(contains(message, "absent") && contains(message, "both triangles")) << message;
}

TEST_P(BlockMatrices, an_element_given_twice_is_refused) {
  auto mine = sparse_elements(comm, 2);
  if (comm.rank() == comm.size() - 1) mine.push_back({6, 6, 0.0});

  EXPECT_TRUE(contains(refusal(mine, 1), "element (row 7, column 7) is given twice"));
  EXPECT_TRUE(contains(refusal(mine, -1), "element (row 7, column 7) is given twice"));
}

TEST_P(BlockMatrices, an_element_out_of_range_is_refused) {
  for (const int bad : {-1, n_rows, std::numeric_limits<std::int32_t>::max()}) {
    auto mine = sparse_elements(comm, 2);
    if (comm.rank() == comm.size() - 1) mine.push_back({bad, 2, 1.0});

    EXPECT_TRUE(contains(refusal(mine, 1), "outside a matrix of 29 rows"));
  }
}

TEST_P(BlockMatrices, sums_and_products_are_those_of_dense_matrices) {
  const auto a = random_matrix(3), b = random_matrix(4);
  const auto x = dense_of(a), y = dense_of(b);
  double expected_dot = 0, expected_trace = 0, expected_squares = 0;
  for (int i = 0; i < n_rows; ++i) {
    expected_trace += x(i, i);
    for (int j = 0; j < n_rows; ++j) expected_dot += x(i, j) * y(i, j), expected_squares += x(i, j) * x(i, j);
  }

  const auto sum = add(2.5, a, -0.5, b);

  const auto z = dense_of(sum);
  for (std::size_t k = 0; k < z.m.size(); ++k) EXPECT_NEAR(z.m[k], 2.5 * x.m[k] - 0.5 * y.m[k], 1e-15);
  EXPECT_NEAR(dot(a, b), expected_dot, 1e-13);
  EXPECT_NEAR(trace(a), expected_trace, 1e-13);
  EXPECT_NEAR(frobenius_norm(a), std::sqrt(expected_squares), 1e-13);
}

TEST_P(BlockMatrices, the_pattern_of_a_sum_is_the_union) {
  auto a = random_matrix(3), b = random_matrix(4);
  filter(a, 1.1);
  filter(b, 1.3);
  std::set<std::pair<int, int>> expected, found;
  const auto collect = [](const BlockMatrix& m, std::set<std::pair<int, int>>& into) {
    for (int c = 0; c < m.n_columns(); ++c)
      for (auto p = m.column_begin[c]; p < m.column_begin[static_cast<std::size_t>(c) + 1]; ++p)
        into.insert({c, m.row[p]});
  };
  collect(a, expected);
  collect(b, expected);

  collect(add(1, a, 1, b), found);

  EXPECT_EQ(found, expected);
}

TEST_P(BlockMatrices, a_filter_drops_small_blocks_but_the_diagonal_and_says_how_much) {
  auto m = random_matrix(5);
  const auto before = dense_of(m);
  constexpr double threshold = 1.2;

  const double dropped = filter(m, threshold);

  auto expected = before;
  double squares = 0;
  const auto user = [&](int i) { return blocking->order.empty() ? i : blocking->order[i]; };
  for (int r = 0; r < blocking->n_blocks(); ++r)
    for (int c = 0; c < blocking->n_blocks(); ++c) {
      double norm = 0;
      const auto each = [&](auto&& visit) {
        for (int i = blocking->begin[r]; i < blocking->begin[static_cast<std::size_t>(r) + 1]; ++i)
          for (int j = blocking->begin[c]; j < blocking->begin[static_cast<std::size_t>(c) + 1]; ++j)
            visit(expected(user(i), user(j)));
      };
      each([&](double& v) { norm += v * v; });
      if (r == c || std::sqrt(norm) >= threshold) continue;
      squares += norm;
      each([](double& v) { v = 0; });
    }
  EXPECT_EQ(dense_of(m).m, expected.m);
  EXPECT_NEAR(dropped, std::sqrt(squares), 1e-13);
  EXPECT_GT(dropped, 0.0);
  EXPECT_NEAR(
      frobenius_norm(m) * frobenius_norm(m) + squares,
      [&] {
        double all = 0;
        for (const double v : before.m) all += v * v;
        return all;
      }(),
      1e-12);
}

TEST_P(BlockMatrices, a_filter_of_nothing_or_all_is_right) {
  auto m = random_matrix(5);
  const auto before = dense_of(m);

  EXPECT_EQ(filter(m, 0), 0.0);
  EXPECT_EQ(dense_of(m).m, before.m);
  filter(m, 1e9);
  EXPECT_EQ(m.n_blocks(), m.n_columns());
  EXPECT_NEAR(trace(m), trace(random_matrix(5)), 1e-14);
  EXPECT_THROW(filter(m, -1), InputError);
  EXPECT_THROW(filter(m, std::nan("")), InputError);
}

TEST_P(BlockMatrices, matrices_of_other_sizes_blocks_or_shares_do_not_add) {
  const auto a = random_matrix(3);
  const auto other = std::make_shared<const Blocking>(uniform_blocking(30, 3));
  const auto b = assemble(comm, other, {}, share_columns(comm, *other), 0);
  const auto same_size = std::make_shared<const Blocking>(uniform_blocking(n_rows, 1));
  const auto c = assemble(comm, same_size, {}, share_columns(comm, *same_size), 0);

  EXPECT_THROW(static_cast<void>(add(1, a, 1, b)), InputError);
  EXPECT_THROW(static_cast<void>(dot(a, c)), InputError);
}

INSTANTIATE_TEST_SUITE_P(order, BlockMatrices, ::testing::Bool());

TEST(ShareColumns, weights_are_shared_evenly) {
  const auto comm = Comm::world();
  const auto blocking = uniform_blocking(120, 2);
  std::vector<double> weight(60);
  for (std::size_t b = 0; b < 60; ++b) weight[b] = 1 + b % 7;
  double total = 0;
  for (const double w : weight) total += w;

  const auto shares = share_columns(comm, blocking, weight);

  ASSERT_EQ(shares.size(), static_cast<std::size_t>(comm.size()) + 1);
  EXPECT_EQ(shares.back(), 60);
  for (std::size_t r = 0; r + 1 < shares.size(); ++r) {
    double mine = 0;
    for (int b = shares[r]; b < shares[r + 1]; ++b) mine += weight[b];
    EXPECT_NEAR(mine, total / comm.size(), 7.0);
  }
}

TEST(BlockMatrixSums, of_large_terms_that_cancel_keep_the_small_ones) {
  const auto comm = Comm::world();
  constexpr int n = 3000;
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(n, 1));
  std::vector<Triplet> mine;
  if (comm.is_root())
    for (int i = 0; i < n; ++i) mine.push_back({i, i, i % 3 == 0 ? 1e16 : i % 3 == 1 ? 1.0 : -1e16});
  std::vector<int> on_root(static_cast<std::size_t>(comm.size()) + 1, n);
  on_root[0] = 0;

  const auto m = assemble(comm, blocking, mine, on_root, 0);

  EXPECT_EQ(trace(m), 1000.0);
  EXPECT_EQ(dot(m, m), 2000 * 1e32);
}

TEST(ShareColumns, more_ranks_than_blocks_leave_some_without) {
  const auto comm = Comm::world();
  const auto blocking = std::make_shared<const Blocking>(uniform_blocking(4, 4));
  const auto shares = share_columns(comm, *blocking);
  std::vector<Triplet> mine;
  if (comm.is_root())
    for (int i = 0; i < 4; ++i)
      for (int j = 0; j < 4; ++j) mine.push_back({i, j, 1.0 + i * j});

  const auto m = assemble(comm, blocking, mine, shares, 0);

  EXPECT_EQ(comm.sum(m.n_columns()), 1);
  EXPECT_EQ(trace(m), 18.0);
  EXPECT_EQ(trace(add(1, m, 1, m)), 36.0);
  EXPECT_THROW(static_cast<void>(share_columns(comm, *blocking, std::vector<double>{-1})), InputError);
}

}  // namespace
}  // namespace quintet::electronic
