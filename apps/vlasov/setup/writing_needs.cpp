#include "apps/vlasov/setup/writing_needs.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace quintet::vlasov {

using namespace kinetics;

double cells_of(const PhaseGrid& grid, int first, int last) {
  double cells = 1;
  for (int d = first; d < last; ++d) cells *= grid.cells[d];
  return cells;
}

std::vector<double> picture_points(const Setup& setup, const PhaseGrid& grid) {
  std::vector<double> points;
  for (int x = 0; x < grid.cdim; ++x)
    for (int v = grid.cdim; v < grid.dim(); ++v)
      points.push_back(double(grid.cells[x]) * grid.cells[v] * std::pow(setup.basis.order() + 1, 2));
  return points;
}

double writing_bytes(const Setup& setup, const std::array<int, 6>& ranks, int n_ranks) {
  const bool in_rows = std::all_of(ranks.begin() + 1, ranks.end(), [](int n) { return n <= 1; });
  double copy = 0, picture = 0;
  for (const auto& species : setup.species) {
    const double f = 8 * cells_of(species.grid, 0, species.grid.dim()) * setup.basis.size();
    copy = std::max(copy, f / n_ranks + (in_rows ? 0 : f));
    for (const double points : picture_points(setup, species.grid)) picture = std::max(picture, 8 * points);
  }
  constexpr double report = 2e6;
  return report + 1.1 * std::max(copy, picture);
}

}  // namespace quintet::vlasov
