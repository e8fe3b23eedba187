#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "physics/kernels/activation.hpp"

namespace quintet {
namespace {

/// phi(x) by the standard library, in the precision of Real.
template <class Real>
Real plain(Activation activation, Real x) {
  const Real c = std::sqrt(2 / std::acos(Real(-1)));
  switch (activation) {
    case Activation::linear:
      return x;
    case Activation::tanh:
      return std::tanh(x);
    case Activation::relu:
      return std::max(x, Real(0));
    case Activation::relu6:
      return std::min(std::max(x, Real(0)), Real(6));
    case Activation::softplus:
      return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
    case Activation::sigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::silu:
      return x / (1 + std::exp(-x));
    case Activation::gelu:
      return x / 2 * (1 + std::tanh(c * (x + Real(0.044715L) * x * x * x)));
  }
  return 0;
}

constexpr Activation all[] = {Activation::linear,   Activation::tanh,    Activation::relu, Activation::relu6,
                              Activation::softplus, Activation::sigmoid, Activation::silu, Activation::gelu};

/// Value and slope of every activation for all lanes of packs of points.
template <class T>
void for_points(Activation activation, const std::vector<T>& points,
                const std::function<void(T x, T y, T dy)>& check) {
  constexpr int w = pack_width<T>;
  with_activation(activation, [&]<Activation A>() {
    for (std::size_t i = 0; i < points.size(); i += w) {
      T x[w], value[w], slope[w];
      for (int lane = 0; lane < w; ++lane) x[lane] = points[std::min(i + lane, points.size() - 1)];
      Pack<T> y, dy;
      activate<A, T, w>(load<T>(x), y, dy);
      store<T>(value, y);
      store<T>(slope, dy);
      for (int lane = 0; lane < w; ++lane) check(x[lane], value[lane], slope[lane]);
    }
  });
}

template <class T>
class Activations : public ::testing::Test {
 protected:
  static std::vector<T> points() {
    std::mt19937 random(17);
    std::normal_distribution<double> normal(0, 3);
    std::vector<T> x;
    for (int i = 0; i < 4000; ++i) x.push_back(static_cast<T>(normal(random)));
    for (const double edge : {1e-30, 1e-12, 1e-7, 1e-3, 0.3465735, 0.3465736, 9.49, 9.51, 19.9, 20.1, 100.0})
      for (const double sign : {-1.0, 1.0}) x.push_back(static_cast<T>(sign * edge));
    return x;
  }
};
using Reals = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Activations, Reals);

TYPED_TEST(Activations, agree_with_the_standard_library_to_a_few_ulp) {
  using T = TypeParam;
  for (const auto activation : all)
    for_points<T>(activation, this->points(), [&](T x, T y, T) {
      const double exact = plain<long double>(activation, x);
      // Forms that end in 1 + tanh lose relative accuracy in their far negative tail, where they are below
      // round-off.
      ASSERT_NEAR(y, exact,
                  8 * std::numeric_limits<T>::epsilon() * std::max(std::abs(static_cast<double>(x)), 1.0))
          << static_cast<int>(activation) << " at " << x;
    });
}

TYPED_TEST(Activations, have_the_slope_of_finite_differences) {
  using T = TypeParam;
  for (const auto activation : all)
    for_points<T>(activation, this->points(), [&](T x, T, T dy) {
      const long double h = 1e-5L;
      const bool kink = (activation == Activation::relu || activation == Activation::relu6) &&
                        (std::abs(x) < 2 * h || std::abs(x - 6) < 2 * h);
      if (kink) return;
      const long double slope =
          (plain<long double>(activation, x + h) - plain<long double>(activation, x - h)) / (2 * h);
      ASSERT_NEAR(dy, slope, 1e-9 + 20 * std::numeric_limits<T>::epsilon())
          << static_cast<int>(activation) << " at " << x;
    });
}

TYPED_TEST(Activations, have_the_second_and_third_derivative_of_finite_differences) {
  using T = TypeParam;
  constexpr int w = pack_width<double>;
  constexpr double h = 1e-5;
  const double epsilon = std::numeric_limits<T>::epsilon();
  for (const auto activation : all) {
    if (!has_curvature(activation)) continue;
    with_activation(activation, [&]<Activation A>() {
      /// The first three derivatives at x in float64.
      const auto exact = [](double x) {
        Pack<double, w> y, d[3];
        activate<A, double, w>(broadcast<double, w>(x), y, d[0], d[1], d[2]);
        return std::array{d[0][0], d[1][0], d[2][0]};
      };
      for (const T x : this->points()) {
        Pack<T> y, d[3];
        activate<A, T, pack_width<T>>(broadcast<T>(x), y, d[0], d[1], d[2]);
        const auto before = exact(x - h), after = exact(x + h);
        for (const int k : {1, 2})
          ASSERT_NEAR(d[k][0], (after[k - 1] - before[k - 1]) / (2 * h), 1e-8 + 30 * epsilon)
              << static_cast<int>(activation) << " derivative " << k + 1 << " at " << x;
      }
    });
  }
}

TYPED_TEST(Activations, softplus_and_its_derivatives_keep_relative_accuracy_in_both_tails) {
  using T = TypeParam;
  const double tolerance = 12 * std::numeric_limits<T>::epsilon();
  for (const double x : {-80.0, -30.0, -12.5, -3.0, -0.7, -1e-4, 0.0, 1e-4, 0.7, 3.0, 12.5, 30.0, 80.0}) {
    Pack<T> y, dy, ddy, d3y;
    activate<Activation::softplus, T, pack_width<T>>(broadcast<T>(static_cast<T>(x)), y, dy, ddy, d3y);
    const long double at = static_cast<T>(x), u = std::exp(-std::abs(at)), s = 1 / (1 + std::exp(-at));
    const long double curvature = u / ((1 + u) * (1 + u));
    const double exact[] = {static_cast<double>(std::max(at, 0.0L) + std::log1p(u)), static_cast<double>(s),
                            static_cast<double>(curvature), static_cast<double>(curvature * (1 - 2 * s))};
    const T found[] = {y[0], dy[0], ddy[0], d3y[0]};
    for (int k = 0; k < 4; ++k)
      EXPECT_NEAR(found[k], exact[k], tolerance * (k < 3 ? std::abs(exact[k]) : exact[2]))
          << k << " at " << x;
  }
}

TYPED_TEST(Activations, tanh_keeps_relative_accuracy_down_to_the_smallest_arguments) {
  using T = TypeParam;
  for_points<T>(Activation::tanh, this->points(), [](T x, T y, T) {
    const double exact = std::tanh(static_cast<double>(x));
    ASSERT_NEAR(y, exact, 4 * std::numeric_limits<T>::epsilon() * std::abs(exact)) << "at " << x;
  });
}

TEST(Activation, none_but_the_known_ones_is_taken) {
  int calls = 0;
  const auto count = [&]<Activation>() { ++calls; };

  for (const auto activation : all) with_activation(activation, count);

  EXPECT_EQ(calls, 8);
  EXPECT_THROW(with_activation(static_cast<Activation>(8), count), InternalError);
}

TYPED_TEST(Activations, pass_nan_on_and_saturate_at_infinity) {
  using T = TypeParam;
  const T nan = std::numeric_limits<T>::quiet_NaN(), infinity = std::numeric_limits<T>::infinity();
  for (const auto activation :
       {Activation::tanh, Activation::sigmoid, Activation::softplus, Activation::silu, Activation::gelu})
    for_points<T>(activation, {nan}, [](T, T y, T) { EXPECT_TRUE(std::isnan(y)); });
  for_points<T>(Activation::tanh, {infinity, -infinity}, [](T x, T y, T dy) {
    EXPECT_EQ(y, x > 0 ? T(1) : T(-1));
    EXPECT_EQ(dy, T(0));
  });
}

}  // namespace
}  // namespace quintet
