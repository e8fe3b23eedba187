#include "physics/tasks/kernel.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "physics/kernels/pack.hpp"
#include "physics/tasks/hash.hpp"

using namespace quintet::tasks;

TEST(TaskHash, is_siphash_2_4) {
  // SipHash-2-4 of 5 words, worked out by a separate program in Python.
  EXPECT_NEAR(uniform(std::array<std::int64_t, 5>{0, 3, 0, 0, 0}), 0.005858835906237567, 1e-17);
  EXPECT_NEAR(uniform(std::array<std::int64_t, 3>{0, 1, 2}), 0.4801060901149908, 1e-16);
}

TEST(TaskKernel, computes_each_of_its_multiply_adds) {
  const int n = 10;
  double sum = 0;  // independent of the width of packs: all lanes of a pack are alike
  const int packs = 64 / quintet::pack_width<double>;
  for (int k = 0; k < packs; ++k) {
    double x = -0.5 - 0.001 * k;
    for (int i = 0; i < n; ++i) x = std::fma(x, x, x);
    sum += x * quintet::pack_width<double>;
  }
  const double ours = run_kernel({.kernel = KernelKind::compute_bound, .iterations = n}, 0, 0, {});
  EXPECT_NEAR(ours, sum, 1e-13 * std::abs(sum));
}

TEST(TaskKernel, waits_by_a_chain_of_operations) {
  std::int64_t x = 113;
  for (int i = 0; i < 7; ++i) x = x * 139 % 2147483647;
  EXPECT_EQ(run_kernel({.kernel = KernelKind::busy_wait, .iterations = 7}, 0, 0, {}), static_cast<double>(x));
}

TEST(TaskKernel, copies_one_sample_an_iteration_and_goes_on_at_the_next_step) {
  const KernelOptions kernel{
      .kernel = KernelKind::memory_bound, .iterations = 2, .scratch_bytes = 128, .samples = 4};
  std::array<std::byte, 128> scratch{};
  for (std::size_t sample = 0; sample < 4; ++sample) scratch[sample * 32] = std::byte(sample + 1);
  const auto second_half = [&](std::size_t sample) { return static_cast<int>(scratch[sample * 32 + 16]); };

  (void)run_kernel(kernel, 0, 0, scratch);
  EXPECT_EQ(second_half(0), 1);
  EXPECT_EQ(second_half(1), 2);
  EXPECT_EQ(second_half(2), 0);
  (void)run_kernel(kernel, 1, 0, scratch);
  EXPECT_EQ(second_half(2), 3);
  EXPECT_EQ(second_half(3), 4);
}

TEST(TaskKernel, counts_its_work) {
  EXPECT_EQ(work_of({.kernel = KernelKind::empty, .iterations = 9}, 0, 0), 0);
  EXPECT_EQ(work_of({.kernel = KernelKind::busy_wait, .iterations = 9}, 0, 0), 9);
  EXPECT_EQ(work_of({.kernel = KernelKind::compute_bound, .iterations = 9}, 0, 0), 128 * 9 + 64);
  EXPECT_EQ(
      work_of({.kernel = KernelKind::memory_bound, .iterations = 8, .scratch_bytes = 4096, .samples = 4}, 0,
              0),
      8192);
}

TEST(TaskKernel, spreads_its_load_around_the_mean) {
  const KernelOptions kernel{.kernel = KernelKind::load_imbalance, .iterations = 1000, .imbalance = 2};
  double sum = 0, least = 1e9, most = 0;
  for (int p = 0; p < 4000; ++p) {
    const double n = (work_of(kernel, 3, p) - 64) / 128;
    sum += n, least = std::min(least, n), most = std::max(most, n);
  }
  EXPECT_NEAR(sum / 4000, 1000, 50);  // five standard errors
  EXPECT_LT(least, 20);
  EXPECT_GT(most, 1980);
  EXPECT_LE(most, 2000);
}
