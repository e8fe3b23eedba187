#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

/// Odd sizes, among them more columns and rows than a pack or a tile has.
Ring sample() { return ring(14, {3, 1, 6, 19, 7, 2}, 0.3, 0.7); }

TEST(BlockProducts, product_is_the_dense_one) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  Dense b = r.a;
  for (int i = 0; i < b.n; ++i) b(i, i) += 2 + noise(i, 7);
  const auto blocking = blocks_of(r);

  const BlockMatrix product = multiply(distribute(comm, r.a, blocking), distribute(comm, b, blocking), 0);

  EXPECT_LT(largest_difference(collect(product), r.a * b), 1e-13);
}

TEST(BlockProducts, sparse_factors_and_a_pattern_give_the_same_blocks) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  auto a = distribute(comm, r.a, blocks_of(r));
  auto b = a;
  filter(a, 0.3);
  filter(b, 0.1);
  ASSERT_LT(comm.sum(static_cast<int>(a.n_blocks())), 14 * 14);

  const Dense expected = collect(a) * collect(b);
  const BlockMatrix on_pattern = multiply(a, b, {.pattern = &b});

  EXPECT_LT(largest_difference(collect(multiply(a, b, 0)), expected), 1e-13);
  Dense masked = expected;
  const Dense pattern = collect(b);
  for (std::size_t i = 0; i < masked.value.size(); ++i)
    if (pattern.value[i] == 0) masked.value[i] = 0;
  EXPECT_LT(largest_difference(collect(on_pattern), masked), 1e-13);
}

TEST(BlockProducts, small_blocks_are_dropped_and_diagonal_ones_stay) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  const auto a = distribute(comm, r.a, blocks_of(r));

  const BlockMatrix all = multiply(a, a, 0), some = multiply(a, a, 0.2), diagonal = multiply(a, a, 1e9);

  EXPECT_LT(comm.sum(static_cast<int>(some.n_blocks())), comm.sum(static_cast<int>(all.n_blocks())));
  EXPECT_EQ(comm.sum(static_cast<int>(diagonal.n_blocks())), 14);
  BlockMatrix filtered = all;
  filter(filtered, 0.2);
  EXPECT_LT(frobenius_norm(add(1, filtered, -1, some)), 1e-14);
}

TEST(BlockProducts, each_needed_column_travels_once) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  const auto a = distribute(comm, r.a, blocks_of(r));  // full: every column is needed everywhere
  comm.reset_counters();

  static_cast<void>(multiply(a, a, 0));

  const double values = static_cast<double>(a.value.size()) * sizeof(double) * (comm.size() - 1);
  const double sent = comm.counter(Comm::Call::gather).bytes;
  EXPECT_GE(sent, values);
  EXPECT_LE(sent, values + 4.0 * 20 * 14 * comm.size());  // and lists of rows and columns
}

TEST(BlockProducts, factors_of_different_blocks_are_refused) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  const auto a = distribute(comm, r.a, blocks_of(r));
  const auto b = distribute(comm, r.a, std::make_shared<const Blocking>(uniform_blocking(r.a.n, 1)));
  EXPECT_THROW(static_cast<void>(multiply(a, b, 0)), InputError);
}

TEST(BlockProducts, symmetrise_gives_the_mean_and_the_difference) {
  const Comm comm = Comm::world();
  const Ring r = sample();
  const auto blocking = blocks_of(r);
  const auto a = distribute(comm, r.a, blocking);
  Dense b = r.a;
  for (int i = 0; i < b.n; ++i) b(i, i) += noise(i, 3);
  BlockMatrix product = multiply(a, distribute(comm, b, blocking), 0);
  const Dense before = r.a * b;
  double squares = 0;
  Dense mean = before;
  for (int j = 0; j < b.n; ++j)
    for (int i = 0; i < b.n; ++i) {
      squares += std::pow(before(i, j) - before(j, i), 2);
      mean(i, j) = 0.5 * (before(i, j) + before(j, i));
    }

  const double asymmetry = symmetrise(product);

  EXPECT_NEAR(asymmetry, std::sqrt(squares), 1e-12);
  EXPECT_LT(largest_difference(collect(product), mean), 1e-13);
}

TEST(SpectrumBounds, contain_the_spectrum_and_little_more) {
  const Comm comm = Comm::world();
  for (const double coupling : {0.0, 0.02, 0.3}) {
    const Ring r = ring(25, {3, 1, 6, 4}, coupling, 0.7);
    const auto eigen = diagonalise(r.a);

    const auto bounds = spectrum_bounds(distribute(comm, r.a, blocks_of(r)));

    const double width = eigen.value.back() - eigen.value.front();
    EXPECT_LE(bounds.lower, eigen.value.front());
    EXPECT_GE(bounds.upper, eigen.value.back());
    EXPECT_GT(bounds.lower, eigen.value.front() - 0.1 * width);
    EXPECT_LT(bounds.upper, eigen.value.back() + 0.1 * width);
  }
}

}  // namespace
}  // namespace quintet::electronic
