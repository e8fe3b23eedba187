#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace quintet::flow {

/// Values of one feature of x [sample][feature][node]: rows of nodes, a sample's apart from the next one's.
template <class Real>
struct FeatureRows {
  Real* first;
  std::int64_t n_samples, n_nodes, stride;
  [[nodiscard]] Real* row(std::int64_t sample) const { return first + sample * stride; }
};

/// sum of term(sample, node) over all values of a feature, in float64; in lanes, so that processors add
/// several at once. The order is the same on any number of threads: a feature is one thread's.
template <class Term>
[[nodiscard]] double lane_sum(std::int64_t n_samples, std::int64_t n_nodes, const Term& term) {
  constexpr std::int64_t lanes = 16;
  std::array<double, lanes> sums{};
  for (std::int64_t sample = 0; sample < n_samples; ++sample) {
    std::int64_t i = 0;
    for (; i + lanes <= n_nodes; i += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane)
        sums[static_cast<std::size_t>(lane)] += static_cast<double>(term(sample, i + lane));
    for (std::int64_t lane = 0; i < n_nodes; ++i, ++lane)
      sums[static_cast<std::size_t>(lane)] += static_cast<double>(term(sample, i));
  }
  double sum = 0;
  for (const double one : sums) sum += one;
  return sum;
}

/// sum x
template <class Real>
[[nodiscard]] double sum_of(const FeatureRows<const Real>& x) {
  return lane_sum(x.n_samples, x.n_nodes, [&](std::int64_t s, std::int64_t i) { return x.row(s)[i]; });
}

/// sum (x - mean)^2
template <class Real>
[[nodiscard]] double squares_of(const FeatureRows<const Real>& x, Real mean) {
  return lane_sum(x.n_samples, x.n_nodes, [&](std::int64_t s, std::int64_t i) {
    const Real centred = x.row(s)[i] - mean;
    return centred * centred;
  });
}

/// sum a b
template <class Real>
[[nodiscard]] double product_of(const FeatureRows<const Real>& a, const FeatureRows<const Real>& b) {
  return lane_sum(a.n_samples, a.n_nodes,
                  [&](std::int64_t s, std::int64_t i) { return a.row(s)[i] * b.row(s)[i]; });
}

/// normal = ((x - own_mean) + shift) scale,   y = beta + normal gamma.
template <class Real>
void normalise(const FeatureRows<const Real>& x, Real own_mean, Real shift, Real scale, Real gamma, Real beta,
               const FeatureRows<Real>& normal, const FeatureRows<Real>& y) {
  for (std::int64_t s = 0; s < x.n_samples; ++s) {
    const Real* const from = x.row(s);
    Real *const of_normal = normal.row(s), *const to = y.row(s);
    for (std::int64_t i = 0; i < x.n_nodes; ++i) {
      const Real value = ((from[i] - own_mean) + shift) * scale;
      of_normal[i] = value;
      to[i] = beta + value * gamma;
    }
  }
}

/// x_bar = (y_bar - mean_bar - normal mean_product) factor
template <class Real>
void normalise_backward(const FeatureRows<const Real>& y_bar, const FeatureRows<const Real>& normal,
                        Real mean_bar, Real mean_product, Real factor, const FeatureRows<Real>& x_bar) {
  for (std::int64_t s = 0; s < y_bar.n_samples; ++s) {
    const Real *const from = y_bar.row(s), *const of_normal = normal.row(s);
    Real* const to = x_bar.row(s);
    for (std::int64_t i = 0; i < y_bar.n_nodes; ++i)
      to[i] = (from[i] - mean_bar - of_normal[i] * mean_product) * factor;
  }
}

}  // namespace quintet::flow
