#include "physics/kinetics/velocity_weights.hpp"

#include <algorithm>
#include <array>

#include "physics/kinetics/recovery.hpp"

namespace quintet::kinetics {

namespace {

constexpr int n_series = 2 * max_degree + 1;
using Series = std::array<double, n_series>;  // Legendre coefficients

/// Coefficients of xi times the function; the highest is lost, so powers up to 3 are exact.
Series times_xi(const Series& a) {
  Series result{};
  for (std::size_t k = 0; k < n_series; ++k)
    for (std::size_t l = k == 0 ? 0 : k - 1; l < std::min<std::size_t>(n_series, k + 2); ++l)
      if (l + 1 == k || k + 1 == l) {
        const double low = static_cast<double>(std::min(k, l)) + 1;
        // xi phi_{n-1} = n/sqrt(4n^2 - 1) phi_n + ...
        result[k] += low / constant_sqrt(4 * low * low - 1) * a[l];
      }
  return result;
}

/// Coefficients of (centre + half xi)^power.
Series power_series(double centre, double half, int power) {
  Series a{};
  a[0] = constant_sqrt(2);
  for (int n = 0; n < power; ++n) {
    const Series shifted = times_xi(a);
    for (std::size_t k = 0; k < n_series; ++k) a[k] = centre * a[k] + half * shifted[k];
  }
  return a;
}

struct Cell {
  double centre, half;
  bool first, last;  ///< at an end of the velocity box

  [[nodiscard]] double moment(int power, int k) const {
    return half * power_series(centre, half, power)[static_cast<std::size_t>(k)];
  }
  /// (factor f) at the upper minus the lower end of the box.
  [[nodiscard]] double ends(double upper, double lower, int k) const {
    return (last ? upper * legendre_end(k, 1) : 0) - (first ? lower * legendre_end(k, -1) : 0);
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
    case Functional::star0:
      return cell.faces(n_degrees, k) - cell.ends(cell.centre, cell.centre, k);
  }
  return 0;
}

}  // namespace

std::vector<double> velocity_weights(Functional functional, const PhaseBlock& block, int d, int n_degrees) {
  const auto direction = static_cast<std::size_t>(block.grid.cdim + d);
  const int n = block.extent[direction], n_padded = padded(n, PhaseBlock::lanes);
  std::vector<double> weights(static_cast<std::size_t>(n_degrees) * static_cast<std::size_t>(n_padded));
  for (int i = 0; i < n; ++i) {
    const int global = block.begin[direction] + i;
    const int axis = static_cast<int>(direction);
    const Cell cell{block.grid.centre(axis, global), 0.5 * block.grid.width(axis), global == 0,
                    global == block.grid.cells[direction] - 1};
    for (int k = 0; k < n_degrees; ++k)
      weights[static_cast<std::size_t>(k * n_padded + i)] = weight(functional, cell, n_degrees, k);
  }
  return weights;
}

}  // namespace quintet::kinetics
