#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "physics/kernels/random.hpp"

using namespace quintet;

namespace {

struct KnownAnswer {
  std::uint32_t counter[4], key[2], expected[4];
};

// Random123's kat_vectors, philox4x32 10.
constexpr KnownAnswer known_answers[] = {
    {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xa4093822, 0x299f31d0},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};

}  // namespace

TEST(Random, philox_gives_the_published_numbers) {
  for (const auto& known : known_answers) {
    std::uint32_t c[4] = {known.counter[0], known.counter[1], known.counter[2], known.counter[3]};

    philox4x32(c, known.key[0], known.key[1]);

    for (int i = 0; i < 4; ++i) EXPECT_EQ(c[i], known.expected[i]);
  }
}

TEST(Random, each_argument_changes_the_numbers) {
  double u, v, other, unused;
  uniform_pair(1, 2, 3, 4, u, v);

  for (const auto& a : {std::array<std::uint64_t, 4>{2, 2, 3, 4},
                        {1, 3, 3, 4},
                        {1, 2, 4, 4},
                        {1, 2, 3, 5},
                        {1 + (1ull << 40), 2, 3, 4},
                        {1, 2, 3 + (1ull << 40), 4},
                        {1, 2, 3, 4 + (1ull << 40)}}) {
    uniform_pair(a[0], static_cast<std::uint32_t>(a[1]), a[2], a[3], other, unused);
    EXPECT_NE(u, other);
  }
}

TEST(Random, normal_numbers_have_the_moments_of_a_normal_distribution) {
  constexpr int n = 200001;
  double sum = 0, squares = 0, fourth = 0, product = 0;

  for (int i = 0; i < n; ++i) {
    double x, y;
    normal_pair(42, 1, static_cast<std::uint64_t>(i) + 1, 7, x, y);
    sum += x + y;
    squares += x * x + y * y;
    fourth += x * x * x * x + y * y * y * y;
    product += x * y;
  }

  // Five standard errors of each estimate.
  EXPECT_NEAR(sum / (2 * n), 0, 5 * std::sqrt(1.0 / (2 * n)));
  EXPECT_NEAR(squares / (2 * n), 1, 5 * std::sqrt(2.0 / (2 * n)));
  EXPECT_NEAR(fourth / (2 * n), 3, 5 * std::sqrt(96.0 / (2 * n)));
  EXPECT_NEAR(product / n, 0, 5 * std::sqrt(1.0 / n));
}
