#include "physics/kinetics/initial/maxwellian_tables.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kernels/activation.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/space/velocity_weights.hpp"

namespace quintet::kinetics {

namespace {

constexpr int lanes = PhaseBlock::lanes;
using Value = Pack<double>;

/// exp(-x), 0 <= x; from 690 on as if x were 690.
Value exp_of_minus(Value x) {
  const auto limit = broadcast<double>(690);
  x = x > limit ? limit : x;
  Value scale, p;
  quintet::detail::split_exp<double, lanes>(-x, scale, p);
  return scale + scale * p;
}

/// The block of a rank that owns all velocity cells.
PhaseBlock whole_velocity(PhaseBlock block) {
  for (int d = block.grid.cdim; d < block.grid.dim(); ++d) {
    block.begin[d] = 0;
    block.extent[d] = block.grid.cells[d];
  }
  return block;
}

}  // namespace

MaxwellianTables::MaxwellianTables(const PhaseBlock& block, int n_degrees, int n_tables)
    : vdim_(block.grid.vdim), n_degrees_(n_degrees) {
  const PhaseBlock whole = whole_velocity(block);
  for (int d = 0; d < vdim_; ++d) {
    const int axis = block.grid.cdim + d, n = block.grid.cells[axis];
    n_cells_[d] = n;
    padded_[d] = padded(n, lanes) + lanes;
    begin_[d] = block.begin[axis];
    direction_[d] = table_size_;
    table_size_ += n_degrees * padded_[d];
    for (int i = 0; i < padded_[d]; ++i) {
      centres_[d].push_back(block.grid.centre(axis, std::min(i, n - 1)));
      halves_[d].push_back(0.5 * block.grid.width(axis, std::min(i, n - 1)));
    }
    for (int power = 0; power < 3; ++power) {
      const auto w = velocity_weights(static_cast<Functional>(power), whole, d, n_degrees);
      weights_[d][power].assign(w.begin(), w.end());
    }
  }
  values_.assign(table_size_ * n_tables, 0.0);
  moments_.assign(n_tables * vdim_ * 6, 0.0);
  const auto& rule = gauss_rule(n_degrees);
  for (std::size_t q = 0; q < rule.node.size(); ++q) {
    node_.push_back(rule.node[q]);
    for (int k = 0; k < n_degrees; ++k) node_weight_.push_back(rule.weight[q] * legendre(k, rule.node[q]));
  }
}

void MaxwellianTables::compute(int first, int n_powers_wanted, const std::array<double, 3>& drift,
                               double thermal_speed) {
  for (int d = 0; d < vdim_; ++d) {
    compute_direction(first, n_powers_wanted, d, drift[d], thermal_speed);
    for (int t = first; t < first + n_powers_wanted; ++t) sum_moments(t, d);
  }
}

void MaxwellianTables::compute_direction(int first, int n_powers_wanted, int d, double drift,
                                         double thermal_speed) {
  const double inverse = 1 / thermal_speed, norm = inverse / std::sqrt(2 * std::numbers::pi);
  for (int i = 0; i < n_cells_[d]; i += lanes) {
    const Value centre = load(centres_[d].data() + i), half = load(halves_[d].data() + i);
    Value sum[n_powers][max_degree + 1]{};
    for (std::size_t q = 0; q < node_.size(); ++q) {
      const Value w = (centre + (half * node_[q] - drift)) * inverse;
      const Value g = norm * exp_of_minus(0.5 * w * w);
      const Value s[n_powers] = {g, g * w, g * (w * w - 1.0)};
      for (int power = 0; power < n_powers_wanted; ++power)
        for (int k = 0; k < n_degrees_; ++k) sum[power][k] += node_weight_[q * n_degrees_ + k] * s[power];
    }
    for (int power = 0; power < n_powers_wanted; ++power)
      for (int k = 0; k < n_degrees_; ++k)
        store<double>(values_.data() + offset(first + power, d, k) + i, sum[power][k]);
  }
}

void MaxwellianTables::sum_moments(int table, int d) {
  const int n_padded = padded(n_cells_[d], lanes);
  for (int n = 0; n < 3; ++n) {
    Value low{}, high{};  // weights past the last cell are zero
    for (int k = 0; k < std::min(n_degrees_, n + 1); ++k) {
      const double* h = values_.data() + offset(table, d, k);
      const double* w = weights_[d][n].data() + k * n_padded;
      Value& sum = k < 2 ? low : high;
      for (int i = 0; i < n_padded; i += lanes) sum += load(w + i) * load(h + i);
    }
    const std::size_t i = ((table * vdim_ + d) * 3 + n) * 2;
    moments_[i + 1] = horizontal_sum<double>(low);
    moments_[i] = moments_[i + 1] + horizontal_sum<double>(high);
  }
}

}  // namespace quintet::kinetics
