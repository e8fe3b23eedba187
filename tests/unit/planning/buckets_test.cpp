#include "surrogates/planning/buckets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

using namespace quintet::planning;

namespace {

/// Least padding of all choices of at most k edges among the sizes, the largest being one.
double least_of_all(const std::vector<double>& sizes, std::size_t k) {
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  double best = 1e300;
  for (unsigned chosen = 0; chosen < 1U << sizes.size(); ++chosen) {
    std::vector<double> edges{largest};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (chosen >> i & 1U) edges.push_back(sizes[i]);
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    if (edges.size() <= k) best = std::min(best, padding(sizes, edges));
  }
  return best;
}

}  // namespace

TEST(Buckets, no_edges_have_less_padding) {
  std::mt19937 random(1);
  std::lognormal_distribution<double> lognormal(0, 1);
  for (int set = 0; set < 60; ++set) {
    std::vector<double> sizes(1 + set % 10);
    for (auto& size : sizes) size = set % 3 == 0 ? std::ceil(3 * lognormal(random)) : lognormal(random);
    for (std::size_t k = 1; k <= 4; ++k) {
      const auto edges = bucket_edges(sizes, k);
      ASSERT_LE(edges.size(), k);
      EXPECT_EQ(edges.back(), *std::max_element(sizes.begin(), sizes.end()));
      EXPECT_NEAR(padding(sizes, edges), least_of_all(sizes, k), 1e-12) << set << " " << k;
    }
  }
}

TEST(Buckets, one_for_each_size_pads_nothing_and_many_are_quick) {
  EXPECT_EQ(bucket_edges(std::vector<double>{3, 1, 3, 2}, 9), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(bucket_edges(std::vector<double>{2, 2, 2}, 2), std::vector<double>{2});
  std::vector<double> sizes(75000);
  for (std::size_t i = 0; i < sizes.size(); ++i) sizes[i] = i % 40000;
  const auto edges = bucket_edges(sizes, 4);
  EXPECT_EQ(edges.size(), 4U);
  EXPECT_LT(padding(sizes, edges), padding(sizes, bucket_edges(sizes, 1)) / 3);
}
