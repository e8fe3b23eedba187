#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/flow/decoder/activation_series.hpp"

namespace quintet::flow {
namespace {

constexpr Activation with_series[] = {Activation::softplus, Activation::tanh, Activation::sigmoid,
                                      Activation::silu};

std::vector<double> derivatives_at(Activation activation, double x, int n = most_derivatives) {
  std::vector<double> derivatives(n + 1);
  activation_derivatives<double, 1>(activation, x, n, derivatives.data());
  return derivatives;
}

TEST(ActivationSeries, begins_with_the_function_and_its_known_derivatives) {
  for (const auto activation : with_series)
    for (const double x : {-30.0, -3.1, -0.2, 0.0, 0.7, 4.0, 25.0}) {
      const auto found = derivatives_at(activation, x);
      double expected[4];
      with_activation(activation, [&]<Activation A>() {
        activate<A, double, 1>(x, expected[0], expected[1], expected[2], expected[3]);
      });
      for (int n = 0; n < 4; ++n)
        EXPECT_NEAR(found[n], expected[n], 1e-14 * (1 + std::abs(expected[n]))) << n << " at " << x;
    }
}

TEST(ActivationSeries, has_derivatives_that_are_those_of_the_ones_before) {
  constexpr double h = 1e-3;
  for (const auto activation : with_series) {
    const auto largest = largest_derivatives(activation);
    for (const double x : {-6.0, -1.3, -0.4, 0.0, 0.9, 2.5, 7.0}) {
      const auto here = derivatives_at(activation, x);
      const auto at = [&](double shift) { return derivatives_at(activation, x + shift); };
      const auto a = at(-2 * h), b = at(-h), c = at(h), d = at(2 * h);
      for (int n = 0; n < most_derivatives; ++n) {
        const double difference = (a[n] - 8 * b[n] + 8 * c[n] - d[n]) / (12 * h);
        EXPECT_NEAR(here[n + 1], difference, 1e-7 * largest[n + 1]) << n << " at " << x;
      }
    }
  }
}

TEST(ActivationSeries, knows_the_largest_derivatives) {
  const auto softplus = largest_derivatives(Activation::softplus),
             tanh = largest_derivatives(Activation::tanh);
  EXPECT_NEAR(softplus[1], 1, 1e-8);
  EXPECT_NEAR(softplus[2], 0.25, 1e-12);
  EXPECT_NEAR(softplus[3], 1 / (6 * std::sqrt(3.0)), 1e-5);  // s (1 - s)(1 - 2 s) at its extremum
  EXPECT_NEAR(softplus[4], 0.125, 1e-12);
  EXPECT_NEAR(tanh[1], 1, 1e-12);
  EXPECT_NEAR(tanh[2], 4 / (3 * std::sqrt(3.0)), 1e-4);
}

TEST(ActivationSeries, packs_say_what_numbers_say) {
  constexpr int w = pack_width<float>;
  for (const auto activation : with_series) {
    Pack<float, w> x{}, found[most_derivatives + 1];
    for (int i = 0; i < w; ++i) x[i] = 0.4F * static_cast<float>(i) - 2;
    activation_derivatives<float, w>(activation, x, most_derivatives, found);
    const auto largest = largest_derivatives(activation);
    for (int i = 0; i < w; ++i) {
      const auto expected = derivatives_at(activation, x[i]);
      for (int n = 0; n <= most_derivatives; ++n)
        EXPECT_NEAR(found[n][i], expected[n], 4e-6 * (1 + largest[n])) << n << " at " << x[i];
    }
  }
}

TEST(ActivationSeries, refuses_what_has_none) {
  for (const auto activation : {Activation::linear, Activation::relu, Activation::relu6, Activation::gelu}) {
    EXPECT_FALSE(has_series(activation));
    EXPECT_THROW(derivatives_at(activation, 0.5), InternalError);
  }
  for (const auto activation : with_series) EXPECT_TRUE(has_series(activation));
}

}  // namespace
}  // namespace quintet::flow
