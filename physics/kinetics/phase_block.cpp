#include "physics/kinetics/phase_grid.hpp"

namespace quintet::kinetics {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Row-major number of `index` in the box of extents begin[first ... first + n).
int number(const std::array<int, 6>& extent, int first, int n, const std::array<int, 3>& index) {
  int result = 0;
  for (int d = 0; d < n; ++d) result = result * extent[at(first + d)] + index[at(d)];
  return result;
}

std::array<int, 3> index(const std::array<int, 6>& extent, int first, int n, int number) {
  std::array<int, 3> result{};
  for (int d = n - 1; d >= 0; --d) {
    result[at(d)] = number % extent[at(first + d)];
    number /= extent[at(first + d)];
  }
  return result;
}

}  // namespace

double PhaseGrid::conf_cell_volume() const {
  double volume = 1;
  for (int d = 0; d < cdim; ++d) volume *= width(d);
  return volume;
}

double PhaseGrid::velocity_cell_volume() const {
  double volume = 1;
  for (int d = cdim; d < dim(); ++d) volume *= width(d);
  return volume;
}

int PhaseBlock::n_conf() const {
  int n = 1;
  for (int d = 0; d < grid.cdim; ++d) n *= extent[at(d)];
  return n;
}

int PhaseBlock::n_rows() const {
  int n = 1;
  for (int d = grid.cdim; d < grid.dim() - 1; ++d) n *= extent[at(d)];
  return n;
}

std::int64_t PhaseBlock::n_cells() const { return std::int64_t{n_conf()} * n_rows() * n_last(); }

std::array<int, 3> PhaseBlock::conf_index(int conf) const { return index(extent, 0, grid.cdim, conf); }

int PhaseBlock::conf_number(const std::array<int, 3>& i) const { return number(extent, 0, grid.cdim, i); }

std::array<int, 3> PhaseBlock::row_index(int row) const {
  return index(extent, grid.cdim, grid.vdim - 1, row);
}

int PhaseBlock::row_number(const std::array<int, 3>& i) const {
  return number(extent, grid.cdim, grid.vdim - 1, i);
}

}  // namespace quintet::kinetics
