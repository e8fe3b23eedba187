#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "physics/electronic/density/density_matrix.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "tests/verification/electronic/dense_reference.hpp"

namespace quintet::electronic {
namespace {

using namespace reference;

/// Blocks of one to two packs and of the 6 of a molecule of water, with elements over eight decades.
struct Sample {
  const Comm comm = Comm::world();
  Ring r = ring(40, {6, 6, 3, 11}, 0.3, 1.0);
  std::shared_ptr<const Blocking> blocking = blocks_of(r);
  BlockMatrix a = distribute(comm, r.a, blocking);
};

/// Largest Frobenius norm of the blocks, over all ranks.
double largest_block(const BlockMatrix& m) {
  double largest = 0;
  for (int c = 0; c < m.n_columns(); ++c)
    for (auto p = m.column_begin[c]; p < m.column_begin[c + 1]; ++p) {
      double squares = 0;
      for (int i = 0; i < m.blocking->size(m.row[p]) * m.blocking->size(m.first + c); ++i)
        squares += m.value[m.offset[p] + i] * m.value[m.offset[p] + i];
      largest = std::max(largest, std::sqrt(squares));
    }
  return m.comm.maximum(largest);
}

class Pruned : public ::testing::TestWithParam<double> {};

TEST_P(Pruned, product_is_within_its_error_in_every_block) {
  const Sample sample;
  const double error = GetParam();
  const BlockMatrix exact = multiply(sample.a, sample.a, 0);

  const BlockMatrix pruned = multiply(sample.a, sample.a, {.error = error});

  const double difference = largest_block(add(1, pruned, -1, exact));
  EXPECT_LT(difference, error);
  EXPECT_GT(difference, 0) << "nothing was left out";
}

TEST_P(Pruned, symmetric_product_is_bitwise_symmetric_and_as_good) {
  const Sample sample;
  const double error = GetParam();
  const Dense exact = collect(multiply(sample.a, sample.a, 0));

  const BlockMatrix half = multiply(sample.a, sample.a, {.error = error, .symmetric = true});

  const Dense all = collect(half);
  EXPECT_LT(largest_difference(all, exact), error);
  for (int j = 0; j < all.n; ++j)
    for (int i = 0; i < j; ++i) ASSERT_EQ(all(i, j), all(j, i)) << i << " " << j;
}

INSTANTIATE_TEST_SUITE_P(Errors, Pruned, ::testing::Values(1e-2, 1e-4, 1e-7),
                         [](const auto& info) { return "error_" + std::to_string(info.index); });

TEST(SymmetricProducts, are_the_product_where_nothing_is_left_out) {
  const Sample sample;
  auto filtered = sample.a;
  filter(filtered, 0.05);
  const BlockMatrix exact = multiply(filtered, filtered, 0);

  const BlockMatrix half = multiply(filtered, filtered, {.symmetric = true});
  const BlockMatrix on_pattern = multiply(filtered, filtered, {.symmetric = true, .pattern = &filtered});

  EXPECT_LT(largest_difference(collect(half), collect(exact)), 1e-14);
  EXPECT_EQ(half.row, exact.row);
  EXPECT_EQ(on_pattern.row, filtered.row);
  EXPECT_LT(
      largest_difference(collect(on_pattern), collect(multiply(filtered, filtered, {.pattern = &filtered}))),
      1e-14);
}

TEST(SymmetricProducts, ranks_do_not_matter) {
  const Sample sample;
  const BlockMatrix alone = distribute(Comm::self(), sample.r.a, sample.blocking);
  const ProductOptions options{.threshold = 1e-5, .error = 1e-5, .symmetric = true};

  EXPECT_LT(largest_difference(collect(multiply(sample.a, sample.a, options)),
                               collect(multiply(alone, alone, options))),
            1e-14);
}

TEST(PrunedProducts, what_is_not_a_number_does_not_get_lost) {
  Sample sample;
  if (sample.a.n_columns() > 0) sample.a.value.front() = std::numeric_limits<double>::quiet_NaN();

  EXPECT_TRUE(std::isnan(frobenius_norm(multiply(sample.a, sample.a, {.error = 1e-3}))));
}

TEST(DensityDefects, are_those_of_the_matrices) {
  const Sample sample;
  const auto unit = distribute(
      sample.comm,
      [&] {
        Dense one(sample.r.a.n);
        for (int i = 0; i < one.n; ++i) one(i, i) = 1;
        return one;
      }(),
      sample.blocking);
  SubmatrixOptions options;
  options.mu = 0;
  options.threshold = 1e-3;
  const auto basis = orthogonalise(sample.a, unit, 1e-3);
  const auto sign = evaluate_submatrices(basis.a, options);
  const BlockMatrix pp = multiply(sign.p, sign.p, 0), pa = multiply(sign.p, basis.a, 0),
                    ap = multiply(basis.a, sign.p, 0);

  const auto density = density_matrix(sign, basis, sample.a, unit, 1e-3);

  // four random vectors estimate them
  EXPECT_NEAR(density.idempotency / frobenius_norm(add(1, pp, -1, sign.p)), 1, 0.3);
  EXPECT_NEAR(density.commutator / frobenius_norm(add(1, pa, -1, ap)), 1, 0.3);
}

}  // namespace
}  // namespace quintet::electronic
