#include "physics/kernels/gemm_bf16.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

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
  made.a.resize(static_cast<std::size_t>(m) * made.lda);
  made.b.resize(static_cast<std::size_t>(k) * n);
  for (float& v : made.a) v = normal(random);
  for (float& v : made.b) v = normal(random);
  return made;
}
std::vector<float> product(const Matrices& x, bool by_processor) {
  PackedBf16 packed;
  packed.assign(x.b.data(), x.k, x.n);
  std::vector<float> c(static_cast<std::size_t>(x.m) * x.ldc, -7);
  multiply_bf16(x.a.data(), x.lda, x.m, packed, c.data(), x.ldc, by_processor);
  return c;
}

const std::vector<std::array<int, 3>> sizes{{1, 1, 1},    {7, 5, 3},      {8, 32, 4},
                                            {13, 33, 49}, {64, 512, 256}, {9, 2, 95}};

TEST(Bf16, product_is_the_plain_sum_in_order_to_the_bit) {
  for (const auto& [m, k, n] : sizes) {
    const Matrices x = some(m, k, n);
    const auto c = product(x, false);
    for (int row = 0; row < m; ++row) {
      for (int j = 0; j < n; ++j) {
        float sum = 0;
        for (int i = 0; i < k; ++i)
          sum = std::fma(from_bf16(to_bf16(x.a[static_cast<std::size_t>(row) * x.lda + i])),
                         from_bf16(to_bf16(x.b[static_cast<std::size_t>(i) * n + j])), sum);
        ASSERT_EQ(c[static_cast<std::size_t>(row) * x.ldc + j], sum)
            << m << " " << k << " " << n << ": " << row << " " << j;
      }
      const int end = padded(n, pack_width<float>);
      for (int j = n; j < end; ++j) EXPECT_EQ(c[static_cast<std::size_t>(row) * x.ldc + j], 0);
      for (int j = end; j < x.ldc; ++j) EXPECT_EQ(c[static_cast<std::size_t>(row) * x.ldc + j], -7);
    }
  }
}

TEST(Bf16, processor_gives_the_same_bits) {
  if (!has_bf16_products()) GTEST_SKIP() << "this processor has no AVX512_BF16";
  for (const auto& [m, k, n] : sizes) EXPECT_EQ(product(some(m, k, n), true), product(some(m, k, n), false));
}

}  // namespace
}  // namespace quintet
