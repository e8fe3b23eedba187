#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"

namespace quintet::kinetics::testing {

/// A grid with odd numbers of cells (13 and 5 along the last: not a whole number of packs).
inline PhaseGrid odd_grid(int cdim, int vdim) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  constexpr std::array<int, 3> x{7, 5, 4}, v{13, 6, 5};
  for (int d = 0; d < cdim + vdim; ++d) {
    const std::size_t i = d;
    grid.cells[i] = d < cdim ? x[i] : v[d - cdim];
    grid.lower[i] = d < cdim ? 0 : -4 - d;
    grid.upper[i] = d < cdim ? 2.5 + d : 4 + d;
    grid.periodic[i] = d < cdim;
  }
  return grid;
}

/// Every way to share out the first `dim` directions over `size` ranks with at most two cuts.
inline std::vector<std::array<int, 6>> rank_grids(int size, int dim) {
  std::vector<std::array<int, 6>> result;
  for (int a = 0; a < dim; ++a)
    for (int b = a; b < dim; ++b)
      for (int n = 1; n <= size; ++n) {
        if (size % n != 0 || (a == b && n != 1) || (a != b && (n == 1 || n == size))) continue;
        std::array<int, 6> ranks{1, 1, 1, 1, 1, 1};
        ranks[a] *= n;
        ranks[b] *= size / n;
        result.push_back(ranks);
      }
  return result;
}

/// Number of a cell of the whole grid, row-major.
inline std::int64_t global_number(const PhaseBlock& block, int conf, int row, int last) {
  const auto x = block.conf_index(conf);
  const auto v = block.row_index(row);
  std::int64_t number = 0;
  for (int d = 0; d < block.grid.dim(); ++d) {
    const std::size_t i = d;
    const int vd = d - block.grid.cdim;
    const int local = vd < 0 ? x[i] : d == block.grid.dim() - 1 ? last : v[vd];
    number = number * block.grid.cells[i] + block.begin[i] + local;
  }
  return number;
}

/// A value that no other cell or mode has, with all bits of its mantissa in use.
inline double unique_value(std::int64_t cell, int mode) {
  return (1.0 + 1.0 / 3.0 + cell) * (mode % 2 == 0 ? 1 : -1) / (7.0 + 2 * mode);
}

inline Distribution numbered(const Decomposition& decomposition, const PhaseGrid& grid,
                             const PhaseBasis& basis) {
  Distribution f("numbered", decomposition.block(grid), basis.size());
  for (int conf = 0; conf < f.block.n_conf(); ++conf)
    for (int row = 0; row < f.block.n_rows(); ++row)
      for (int last = 0; last < f.block.n_last(); ++last)
        for (int mode = 0; mode < basis.size(); ++mode)
          f.at(conf, row, last, mode) = unique_value(global_number(f.block, conf, row, last), mode);
  return f;
}

/// Values of a field that tell cell, component and mode.
inline ConfField numbered_field(const PhaseBlock& block, int components, int modes) {
  ConfField field("numbered", static_cast<std::size_t>(block.n_conf()), static_cast<std::size_t>(components),
                  static_cast<std::size_t>(modes));
  for (int conf = 0; conf < block.n_conf(); ++conf) {
    const auto x = block.conf_index(conf);
    std::int64_t number = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(block.grid.cdim); ++d)
      number = number * block.grid.cells[d] + block.begin[d] + x[d];
    for (int c = 0; c < components; ++c)
      for (int m = 0; m < modes; ++m) field(conf, c, m) = unique_value(number, 10 * c + m);
  }
  return field;
}

inline bool equal(const ConfField& a, const ConfField& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.data()[i] != b.data()[i]) return false;
  return true;
}
inline bool equal(const Distribution& a, const Distribution& b) {
  if (a.data.size() != b.data.size()) return false;
  for (std::size_t i = 0; i < a.data.size(); ++i)
    if (a.data(i) != b.data(i)) return false;
  return true;
}

}  // namespace quintet::kinetics::testing
