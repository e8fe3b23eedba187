#include "physics/kinetics/initial/maxwellian_factors.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {

double MomentFunctions::factor(int k, int d, double v) const {
  const double w = (v - drift[d]) / thermal_speed[d];
  return k == 0 ? 1 : (k == 1 ? w : (w * w - 1) / std::numbers::sqrt2);
}

double MomentFunctions::mean(int m, const MaxwellianState& state) const {
  if (m == 0) return 1;
  const std::size_t d = direction(m);
  const double shift = (state.drift[d] - drift[d]) / thermal_speed[d];
  const double spread = state.thermal_speed[d] / thermal_speed[d];
  return degree(m) == 1 ? shift : (shift * shift + spread * spread - 1) / std::numbers::sqrt2;
}

MaxwellianFactors::MaxwellianFactors(const PhaseBlock& block, int n_degrees)
    : block_(&block), n_degrees_(n_degrees) {
  int n = 0;
  for (int d = 0; d < block.grid.vdim; ++d) {
    offset_[d] = n;
    n += block.extent[block.grid.cdim + d];
  }
  factor_.resize(n * n_powers * n_degrees);
}

void MaxwellianFactors::compute(const MaxwellianState& state, const MomentFunctions& functions, int n_nodes) {
  std::fill(factor_.begin(), factor_.end(), 0.0);
  for (int d = 0; d < block_->grid.vdim; ++d) {
    for (int j = 0; j < block_->extent[block_->grid.cdim + d]; ++j)
      compute_cell(state, functions, n_nodes, d, j);
    compute_sums(functions, d);
  }
}

void MaxwellianFactors::compute_cell(const MaxwellianState& state, const MomentFunctions& functions,
                                     int n_nodes, int d, int j) {
  const PhaseGrid& grid = block_->grid;
  const int direction = grid.cdim + d;
  const int cell = block_->begin[direction] + j;
  const double centre = grid.centre(direction, cell), half = 0.5 * grid.width(direction, cell);
  const double drift = state.drift[d], spread = state.thermal_speed[d];
  const GaussRule& rule = gauss_rule(n_nodes);
  for (std::size_t r = 0; r < rule.node.size(); ++r) {
    const double v = centre + half * rule.node[r], w = (v - drift) / spread;
    const double g = rule.weight[r] * std::exp(-0.5 * w * w) / (std::sqrt(2 * std::numbers::pi) * spread);
    for (int l = 0; l < n_degrees_; ++l) {
      const double g_l = g * legendre(l, rule.node[r]);
      for (int k = 0; k < n_powers; ++k) factor_[index(d, j, k, l)] += g_l * functions.factor(k, d, v);
    }
  }
}

void MaxwellianFactors::compute_sums(const MomentFunctions& functions, int d) {
  const PhaseGrid& grid = block_->grid;
  const int direction = grid.cdim + d;
  const GaussRule& rule = gauss_rule(3);  // exact: degree 2 of s times degree 2 of phi, else orthogonal
  auto& sums = sum_[d];
  sums = {};
  for (int j = 0; j < block_->extent[direction]; ++j)
    for (int m = 0; m < n_powers; ++m)
      for (int l = 0; l < std::min(n_degrees_, n_powers); ++l) {
        const int cell = block_->begin[direction] + j;
        const double centre = grid.centre(direction, cell), half = 0.5 * grid.width(direction, cell);
        double weight = 0;  // int s_m phi_l dv
        for (std::size_t r = 0; r < rule.node.size(); ++r)
          weight += half * rule.weight[r] * legendre(l, rule.node[r]) *
                    functions.factor(m, d, centre + half * rule.node[r]);
        for (int k = 0; k < n_powers; ++k) {
          const double term = weight * at(d, j, k, l);
          if (l <= 1) sums[0][m][k] += term;
          sums[1][m][k] += term;
        }
      }
}

double MaxwellianFactors::moment(int m, int n, const MomentFunctions& functions, int most_degree) const {
  double product = 1;
  for (int d = 0; d < functions.vdim; ++d) {
    const int power_m = functions.direction(m) == d ? functions.degree(m) : 0;
    const int power_n = functions.direction(n) == d ? functions.degree(n) : 0;
    product *= sum_[d][most_degree >= 2 ? 1 : 0][power_m][power_n];
  }
  return product;
}

}  // namespace quintet::kinetics
