#include "surrogates/networks/noise_mask.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "surrogates/networks/noise_mask_kernels.hpp"

namespace quintet::networks {
namespace {

struct Case {
  std::uint32_t layer;
  int channel, x, y, z;
  double value;
};

/// By a Philox of its own in another language.
constexpr Case cases[] = {
    {0, 0, 0, 0, 0, -0.14669377473182976},         {0, 0, 1, 0, 0, 0.5383486112114042},
    {0, 0, 0, 1, 0, -0.20918183750472963},         {0, 0, 0, 0, 1, 0.6193416698370129},
    {0, 3, 2, 5, 7, 0.8619680430274457},           {4, 31, 127, 3, 65535, -0.3985890552867204},
    {1, 0, 65535, 65535, 0, -0.024803431937471032}};

template <class Real>
std::vector<Real> filled(const NoiseMask& mask, int n_channels, const std::array<int, 3>& shape) {
  std::vector<Real> values(std::int64_t{n_channels} * shape[0] * shape[1] * shape[2]);
  fill_noise_mask(mask, n_channels, shape, values.data());
  return values;
}

TEST(NoiseMask, has_the_bits_of_the_reference) {
  for (const auto& [layer, channel, x, y, z, value] : cases) {
    EXPECT_EQ(noise_value(20260101, layer, channel, z, y, x), value);
    if (x > 8 || y > 8) continue;
    const auto mask = filled<double>({20260101, layer, 1, {8, 8, 8}}, channel + 1, {8, 8, 8});
    EXPECT_EQ(mask[((channel * 8 + z) * 8 + y) * 8 + x], value);
  }
}

TEST(NoiseMask, repeats_itself_and_depends_on_nothing_but_the_place) {
  const NoiseMask mask{7, 2, 0.3, {2, 3, 5}};
  const auto values = filled<double>(mask, 3, {4, 7, 11});
  const auto at = [&](int c, int z, int y, int x) { return values[((c * 4 + z) * 7 + y) * 11 + x]; };
  const auto one = filled<double>(mask, 3, {2, 3, 5});
  const auto few = filled<float>(mask, 3, {2, 3, 5});
  for (int c = 0; c < 3; ++c)
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 7; ++y)
        for (int x = 0; x < 11; ++x) {
          const std::size_t same = ((c * 2 + z % 2) * 3 + y % 3) * 5 + x % 5;
          EXPECT_EQ(at(c, z, y, x), one[same]);
          EXPECT_EQ(static_cast<float>(at(c, z, y, x)), few[same]);
        }
}

TEST(NoiseMask, is_uniform_between_minus_and_plus_its_level) {
  const int n = 1 << 16;
  const auto values = filled<double>({3, 0, 0.1, {1, 16, 4096}}, 1, {1, 16, 4096});
  double sum = 0, squares = 0, products = 0, most = 0;
  for (int i = 0; i < n; ++i) {
    const double v = values[i] / 0.1;
    sum += v, squares += v * v, most = std::max(most, std::abs(v));
    if (i > 0) products += v * values[i - 1] / 0.1;
  }
  EXPECT_LT(most, 1);
  EXPECT_GT(most, 0.999);
  const double error = std::sqrt(1.0 / 3 / n);
  EXPECT_NEAR(sum / n, 0, 5 * error);
  EXPECT_NEAR(squares / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
  EXPECT_NEAR(products / n, 0, 5 * std::sqrt(1.0 / 9 / n));
}

TEST(NoiseMask, another_seed_layer_or_channel_is_another_mask) {
  const std::array<int, 3> shape = {1, 1, 64};
  const auto values = filled<double>({1, 0, 1, shape}, 2, shape);
  const auto other_seed = filled<double>({std::uint64_t{1} << 32 | 1, 0, 1, shape}, 1, shape),
             other_layer = filled<double>({1, 1, 1, shape}, 1, shape);
  for (std::size_t x = 0; x < 64; ++x) {
    EXPECT_NE(values[x], values[64 + x]);
    EXPECT_NE(values[x], other_seed[x]);
    EXPECT_NE(values[x], other_layer[x]);
  }
}

}  // namespace
}  // namespace quintet::networks
