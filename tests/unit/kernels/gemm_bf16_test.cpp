#include "physics/kernels/gemm_bf16.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "physics/kernels/bf16_words.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {
namespace {

TEST(Bf16, is_the_nearest_number_ties_to_even) {
  EXPECT_EQ(from_bf16(to_bf16(1.0F)), 1.0F);
  EXPECT_EQ(from_bf16(to_bf16(-0.15625F)), -0.15625F);
  const float ulp = 1.0F / 128;  // above 1
  EXPECT_EQ(from_bf16(to_bf16(1 + 0.49F * ulp)), 1.0F);
  EXPECT_EQ(from_bf16(to_bf16(1 + 0.51F * ulp)), 1 + ulp);
  EXPECT_EQ(from_bf16(to_bf16(1 + 0.5F * ulp)), 1.0F);
  EXPECT_EQ(from_bf16(to_bf16(1 + 1.5F * ulp)), 1 + 2 * ulp);
  EXPECT_EQ(to_bf16(-0.0F), 0x8000);
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(from_bf16(to_bf16(infinity)), infinity);
  EXPECT_EQ(from_bf16(to_bf16(std::numeric_limits<float>::max())), infinity);
  std::uint32_t bits = 0x7fffffff;  // a NaN that rounding up would make -0
  float nan = 0;
  std::memcpy(&nan, &bits, sizeof nan);
  EXPECT_TRUE(std::isnan(from_bf16(to_bf16(nan))));
}

struct Matrices {
  std::vector<float> a, b;
  int m, k, n, lda, ldc;
};
Matrices some(int m, int k, int n) {
  Matrices made{{}, {}, m, k, n, k + 3, padded(n, pack_width<float>) + 5};
  std::mt19937 random(static_cast<unsigned>(m + 100 * k + 10000 * n));
  std::normal_distribution<float> normal;
  made.a.resize(std::int64_t{m} * made.lda);
  made.b.resize(std::int64_t{k} * n);
  for (float& v : made.a) v = normal(random);
  for (float& v : made.b) v = normal(random);
  return made;
}
std::vector<float> product(const Matrices& x, Bf16Unit unit, bool add = false) {
  PackedBf16 packed;
  packed.assign(x.b.data(), x.n, x.k, x.n);
  std::vector<float> c(std::int64_t{x.m} * x.ldc, -7);
  multiply_bf16(x.a.data(), x.lda, x.m, packed, c.data(), x.ldc, add, unit);
  return c;
}
float rounded(float value) { return from_bf16(to_bf16(value)); }
float a_of(const Matrices& x, int row, int i) { return rounded(x.a[std::int64_t{row} * x.lda + i]); }
float b_of(const Matrices& x, int i, int j) { return rounded(x.b[std::int64_t{i} * x.n + j]); }

const std::vector<std::array<int, 3>> sizes{{1, 1, 1},      {7, 5, 3},   {8, 32, 4},    {13, 33, 49},
                                            {64, 512, 256}, {9, 2, 95},  {32, 80, 320}, {33, 64, 17},
                                            {16, 31, 16},   {6, 96, 64}, {600, 40, 70}};
constexpr Bf16Unit all_units[] = {Bf16Unit::floats, Bf16Unit::pairs, Bf16Unit::tiles};

/// Every element against sum(row, j), and what lies around them.
template <class Sum>
void expect_sums(const Matrices& x, const std::vector<float>& c, float padding, Sum&& sum) {
  const int end = padded(x.n, pack_width<float>);
  for (int row = 0; row < x.m; ++row) {
    const float* of = c.data() + std::int64_t{row} * x.ldc;
    for (int j = 0; j < x.n; ++j)
      ASSERT_EQ(of[j], sum(row, j)) << x.m << " " << x.k << " " << x.n << ": " << row << " " << j;
    for (int j = x.n; j < end; ++j) EXPECT_EQ(of[j], padding);
    for (int j = end; j < x.ldc; ++j) EXPECT_EQ(of[j], -7);
  }
}

TEST(Bf16, product_is_the_plain_sum_in_order_to_the_bit) {
  for (const auto& [m, k, n] : sizes) {
    const Matrices x = some(m, k, n);
    for (const bool add : {false, true})
      expect_sums(x, product(x, Bf16Unit::floats, add), add ? -7.0F : 0.0F, [&](int row, int j) {
        float sum = add ? -7.0F : 0.0F;
        for (int i = 0; i < x.k; ++i) sum = std::fma(a_of(x, row, i), b_of(x, i, j), sum);
        return sum;
      });
  }
}

TEST(Bf16, pairs_give_the_same_bits) {
  if (!has_unit(Bf16Unit::pairs)) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const auto& [m, k, n] : sizes)
    for (const bool add : {false, true})
      EXPECT_EQ(product(some(m, k, n), Bf16Unit::pairs, add), product(some(m, k, n), Bf16Unit::floats, add));
}

