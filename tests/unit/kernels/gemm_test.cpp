#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "physics/kernels/gemm.hpp"

namespace quintet {
namespace {

template <class T>
class Gemm : public ::testing::Test {
 protected:
  std::vector<T> random_values(std::size_t n) {
    std::vector<T> values(n);
    for (T& value : values) value = static_cast<T>(normal(random));
    return values;
  }
  std::mt19937 random{11};
  std::normal_distribution<double> normal;
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Gemm, Reals);

constexpr double guard = -77.5;  // where nothing may be written

TYPED_TEST(Gemm, equals_the_plain_sum_for_odd_sizes_and_strides) {
  using T = TypeParam;
  for (const int m : {1, 2, 7, 8, 9, 31, 33})
    for (const int k : {1, 3, 17, 64, 531})
      for (const int n : {1, 5, pack_width<T>, pack_width<T> + 1, 3 * pack_width<T> + 2, 101}) {
        const int lda = k + 3;
        const auto a = this->random_values(std::int64_t{m} * lda);
        std::vector<double> b(std::int64_t{k} * n), bt(b.size());
        for (int i = 0; i < k; ++i)
          for (int j = 0; j < n; ++j)
            bt[j * k + i] = b[i * n + j] = static_cast<T>(this->normal(this->random));
        for (const bool transposed : {false, true}) {
          const PackedMatrix<T> packed(transposed ? bt.data() : b.data(), k, n, transposed);
          const int ldc = packed.stride() + 5;
          std::vector<T> c(std::int64_t{m + 1} * ldc, T(guard));

          multiply(a.data(), lda, m, packed, c.data(), ldc);

          for (int row = 0; row <= m; ++row)
            for (int j = 0; j < ldc; ++j) {
              const T found = c[row * ldc + j];
              if (row == m || j >= packed.stride()) {
                ASSERT_EQ(found, T(guard)) << "written outside C: " << m << " " << k << " " << n;
                continue;
              }
              double sum = 0, size = 0;
              for (int i = 0; i < k && j < n; ++i) {
                sum += static_cast<double>(a[row * lda + i]) * b[i * n + j];
                size += std::abs(a[row * lda + i] * b[i * n + j]);
              }
              ASSERT_NEAR(found, sum, k * std::numeric_limits<T>::epsilon() * size)
                  << m << " " << k << " " << n;
            }
        }
      }
}

TYPED_TEST(Gemm, equals_the_plain_sum_of_more_rows_than_a_tile_runs_over_at_a_time) {
  using T = TypeParam;
  const int m = 9;
  for (const auto& [k, n] : {std::pair(1100, 101), std::pair(1100, 1201)}) {  // C, or A, is swept over once
    const auto a = this->random_values(m * k);
    std::vector<double> b(std::int64_t{k} * n);
    for (double& value : b) value = static_cast<T>(this->normal(this->random));
    const PackedMatrix<T> packed(b.data(), k, n);
    const int ldc = packed.stride();
    std::vector<T> c(m * ldc);
    multiply(a.data(), k, m, packed, c.data(), ldc);
    for (int row = 0; row < m; ++row)
      for (int j = 0; j < n; ++j) {
        double sum = 0, size = 0;
        for (int i = 0; i < k; ++i) {
          sum += static_cast<double>(a[row * k + i]) * b[std::int64_t{i} * n + j];
          size += std::abs(a[row * k + i] * b[std::int64_t{i} * n + j]);
        }
        ASSERT_NEAR(c[row * ldc + j], sum, k * std::numeric_limits<T>::epsilon() * size) << k << " " << n;
      }
  }
}

TYPED_TEST(Gemm, gives_a_row_the_same_bits_whatever_rows_are_beside_it) {
  using T = TypeParam;
  const int m = 33, k = 75, n = 50;
  const auto a = this->random_values(m * k);
  std::vector<double> b(k * n);
  for (double& value : b) value = this->normal(this->random);
  const PackedMatrix<T> packed(b.data(), k, n);
  const int ldc = packed.stride();
  std::vector<T> all(m * ldc), one(ldc);
  multiply(a.data(), k, m, packed, all.data(), ldc);

  for (int row = 0; row < m; ++row) {
    multiply(a.data() + row * k, k, 1, packed, one.data(), ldc);
    for (int j = 0; j < ldc; ++j) ASSERT_EQ(one[j], all[row * ldc + j]) << "row " << row << " column " << j;
  }
}

TYPED_TEST(Gemm, packs_a_matrix_and_its_transpose_to_the_same_bits_together_and_apart) {
  using T = TypeParam;
  constexpr int w = pack_width<T>, panel = PackedMatrix<T>::panel;
  PackedMatrix<T> rows, turned, again;  // reused for all sizes: nothing of the last one may be left
  for (const int k : {1, w, panel + 1, 2 * panel, 3 * w + 2})
    for (const int n : {3, w, panel, panel + w + 1}) {
      const auto b = this->random_values(std::int64_t{k} * n);
      std::vector<const T*> rows_of_b(k);
      for (int i = 0; i < k; ++i) rows_of_b[i] = b.data() + i * n;
      PackedMatrix<T>::assign_both(rows_of_b, n, rows, turned);
      again.assign(b.data(), n, k, true);
      std::vector<T> unpacked(b.size());
      rows.unpack(unpacked.data());
      ASSERT_EQ(unpacked, b);
      ASSERT_EQ(turned.k(), n);
      ASSERT_EQ(turned.n(), k);
      for (const auto* matrix : {&turned, &again})
        for (int i = 0; i < n; ++i)
          for (int j = 0; j < padded(k, panel); ++j)
            ASSERT_EQ(matrix->panel_data(j / panel)[i * panel + j % panel], j < k ? b[j * n + i] : T(0))
                << k << ' ' << n << ": " << i << ' ' << j;
    }
}

TYPED_TEST(Gemm, adds_transposed_products_of_pairs_for_odd_sizes_to_rows_that_lie_anywhere) {
  using T = TypeParam;
  for (const int rows : {37, 300, 700})
    for (const int k : {21, 133}) {
      const int n = padded(130, pack_width<T>), lda = k + 8, ldb = n + 16, ldc = n + 8;
      const auto a = this->random_values(rows * lda), b = this->random_values(rows * ldb);
      const auto d = this->random_values(rows * lda), e = this->random_values(rows * ldb);
      std::vector<T> c(k * ldc, T(0.5)), scattered = c;
      add_transposed_products<T>({{a.data(), lda, b.data(), ldb}, {d.data(), lda, e.data(), ldb}}, rows, k, n,
                                 c.data(), ldc);
      std::vector<T*> rows_of_c;
      for (int i = 0; i < k; ++i) rows_of_c.push_back(scattered.data() + (i * 8 + 5) % k * ldc);
      add_transposed_products<T>({{a.data(), lda, b.data(), ldb}, {d.data(), lda, e.data(), ldb}}, rows, n,
                                 rows_of_c);
      for (int i = 0; i < k; ++i)
        for (int j = 0; j < n; ++j) {
          double sum = 0.5;
          for (int r = 0; r < rows; ++r)
            sum += static_cast<double>(a[r * lda + i]) * b[r * ldb + j] +
                   static_cast<double>(d[r * lda + i]) * e[r * ldb + j];
          ASSERT_NEAR(c[i * ldc + j], sum, sizeof(T) == 8 ? 5e-12 : 1e-3) << i << ' ' << j;
          ASSERT_EQ(rows_of_c[i][j], c[i * ldc + j]) << i << ' ' << j;
        }
      for (int i = 0; i < k; ++i) ASSERT_EQ(c[i * ldc + n], T(0.5)) << "beyond the row";
    }
}

TYPED_TEST(Gemm, adds_transposed_products_of_columns_that_lie_apart_as_one_after_the_other) {
  using T = TypeParam;
  for (const int rows : {5, 37, 256, 700})
    for (const int delay : {0, 3, 32, 90}) {
      if (delay > rows) continue;
      const int n = padded(330, pack_width<T>), k = 21, k_late = 133, lda = k + 3, ld_late = k_late + 8,
                ldc = n + 8;
      const auto a = this->random_values(rows * lda), late = this->random_values(rows * ld_late),
                 b = this->random_values(rows * n);
      std::vector<T> c((k + k_late) * ldc, T(0.5)), apart = c;
      add_transposed_products<T>({{a.data(), lda, k}, {late.data(), ld_late, k_late, delay}}, b.data(), n,
                                 rows, n, c.data(), ldc);
      add_transposed_products<T>({{a.data(), lda, b.data(), n}}, rows, k, n, apart.data(), ldc);
      add_transposed_products<T>({{late.data(), ld_late, b.data() + delay * n, n}}, rows - delay, k_late, n,
                                 apart.data() + k * ldc, ldc);
      ASSERT_EQ(c, apart) << rows << ' ' << delay;
    }
}

TYPED_TEST(Gemm, keeps_zeros_exact_and_a_nan_in_its_row) {
  using T = TypeParam;
  const int m = 11, k = 19, n = 23, zero_row = 4, nan_row = 9;
  auto a = this->random_values(m * k);
  for (int i = 0; i < k; ++i) a[zero_row * k + i] = 0;
  a[nan_row * k + 3] = std::numeric_limits<T>::quiet_NaN();
  std::vector<double> b(k * n, 1.5);
  const PackedMatrix<T> packed(b.data(), k, n);
  const int ldc = packed.stride();
  std::vector<T> c(m * ldc);

  multiply(a.data(), k, m, packed, c.data(), ldc);

  for (int row = 0; row < m; ++row)
    for (int j = 0; j < n; ++j) {
      EXPECT_EQ(std::isnan(c[row * ldc + j]), row == nan_row);
      if (row == zero_row) {
        EXPECT_EQ(c[row * ldc + j], T(0));
      }
    }
}

}  // namespace
}  // namespace quintet
