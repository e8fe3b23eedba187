#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/transforms/slab_transpose.hpp"

/// Two-dimensional Boussinesq convection on a staggered grid.
namespace quintet::convection {

/// How faces are spread over an axis.
enum class Spacing {
  uniform,
  tanh,   ///< tanh(s (2 q - 1))/tanh(s) for uniform q: finer at both ends, by the strength s
  cosine  ///< -cos(pi q): the extrema of a Chebyshev polynomial
};

/// Cells along one direction: their faces, centres (half way between faces) and what differences divide by.
struct Axis {
  std::vector<double> faces;    ///< [n + 1] (length)
  std::vector<double> centres;  ///< [n]
  std::vector<double> widths;   ///< [n] of cells
  /// [n + 1] centre to centre, of the control volumes of faces; at the ends half a cell, or across the seam
  /// of a periodic axis.
  std::vector<double> gaps;
  bool periodic = false;

  [[nodiscard]] int n() const { return centres.size(); }
  [[nodiscard]] double length() const { return faces.back() - faces.front(); }
  /// Whether all cells are as wide, to round-off.
  [[nodiscard]] bool uniform() const;
};

/// Throws InputError: fewer than 4 cells, an empty length, a strength that is not above 0, a periodic axis
/// that is not uniform.
[[nodiscard]] Axis make_axis(double lower, double upper, int n, Spacing spacing, double strength,
                             bool periodic);

/// The cells of a run and the share of this rank: rows of equal z, so that each row is whole on a rank.
class Grid {
 public:
  Axis x, z;
  Shares rows;  ///< of cells along z; face j belongs to the rank of cell j, the top wall to nobody

  Grid(const Comm& comm, Axis x, Axis z);
  [[nodiscard]] const Comm& comm() const { return *comm_; }
  [[nodiscard]] int first_row() const { return rows.first(rank_); }
  [[nodiscard]] int rows_here() const { return rows.size(rank_); }
  [[nodiscard]] bool at_bottom() const { return rank_ == 0; }
  [[nodiscard]] bool at_top() const { return rank_ == rows.n_ranks - 1; }

 private:
  std::shared_ptr<const Comm> comm_;
  int rank_;
};

}  // namespace quintet::convection
