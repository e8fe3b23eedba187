#include "surrogates/flow/training/point_losses.hpp"

#include <cmath>
#include <cstddef>

#include "io/log/error.hpp"

namespace quintet::flow {

namespace {

double size_of(LossNorm norm, double difference) {
  return norm == LossNorm::l1 ? std::abs(difference) : difference * difference;
}
/// Its derivative; 0 at 0.
double slope_of(LossNorm norm, double difference) {
  if (norm == LossNorm::l2) return 2 * difference;
  return difference > 0 ? 1 : (difference < 0 ? -1 : 0);
}

}  // namespace

template <class Real>
std::vector<double> value_loss(LossNorm norm, const JetArrays<Real>& arrays, std::span<const float> targets,
                               double weight) {
  const std::size_t n_fields = arrays.n_fields;
  const std::size_t stride = n_fields * std::int64_t{arrays.n_channels};
  std::vector<double> sums(n_fields);
  const std::size_t n = std::int64_t{arrays.n_samples} * std::int64_t{arrays.n_points};
  QUINTET_ASSERT(targets.size() == n * n_fields && arrays.jets.size() == n * stride, "{} targets",
                 targets.size());
  for (std::size_t point = 0; point < n; ++point)
    for (std::size_t f = 0; f < n_fields; ++f) {
      const std::size_t at = point * stride + f;
      const double difference = static_cast<double>(arrays.jets[at]) - targets[point * n_fields + f];
      sums[f] += size_of(norm, difference);
      if (!arrays.bar.empty()) arrays.bar[at] += static_cast<Real>(weight * slope_of(norm, difference));
    }
  return sums;
}

template <class Real>
std::vector<double> residual_loss(LossNorm norm, const Residuals& residuals,
                                  const FieldStatistics& statistics, const JetArrays<Real>& arrays,
                                  std::span<const int> constants, std::span<const double> points,
                                  std::span<const double> weights, double weight) {
  const std::size_t n_fields = arrays.n_fields, n_equations = residuals.n_equations(),
                    n_points = arrays.n_points, size = arrays.sample_size();
  QUINTET_ASSERT(arrays.n_channels == 1 + residuals.n_operators(), "{} channels for {} operators",
                 arrays.n_channels, residuals.n_operators());
  std::vector<double> sums(n_equations);
  std::vector<Real> physical(size), physical_bar, values(n_points * n_equations), bar(values.size());
  for (int sample = 0; sample < arrays.n_samples; ++sample) {
    const int of_sample = constants[sample];
    if (of_sample < 0) continue;
    const std::size_t first = std::int64_t{sample} * size;
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t f = i % n_fields;
      const bool is_value = i / n_fields % static_cast<std::size_t>(arrays.n_channels) == 0;
      physical[i] = static_cast<Real>(static_cast<double>(arrays.jets[first + i]) * statistics.deviation[f] +
                                      (is_value ? statistics.mean[f] : 0));
    }
    const double* x = points.data() + sample * n_points * n_axes;
    residuals.evaluate(of_sample, arrays.n_points, physical.data(), x, values.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t e = i % n_equations;
      sums[e] += size_of(norm, static_cast<double>(values[i]));
      bar[i] = static_cast<Real>(weight * weights[e] * slope_of(norm, static_cast<double>(values[i])));
    }
    if (arrays.bar.empty()) continue;
    physical_bar.assign(size, Real(0));
    residuals.add_adjoint(of_sample, arrays.n_points, physical.data(), x, bar.data(), physical_bar.data());
    for (std::size_t i = 0; i < size; ++i)
      arrays.bar[first + i] += static_cast<Real>(statistics.deviation[i % n_fields]) * physical_bar[i];
  }
  return sums;
}

template std::vector<double> value_loss(LossNorm, const JetArrays<float>&, std::span<const float>, double);
template std::vector<double> value_loss(LossNorm, const JetArrays<double>&, std::span<const float>, double);
template std::vector<double> residual_loss(LossNorm, const Residuals&, const FieldStatistics&,
                                           const JetArrays<float>&, std::span<const int>,
                                           std::span<const double>, std::span<const double>, double);
template std::vector<double> residual_loss(LossNorm, const Residuals&, const FieldStatistics&,
                                           const JetArrays<double>&, std::span<const int>,
                                           std::span<const double>, std::span<const double>, double);

}  // namespace quintet::flow