TEST(Bf16, tiles_sum_even_and_odd_numbers_of_each_32_apart) {
  if (!has_unit(Bf16Unit::tiles)) GTEST_SKIP() << "this processor has no AMX";
  for (const auto& [m, k, n] : sizes) {
    const Matrices x = some(m, k, n);
    for (const bool add : {false, true})
      expect_sums(x, product(x, Bf16Unit::tiles, add), add ? -7.0F : 0.0F, [&](int row, int j) {
        float sum = add ? -7.0F : 0.0F;
        for (int begin = 0; begin < x.k; begin += 32) {
          float parts[2] = {0, 0};
          for (int i = begin; i < std::min(begin + 32, x.k); ++i)
            parts[i % 2] = std::fma(a_of(x, row, i), b_of(x, i, j), parts[i % 2]);
          sum += parts[0] + parts[1];
        }
        return sum;
      });
  }
}

TEST(Bf16, rows_do_not_depend_on_their_number) {
  for (const Bf16Unit unit : all_units) {
    if (!has_unit(unit)) continue;
    const Matrices x = some(37, 70, 90);
    const auto all = product(x, unit);
    for (int row = 0; row < x.m; ++row) {
      Matrices one = x;
      one.m = 1;
      one.a.erase(one.a.begin(), one.a.begin() + std::int64_t{row} * x.lda);
      const auto alone = product(one, unit);
      for (int j = 0; j < x.n; ++j)
        ASSERT_EQ(alone[j], all[std::int64_t{row} * x.ldc + j]) << row << " " << j;
    }
  }
}

TEST(Bf16, columns_from_several_places_are_those_side_by_side) {
  for (const int first : {0, 1, 17, 32, 70}) {
    const Matrices x = some(33, 70, 50);
    PackedBf16 packed;
    packed.assign(x.b.data(), x.n, x.k, x.n);
    for (const Bf16Unit unit : all_units) {
      if (!has_unit(unit)) continue;
      std::vector<float> c(std::int64_t{x.m} * x.ldc, -7);
      multiply_bf16({{x.a.data(), x.lda, first}, {x.a.data() + first, x.lda, x.k - first}}, x.m, packed,
                    c.data(), x.ldc, false, unit);
      EXPECT_EQ(c, product(x, unit)) << first;
      Matrices cut = x;  // columns that are not there are 0
      for (int row = 0; row < x.m; ++row)
        std::fill_n(cut.a.begin() + std::int64_t{row} * x.lda + first, x.k - first, 0.0F);
      multiply_bf16({{x.a.data(), x.lda, first}, {nullptr, 0, x.k - first}}, x.m, packed, c.data(), x.ldc,
                    false, unit);
      EXPECT_EQ(c, product(cut, unit)) << first;
    }
  }
}

/// Rows that were rounded as they were made, and sums that begin with one row for all.
TEST(Bf16, products_of_rounded_rows_begin_with_a_row) {
  constexpr int w = pack_width<float>;
  for (const auto& [m, k, n] : sizes) {
    const Matrices x = some(m, k, n);
    PackedBf16 packed;
    packed.assign(x.b.data(), n, k, n);
    std::vector<std::uint32_t> words(rounded_words(m, packed.stride()), 0);
    std::vector<float> row(padded(k, w)), start(padded(n, w));
    for (int i = 0; i < m; ++i) {
      std::copy_n(x.a.begin() + std::int64_t{i} * x.lda, k, row.begin());
      bf16::round_row(k, words.data() + std::int64_t{i} * packed.stride(), packed.stride(),
                      [&](int at) { return load<float>(row.data() + at); });
    }
    for (int j = 0; j < n; ++j) start[j] = 0.25F * (j % 7);
    for (const Bf16Unit unit : all_units) {
      if (!has_unit(unit)) continue;
      std::vector<float> c(std::int64_t{m} * x.ldc), all = c;
      for (int i = 0; i < m; ++i)
        std::copy(start.begin(), start.end(), all.begin() + std::int64_t{i} * x.ldc);
      c = all;
      multiply_bf16(words.data(), m, packed, c.data(), x.ldc, {start.data(), 0}, unit);
      multiply_bf16(x.a.data(), x.lda, m, packed, all.data(), x.ldc, true, unit);
      EXPECT_EQ(c, all) << m << " " << k << " " << n << " " << doc_of(unit);
    }
  }
}

