#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"
#include "physics/ocean/svd/svd.hpp"

namespace quintet::ocean {
namespace {

/// Random numbers [rows from `first` on, columns]: rows are those of the whole matrix on any number of ranks.
TallMatrix random_rows(int first, int rows, int columns) {
  TallMatrix x(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      double one = 0, unused = 0;
      normal_pair(3, 1, first + i, j, one, unused);
      x.row(i)[j] = one;
    }
  return x;
}

TallMatrix shared_rows(const Comm& comm, int rows, int columns) {
  const int begin = rows * comm.rank() / comm.size(), end = rows * (comm.rank() + 1) / comm.size();
  return random_rows(begin, end - begin, columns);
}

/// Q diag(lambda) Q^T of an orthonormal Q: the columns of `q`, and its product.
struct Known {
  TallMatrix q;
  std::vector<double> lambda;
  [[nodiscard]] SymmetricProduct product() const {
    return [this](const SmallMatrix& v) {
      auto part = transposed_product(Comm::self(), q, tall_copy(v));
      for (int i = 0; i < part.rows; ++i)
        for (int j = 0; j < part.columns; ++j) part.at(i, j) *= lambda[i];
      return small_copy(ocean::product(q, part));
    };
  }
};

Known known(int n, const std::vector<double>& lambda) {
  Known a{random_rows(0, n, lambda.size()), lambda};
  EXPECT_TRUE(orthonormalise(Comm::self(), a.q));
  return a;
}

/// |Q_m^T v_m| of the columns m < k.
double cosine(const Known& a, const SmallMatrix& v, int m) {
  double sum = 0;
  for (int i = 0; i < v.rows; ++i) sum += a.q.row(i)[m] * v.at(i, m);
  return std::abs(sum);
}

TEST(BlockLanczos, finds_eigenvectors_to_round_off) {
  std::vector<double> lambda;
  for (int i = 0; i < 120; ++i) lambda.push_back(1e4 / std::pow(1.3, i));
  lambda[3] = lambda[4] * 1.01;  // close neighbours
  const auto a = known(200, lambda);
  const auto v = leading_by_block_lanczos(Comm::world(), 200, 5, a.product());
  ASSERT_TRUE(v);
  for (int m = 0; m < 5; ++m) EXPECT_NEAR(cosine(a, *v, m), 1, 1e-12) << m;
}

TEST(BlockLanczos, gives_up_in_time_and_ends_where_there_is_nothing_more) {
  std::vector<double> flat;
  for (int i = 0; i < 150; ++i) flat.push_back(1 + 0.001 * (150 - i));
  BlockLanczosOptions few;
  few.most_products = 3;
  EXPECT_FALSE(leading_by_block_lanczos(Comm::world(), 200, 3, known(200, flat).product(), few));
  // Two directions alone: the third vector is some other one, orthogonal to them.
  const auto two = known(90, {5, 2});
  const auto v = leading_by_block_lanczos(Comm::world(), 90, 3, two.product());
  ASSERT_TRUE(v);
  EXPECT_NEAR(cosine(two, *v, 0), 1, 1e-14);
  EXPECT_NEAR(cosine(two, *v, 1), 1, 1e-14);
  // All directions alike: any are right.
  EXPECT_TRUE(
      leading_by_block_lanczos(Comm::world(), 30, 4, known(30, std::vector<double>(30, 2)).product()));
}

TEST(TallMatrix, products_of_many_and_few_columns_are_plain_sums) {
  const Comm comm = Comm::world();
  for (const int columns : {7, 63, 64, 130}) {
    const auto x = shared_rows(comm, 301, columns), whole = random_rows(0, 301, columns);
    SmallMatrix b(columns, 3);
    for (int i = 0; i < columns; ++i)
      for (int j = 0; j < 3; ++j) b.at(i, j) = std::sin(i + 10.0 * j);
    const auto squares = gram(comm, x), image = gram_product(comm, x, b);
    for (int i = 0; i < columns; ++i) {
      std::vector<double> expected(3);
      for (int j = 0; j < columns; ++j) {
        double sum = 0;
        for (int p = 0; p < 301; ++p) sum += whole.row(p)[i] * whole.row(p)[j];
        ASSERT_NEAR(squares.at(i, j), sum, 1e-11) << columns;
        for (int m = 0; m < 3; ++m) expected[m] += sum * b.at(j, m);
      }
      for (int m = 0; m < 3; ++m) ASSERT_NEAR(image.at(i, m), expected[m], 1e-9);
    }
  }
}

TEST(Svd, random_vectors_and_snapshots_find_the_same_from_end_to_end_of_the_spectrum) {
  const Comm comm = Comm::world();
  auto x = shared_rows(comm, 400, 90);
  for (int p = 0; p < x.rows(); ++p)
    for (int j = 0; j < 90; ++j) x.row(p)[j] *= std::pow(0.8, j);
  for (const int k : {1, 6, 60}) {
    const auto a = svd_of_snapshots(comm, x, k), b = svd_randomised(comm, x, k);
    for (int m = 0; m < k; ++m) {
      const std::size_t i = m;
      EXPECT_NEAR(a.values[i], b.values[i], 1e-12 * a.values[0]);
      double cosine = 0;
      for (int j = 0; j < 90; ++j) cosine += a.right.at(m, j) * b.right.at(m, j);
      EXPECT_NEAR(std::abs(cosine), 1, 1e-11) << m << " of " << k;
    }
  }
}

}  // namespace
}  // namespace quintet::ocean
