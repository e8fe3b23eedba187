#include "physics/kinetics/space/velocity_weights.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/recovery.hpp"

namespace quintet::kinetics {

namespace {

/// int xi^j phi_k dxi.
struct PowerTables {
  double power[max_degree + 1][max_degree + 1]{}, end[max_degree + 1]{};
};
constexpr PowerTables make_power_tables() {
  PowerTables t;
  for (int k = 0; k <= max_degree; ++k) {
    t.end[k] = legendre_end(k, 1);
    for (int j = 0; j <= max_degree; ++j) {
      const detail::Polynomial product = detail::shifted_power(j, 0) * detail::legendre_polynomial(k);
      t.power[j][k] = product.integral() * detail::normalisation(k);
    }
  }
  return t;
}
constexpr PowerTables tables = make_power_tables();

struct Cell {
  double centre, half;
  bool first, last;  ///< at an end of the velocity box

  /// int v^n phi_k dv, v = centre + half xi.
  [[nodiscard]] double moment(int n, int k) const {
    double sum = 0, factor = half;  // binomial(n, j) half^j, of the j-th term
    for (int j = 0; j <= n; ++j) {
      double term = factor * tables.power[j][k];
      for (int i = j; i < n; ++i) term *= centre;
      sum += term;
      factor *= half * (n - j) / (j + 1);
    }
    return sum;
  }
  /// (factor f) at the upper minus the lower end of the box.
  [[nodiscard]] double ends(double upper, double lower, int k) const {
    return (last ? upper * tables.end[k] : 0) -
           (first ? lower * (k % 2 == 0 ? tables.end[k] : -tables.end[k]) : 0);
  }
  [[nodiscard]] double faces(int n_degrees, int k) const {
    const double value = recoveries[n_degrees].value[k];
    return 2 * half * ((last ? 0 : value) + (first ? 0 : (k % 2 == 0 ? value : -value)));
  }
};

double weight(Functional functional, const Cell& cell, int n_degrees, int k) {
  switch (functional) {
    case Functional::v0:
      return cell.moment(0, k);
    case Functional::v1:
      return cell.moment(1, k);
    case Functional::v2:
      return cell.moment(2, k);
    case Functional::v3:
      return cell.moment(3, k);
    case Functional::ends:
      return cell.ends(1, 1, k);
    case Functional::ends_v:
      return cell.ends(cell.centre + cell.half, cell.centre - cell.half, k);
    case Functional::star1:
      return cell.centre * cell.moment(0, k);
    case Functional::star2:
      return cell.centre * cell.moment(1, k);
    case Functional::star0:  // needs equal cells, see velocity_weights()
      return cell.faces(n_degrees, k) - cell.ends(cell.centre, cell.centre, k);
  }
  throw InternalError("a functional of velocity without weights");
}

}  // namespace

std::vector<double> velocity_weights(Functional functional, const PhaseBlock& block, int d, int n_degrees) {
  const int axis = block.grid.cdim + d;
  const int n = block.extent[axis], n_padded = padded(n, PhaseBlock::lanes);
  if (functional == Functional::star0) (void)block.grid.width(axis);  // equal cells alone
  std::vector<double> weights(std::int64_t{n_degrees} * n_padded);
  for (int i = 0; i < n; ++i) {
    const int global = block.begin[axis] + i;
    const Cell cell{block.grid.centre(axis, global), 0.5 * block.grid.width(axis, global), global == 0,
                    global == block.grid.cells[axis] - 1};
    for (int k = 0; k < n_degrees; ++k) weights[k * n_padded + i] = weight(functional, cell, n_degrees, k);
  }
  return weights;
}

}  // namespace quintet::kinetics
