#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kinetics/space/phase_grid.hpp"

namespace quintet::kinetics {

namespace {

/// Row-major number of `index` in the box of extents begin[first ... first + n).
int number(const std::array<int, 6>& extent, int first, int n, const std::array<int, 3>& index) {
  int result = 0;
  for (int d = 0; d < n; ++d) result = result * extent[first + d] + index[d];
  return result;
}

std::array<int, 3> index(const std::array<int, 6>& extent, int first, int n, int number) {
  std::array<int, 3> result{};
  for (int d = n - 1; d >= 0; --d) {
    result[d] = number % extent[first + d];
    number /= extent[first + d];
  }
  return result;
}

}  // namespace

double PhaseGrid::conf_cell_volume() const {
  double volume = 1;
  for (int d = 0; d < cdim; ++d) volume *= width(d);
  return volume;
}

double PhaseGrid::mean_velocity_cell_volume() const {
  double volume = 1;
  for (int d = cdim; d < dim(); ++d) volume *= mean_width(d);
  return volume;
}

bool PhaseGrid::is_uniform() const {
  return std::all_of(velocity_edges.begin(), velocity_edges.end(), [](const auto& e) { return e.empty(); });
}

double PhaseGrid::width(int d) const {
  if (!is_uniform(d)) throw InternalError(fmt::format("direction {} has no single width", d));
  return mean_width(d);
}

double PhaseGrid::relative_width(int d, int i) const {
  if (is_uniform(d)) return 1;
  const std::size_t cell = std::min(i, cells[d] - 1);
  return (edges(d)[cell + 1] - edges(d)[cell]) / mean_width(d);
}

double PhaseGrid::least_width(int d) const {
  double least = width(d, 0);
  for (int i = 1; i < cells[d]; ++i) least = std::min(least, width(d, i));
  return least;
}

double PhaseGrid::greatest_width(int d) const {
  double greatest = width(d, 0);
  for (int i = 1; i < cells[d]; ++i) greatest = std::max(greatest, width(d, i));
  return greatest;
}

double PhaseGrid::mapped_centre(int d, int i) const {
  const std::size_t cell = std::min(i, cells[d] - 1);
  return 0.5 * (edges(d)[cell] + edges(d)[cell + 1]);
}

bool PhaseGrid::mirrors(int d) const {
  const double rounding = 1e-12 * (upper[d] - lower[d]);
  const int n = cells[d];
  if (!(std::abs(lower[d] + upper[d]) <= rounding)) return false;
  if (is_uniform(d)) return true;
  for (int i = 0; i <= n; ++i)
    if (!(std::abs(edges(d)[i] + edges(d)[n - i]) <= rounding)) return false;
  return true;
}

int PhaseBlock::n_conf() const {
  int n = 1;
  for (int d = 0; d < grid.cdim; ++d) n *= extent[d];
  return n;
}

int PhaseBlock::n_rows() const {
  int n = 1;
  for (int d = grid.cdim; d < grid.dim() - 1; ++d) n *= extent[d];
  return n;
}

std::int64_t PhaseBlock::n_cells() const { return std::int64_t{n_conf()} * n_rows() * n_last(); }

std::array<int, 3> PhaseBlock::conf_index(int conf) const { return index(extent, 0, grid.cdim, conf); }

int PhaseBlock::conf_number(const std::array<int, 3>& i) const { return number(extent, 0, grid.cdim, i); }

std::array<int, 3> PhaseBlock::row_index(int row) const {
  return index(extent, grid.cdim, grid.vdim - 1, row);
}

std::array<double, PhaseBlock::lanes> relative_volumes(const PhaseBlock& block, int row, int pack) {
  std::array<double, PhaseBlock::lanes> volume{};
  volume.fill(1);
  if (block.grid.is_uniform()) return volume;
  const auto index = block.row_index(row);
  const int last = block.grid.dim() - 1;
  for (int lane = 0; lane < PhaseBlock::lanes; ++lane) {
    for (int d = block.grid.cdim; d < last; ++d)
      volume[lane] *= block.grid.relative_width(d, block.begin[d] + index[d - block.grid.cdim]);
    volume[lane] *= block.grid.relative_width(last, block.begin[last] + pack * PhaseBlock::lanes + lane);
  }
  return volume;
}

int PhaseBlock::row_number(const std::array<int, 3>& i) const {
  return number(extent, grid.cdim, grid.vdim - 1, i);
}

}  // namespace quintet::kinetics
