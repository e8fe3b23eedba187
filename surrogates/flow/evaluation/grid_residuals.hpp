#pragma once

#include <span>
#include <vector>

#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

/// Residuals of equations of fields on a grid, by finite differences in space and time: of truth, to see what
/// its resolution leaves, and of predictions that know no derivatives.
class GridResiduals {
 public:
  /// @param times of the frames [n_t], at least 3, ascending
  /// @param walls [field][axis]
  /// @param residuals their operators act on (time, axes of the grid)
  GridResiduals(const RectilinearGrid& grid, const std::vector<double>& times, std::vector<FieldWalls> walls,
                Residuals residuals, int sample);

  /// Residuals [equation][point] of a frame. Frames beside it are read, too: up to AxisRules::width in all.
  /// @param fields one span [frame][n_0][n_1] a field
  [[nodiscard]] std::vector<std::vector<double>> of_frame(
      int frame, const std::vector<std::span<const double>>& fields) const;

 private:
  const RectilinearGrid* grid_;
  std::vector<double> times_;
  AxisRules time_rules_;
  std::vector<FieldWalls> walls_;
  Residuals residuals_;
  int sample_;
};

}  // namespace quintet::flow
