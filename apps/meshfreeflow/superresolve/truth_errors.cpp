#include "apps/meshfreeflow/superresolve/truth_errors.hpp"

#include <array>
#include <cmath>

#include "io/parallel/comm.hpp"
#include "physics/kernels/rounded_root.hpp"
#include "surrogates/flow/data/interpolate.hpp"

namespace quintet::meshfreeflow {

void TruthErrors::add(std::span<const double> points, std::span<const float> truth,
                      std::span<const float> values) {
  const std::size_t n = points.size() / 3, n_fields = coarse_.n_fields;
  interpolated_.resize(values.size());
  flow::interpolate(flow::BlockView(coarse_), points, interpolated_);
  for (std::size_t f = 0; f < n_fields; ++f)
    for (std::size_t i = 0; i < n; ++i) {
      const double t = truth[f * n + i], model = values[i * n_fields + f] - t,
                   linear = interpolated_[i * n_fields + f] - t;
      const std::array<double, n_sums> add{1, t, t * t, model * model, linear * linear};
      for (std::size_t k = 0; k < n_sums; ++k) sums_[f * n_sums + k] += add[k];
    }
}

void TruthErrors::combine(const Comm& comm) { comm.reduce(std::span<double>(sums_), Comm::Reduction::sum); }

double TruthErrors::deviation(std::size_t field) const {
  const double* sum = &sums_[field * n_sums];
  const double mean = sum[1] / sum[0];
  return rounded_root(sum[2] / sum[0] - mean * mean);
}

double TruthErrors::error(std::size_t field, std::size_t k) const {
  const double* sum = &sums_[field * n_sums];
  return std::sqrt(sum[k] / sum[0]) / deviation(field);
}

}  // namespace quintet::meshfreeflow
