#include "surrogates/training/optimiser.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace quintet {
namespace {

constexpr std::size_t n = 5003;  // no multiple of any pack, more than one block

template <class Real>
struct Arrays {
  std::vector<Real> theta, gradient = std::vector<Real>(n), first = std::vector<Real>(n),
                           second = std::vector<Real>(n);
  Arrays() {
    for (std::size_t i = 0; i < n; ++i) theta.push_back(std::sin(0.1 * i));
  }
  void fill_gradient(int t) {
    for (std::size_t i = 0; i < n; ++i) gradient[i] = static_cast<Real>(std::cos(0.37 * i + t));
  }
  OptimiserSlices<Real> slice(std::size_t from, std::size_t length) {
    const auto part = [&](std::vector<Real>& all) { return std::span(all).subspan(from, length); };
    return {part(theta), part(gradient), {part(first), part(second)}};
  }
};

OptimiserOptions some(OptimiserKind kind) {
  OptimiserOptions options;
  options.kind = kind;
  options.clip = 0.9;
  options.weight_decay = kind == OptimiserKind::adamw ? 0.3 : 0;
  options.momentum = kind == OptimiserKind::sgd ? 0.8 : 0;
  return options;
}

TEST(Optimiser, steps_are_those_of_the_textbook) {
  for (const auto& row : optimisers()) {
    const OptimiserOptions options = some(row.value);
    Arrays<double> ours;
    Arrays<double> plain;
    const double rate = 0.01;
    for (int t = 1; t <= 5; ++t) {
      ours.fill_gradient(t);
      plain.fill_gradient(t);
      optimiser_step<double>(options, t, rate, ours.slice(0, n));
      for (std::size_t i = 0; i < n; ++i) {
        const double g = std::min(std::max(plain.gradient[i], -options.clip), options.clip);
        double &theta = plain.theta[i], &m = plain.first[i], &v = plain.second[i];
        if (row.value == OptimiserKind::sgd) {
          m = options.momentum * m + g;
          theta -= rate * m;
        } else {
          theta -= rate * options.weight_decay * theta;
          m = options.beta1 * m + (1 - options.beta1) * g;
          v = options.beta2 * v + (1 - options.beta2) * g * g;
          const double m_hat = m / (1 - std::pow(options.beta1, t)),
                       v_hat = v / (1 - std::pow(options.beta2, t));
          theta -= rate * m_hat / (std::sqrt(v_hat) + options.epsilon);
        }
        ASSERT_NEAR(ours.theta[i], theta, 1e-13) << row.name << ", step " << t << ", number " << i;
        ASSERT_EQ(ours.gradient[i], 0);
      }
    }
  }
}

template <class Real>
void slices_do_not_change_bits() {
  for (const auto& row : optimisers()) {
    const OptimiserOptions options = some(row.value);
    Arrays<Real> whole, parts;
    for (int t = 1; t <= 3; ++t) {
      whole.fill_gradient(t);
      parts.fill_gradient(t);
      optimiser_step<Real>(options, t, 0.01, whole.slice(0, n));
      for (std::size_t from = 0, length = 1; from < n; from += length, length = length % 97 + 13)
        optimiser_step<Real>(options, t, 0.01, parts.slice(from, std::min(length, n - from)));
    }
    EXPECT_EQ(whole.theta, parts.theta) << row.name;
    EXPECT_EQ(whole.first, parts.first) << row.name;
    EXPECT_EQ(whole.second, parts.second) << row.name;
  }
}

TEST(Optimiser, slices_of_any_length_and_place_have_the_same_bits) {
  slices_do_not_change_bits<float>();
  slices_do_not_change_bits<double>();
}

TEST(Optimiser, sgd_rounds_the_product_and_the_difference) {
  OptimiserOptions options;
  options.kind = OptimiserKind::sgd;
  EXPECT_EQ(n_states(options), 0);
  Arrays<float> ours;
  const auto before = ours.theta;
  ours.fill_gradient(1);
  const auto gradient = ours.gradient;
  OptimiserSlices<float> slices = ours.slice(0, n);
  slices.states = {};
  optimiser_step<float>(options, 1, 0.0123, slices);
  int joined = 0;  // numbers that one rounding in place of two would make others
  for (std::size_t i = 0; i < n; ++i) {
    const volatile float product = 0.0123f * gradient[i];
    ASSERT_EQ(ours.theta[i], before[i] - product);
    joined += std::fmaf(-0.0123f, gradient[i], before[i]) != ours.theta[i] ? 1 : 0;
  }
  EXPECT_GT(joined, 0);
}

}  // namespace
}  // namespace quintet
