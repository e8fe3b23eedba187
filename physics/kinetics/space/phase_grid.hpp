#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::kinetics {

/// A grid of phase space: directions 0 ... cdim-1 are x, cdim ... cdim+vdim-1 are v. Units are the user's own
/// consistent ones (in the inputs omega_pe = lambda_D = 1).
///
/// Cells are equal along x, and along v unless edges are given: then velocity is linear within each cell,
/// v = centre + width/2 xi, so that all integrals over cells stay exact.
struct PhaseGrid {
  int cdim = 1, vdim = 1;
  std::array<double, 6> lower{}, upper{};
  std::array<int, 6> cells{1, 1, 1, 1, 1, 1};
  std::array<bool, 6> periodic{};  ///< of x; never of v
  /// Edges of the cells of velocity direction d, [cells + 1] from lower to upper; empty: equal cells.
  std::array<std::vector<double>, 3> velocity_edges{};

  [[nodiscard]] int dim() const { return cdim + vdim; }
  [[nodiscard]] bool is_uniform(int d) const { return d < cdim || edges(d).empty(); }
  [[nodiscard]] bool is_uniform() const;  ///< in all directions
  /// Width of the cells along a direction. Throws InternalError where they are not equal.
  [[nodiscard]] double width(int d) const;
  [[nodiscard]] double mean_width(int d) const { return (upper[d] - lower[d]) / cells[d]; }
  /// Width of global cell i over the mean width: exactly 1 where cells are equal. A cell past an end has the
  /// width of the last one.
  [[nodiscard]] double relative_width(int d, int i) const;
  [[nodiscard]] double width(int d, int i) const { return mean_width(d) * relative_width(d, i); }
  [[nodiscard]] double least_width(int d) const;
  [[nodiscard]] double greatest_width(int d) const;
  /// Lower end of global cell i along direction d, i = 0 ... cells.
  [[nodiscard]] double edge(int d, int i) const {
    return is_uniform(d) ? lower[d] + i * mean_width(d) : edges(d)[i];
  }
  /// Centre of global cell i along direction d.
  [[nodiscard]] double centre(int d, int i) const {
    return is_uniform(d) ? lower[d] + (i + 0.5) * mean_width(d) : mapped_centre(d, i);
  }
  /// Whether the cells of a velocity direction are symmetric about v = 0, to round-off.
  [[nodiscard]] bool mirrors(int d) const;
  [[nodiscard]] double conf_cell_volume() const;           ///< prod of dx
  [[nodiscard]] double mean_velocity_cell_volume() const;  ///< prod of the mean dv

 private:
  [[nodiscard]] const std::vector<double>& edges(int d) const { return velocity_edges[d - cdim]; }
  [[nodiscard]] double mapped_centre(int d, int i) const;
};

/// The cells of one rank: a box of the grid, and how they lie in memory.
///
/// f is stored as an array of structures of arrays: `lanes` cells that follow each other in the last velocity
/// direction form a pack; the packs of one configuration cell lie together:
///
///     index = (((conf * n_rows + row) * n_packs + pack) * n_modes + mode) * lanes + lane
///
/// conf: local configuration cell, row-major (last x fastest). row: local velocity cells without the last
/// direction, row-major. Cell j of the last direction is lane j % lanes of pack j / lanes; lanes past the
/// last cell hold zeros.
struct PhaseBlock {
  static constexpr int lanes = pack_width<double>;

  PhaseGrid grid;
  std::array<int, 6> begin{};                   ///< global index of the first cell
  std::array<int, 6> extent{1, 1, 1, 1, 1, 1};  ///< local cells

  [[nodiscard]] int n_conf() const;   ///< configuration cells
  [[nodiscard]] int n_rows() const;   ///< rows of velocity cells along the last direction
  [[nodiscard]] int n_last() const {  ///< cells of a row
    return extent[grid.dim() - 1];
  }
  [[nodiscard]] int n_packs() const { return (n_last() + lanes - 1) / lanes; }  ///< packs of a row
  [[nodiscard]] std::int64_t n_cells() const;
  /// Local configuration cell to local indices and back.
  [[nodiscard]] std::array<int, 3> conf_index(int conf) const;
  [[nodiscard]] int conf_number(const std::array<int, 3>& index) const;
  /// Row to local velocity indices (without the last direction) and back.
  [[nodiscard]] std::array<int, 3> row_index(int row) const;
  [[nodiscard]] int row_number(const std::array<int, 3>& index) const;
};

/// Velocity volume of the cells of a pack over the mean one: exactly 1 where cells are equal.
[[nodiscard]] std::array<double, PhaseBlock::lanes> relative_volumes(const PhaseBlock& block, int row,
                                                                     int pack);

/// How phase space is shared out: a grid of ranks, a box of cells each (uneven where they do not divide).
class Decomposition {
 public:
  /// ranks[d] = 0: chosen so that work is even and halos small. Collective. Throws InputError, naming a grid
  /// of ranks that would do, if their product is not the size of `comm` or a direction has fewer cells than
  /// ranks.
  Decomposition(const Comm& comm, const PhaseGrid& grid, const std::array<int, 6>& ranks);

  [[nodiscard]] const Comm& comm() const { return *comm_; }
  /// Ranks with the same configuration cells: sums over velocity space go here.
  [[nodiscard]] const Comm& velocity_comm() const { return *velocity_comm_; }
  /// Ranks with the same velocity cells: fields in x are exchanged here. Row-major over the grid of x.
  [[nodiscard]] const Comm& conf_comm() const { return *conf_comm_; }
  [[nodiscard]] const std::array<int, 6>& ranks() const { return ranks_; }
  [[nodiscard]] const std::array<int, 6>& coordinates() const { return coordinates_; }
  /// Rank (of comm()) beyond side -1 or +1 of direction d; wraps where periodic; -1: the domain ends there.
  [[nodiscard]] int neighbour(int d, int side) const;
  /// The box of a species whose velocity grid may differ (same ranks, same x). Throws InputError as above.
  [[nodiscard]] PhaseBlock block(const PhaseGrid& grid) const;
  /// The block of any rank (for gathering).
  [[nodiscard]] PhaseBlock block(const PhaseGrid& grid, int rank) const;

 private:
  [[nodiscard]] std::array<int, 6> coordinates_of(int rank) const;

  std::shared_ptr<const Comm> comm_, velocity_comm_, conf_comm_;
  int dim_;
  std::array<int, 6> ranks_, coordinates_;
  std::array<bool, 6> periodic_;
};

}  // namespace quintet::kinetics
