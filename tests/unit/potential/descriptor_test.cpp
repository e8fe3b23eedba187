#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "surrogates/potential/model/descriptor.hpp"

namespace quintet::potential {
namespace {

template <class T>
class DescriptorOf : public ::testing::Test {};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(DescriptorOf, Reals);

TYPED_TEST(DescriptorOf, is_t_times_its_first_columns_and_back) {
  using T = TypeParam;
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  for (const auto& [m, axis] : {std::pair{1, 1}, {3, 2}, {12, 12}, {17, 5}, {100, 16}}) {
    const Descriptor descriptor(m, axis, pack_width<T>);
    const int stride = padded(m, pack_width<T>);
    AlignedVector<T> t(4 * stride + pack_width<T>, T(0)), d(descriptor.stride()), dt(4 * stride),
        work(axis * stride), weight(descriptor.stride());
    for (int a = 0; a < 4; ++a)
      for (int i = 0; i < m; ++i) t[a * stride + i] = static_cast<T>(normal(random));
    for (T& w : weight) w = static_cast<T>(normal(random));

    descriptor.forward(t.data(), stride, d.data());
    descriptor.backward(t.data(), stride, weight.data(), dt.data(), work.data());

    // Plain twins: D[i, j] = sum_a T_ai T_aj and, with L = sum over kept entries of weight D, dL/dT.
    std::vector<double> slope(4 * stride, 0.0);
    const double eps = 30 * std::numeric_limits<T>::epsilon();
    for (int j = 0; j < axis; ++j)
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int a = 0; a < 4; ++a) sum += static_cast<double>(t[a * stride + i]) * t[a * stride + j];
        ASSERT_NEAR(d[descriptor.place(i, j)], sum, eps * 10) << m << " " << axis;
        if (i < j) {
          EXPECT_EQ(descriptor.place(i, j), descriptor.place(j, i));
          continue;
        }
        const double w = weight[descriptor.place(i, j)];
        for (int a = 0; a < 4; ++a) {
          slope[a * stride + i] += w * t[a * stride + j];
          slope[a * stride + j] += w * t[a * stride + i];
        }
      }
    for (int a = 0; a < 4; ++a)
      for (int i = 0; i < stride; ++i)
        ASSERT_NEAR(dt[a * stride + i], slope[a * stride + i], i < m ? eps * 100 : 0.0) << m << " " << axis;
  }
}

TEST(Descriptor, gives_every_kept_entry_its_own_place) {
  const Descriptor descriptor(17, 5, 8);
  std::vector<int> used(descriptor.size(), 0);
  for (int j = 0; j < 5; ++j)
    for (int i = j; i < 17; ++i) ++used.at(descriptor.place(i, j));

  EXPECT_EQ(used, std::vector<int>(descriptor.size(), 1));
}

}  // namespace
}  // namespace quintet::potential
