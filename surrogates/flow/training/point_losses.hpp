#pragma once

#include <span>
#include <vector>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/flow/training/training_options.hpp"

namespace quintet::flow {

/// Jets of normalised fields of some samples, [sample][point][channel][field], and their adjoint of the same
/// shape, which losses add to.
template <class Real>
struct JetArrays {
  int n_samples = 0, n_points = 0, n_channels = 1, n_fields = 0;
  std::span<const Real> jets;
  std::span<Real> bar;  ///< empty: not wanted

  [[nodiscard]] std::size_t sample_size() const { return std::int64_t{n_points} * n_channels * n_fields; }
};

/// Sums over all points, for each field: |y - target| or its square; bar += weight times the derivative of
/// all of them. @param targets [sample][point][field]
template <class Real>
[[nodiscard]] std::vector<double> value_loss(LossNorm norm, const JetArrays<Real>& arrays,
                                             std::span<const float> targets, double weight);

/// Sums over all points, for each equation: |r| or its square; bar += weight times weights[equation] times
/// the derivative. Residuals are of fields in physical units, mean + deviation y.
/// @param constants [sample] number of its constants in `residuals`; below 0: the sample is left out
/// @param points [sample][point][axis]
template <class Real>
[[nodiscard]] std::vector<double> residual_loss(LossNorm norm, const Residuals& residuals,
                                                const FieldStatistics& statistics,
                                                const JetArrays<Real>& arrays, std::span<const int> constants,
                                                std::span<const double> points,
                                                std::span<const double> weights, double weight);

}  // namespace quintet::flow