TEST(Bf16, a_packed_transpose_is_the_packed_matrix) {
  for (const auto& [m, k, n] : sizes) {
    const Matrices x = some(m, k, n);
    std::vector<float> turned(x.b.size());
    for (int i = 0; i < k; ++i)
      for (int j = 0; j < n; ++j) turned[std::int64_t{j} * k + i] = x.b[std::int64_t{i} * n + j];
    PackedBf16 plain, transposed;
    const std::vector<float> noise(300 * 300, 3);
    transposed.assign(noise.data(), 300, 300, 300);  // what is left of it must not show
    plain.assign(x.b.data(), n, k, n);
    transposed.assign(turned.data(), k, k, n, true);
    const std::size_t words = std::int64_t{padded(n, PackedBf16::panel)} * plain.stride();
    EXPECT_EQ(std::vector<std::uint32_t>(plain.panel_data(0), plain.panel_data(0) + words),
              std::vector<std::uint32_t>(transposed.panel_data(0), transposed.panel_data(0) + words))
        << k << " " << n;
  }
}

TEST(Bf16, transposed_products_are_plain_sums) {
  struct Case {
    int rows, k0, k1, delay, n;
  };
  for (const auto& [rows, k0, k1, delay, n] :
       {Case{64, 5, 80, 8, 320}, Case{7, 3, 11, 7, 16}, Case{33, 1, 16, 1, 48}, Case{300, 17, 31, 37, 64}}) {
    const Matrices left = some(rows, k0 + k1, 1), right = some(1, rows, n);
    const auto a = [&, k0 = k0, delay = delay](int row, int i) {
      if (i >= k0) row -= delay;
      return row < 0 ? 0.0F : a_of(left, row, i);
    };
    for (const Bf16Unit unit : all_units) {
      if (!has_unit(unit)) continue;
      const int ldc = n + 3;
      std::vector<float> c(std::int64_t{k0 + k1} * ldc, 0.5F);
      add_transposed_products_bf16(
          {{left.a.data(), left.lda, k0, 0}, {left.a.data() + k0, left.lda, k1, delay}}, right.b.data(), n,
          rows, n, c.data(), ldc, unit);
      for (int i = 0; i < k0 + k1; ++i) {
        for (int j = 0; j < n; ++j) {
          double sum = 0.5, size = 0.5;
          for (int row = 0; row < rows; ++row) {
            const double term = static_cast<double>(a(row, i)) * b_of(right, row, j);
            sum += term;
            size += std::abs(term);
          }
          ASSERT_NEAR(c[std::int64_t{i} * ldc + j], sum, 1e-6 * size)
              << rows << " " << i << " " << j << " " << doc_of(unit);
        }
        for (int j = n; j < ldc; ++j) EXPECT_EQ(c[std::int64_t{i} * ldc + j], 0.5F);
      }
    }
  }
}

TEST(Bf16, a_number_that_is_none_stays_in_its_row) {
  for (const Bf16Unit unit : all_units) {
    if (!has_unit(unit)) continue;
    Matrices x = some(20, 33, 40);
    x.a[std::int64_t{3} * x.lda + 32] = std::numeric_limits<float>::quiet_NaN();
    const auto c = product(x, unit);
    for (int row = 0; row < x.m; ++row)
      for (int j = 0; j < x.n; ++j) EXPECT_EQ(std::isnan(c[std::int64_t{row} * x.ldc + j]), row == 3);
  }
}

}  // namespace
}  // namespace quintet
