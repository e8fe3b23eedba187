#pragma once

#include <span>
#include <string>
#include <vector>

#include "surrogates/flow/equations/pde_system.hpp"
#include "surrogates/flow/evaluation/rectilinear_grid.hpp"

namespace quintet::flow {

/// One sample of fields over time, as it lies in memory.
struct FieldsOverTime {
  const RectilinearGrid* grid = nullptr;
  std::span<const double> times;  ///< [n_t]
  std::span<const float> values;  ///< [field][t][n_0][n_1]
};

/// Residual of data in an equation that they are said to satisfy, in root mean squares.
struct EquationCheck {
  std::string name;
  struct Term {
    std::string text;
    double rms = 0;
  };
  std::vector<Term> terms;
  double residual = 0;
  double error = 0;   ///< of the differences that it was formed by
  double beyond = 0;  ///< of the residual, what is beyond twice that error
  /// Largest residual of a solution, beyond the error, relative to its largest term.
  static constexpr double most = 0.1;

  [[nodiscard]] double largest() const;
  [[nodiscard]] bool contradicted() const { return beyond > most * largest(); }
};

/// Residuals of equations on data, by finite differences of some of their frames.
///
/// The error of differences along an axis is that of the residual R_h against R_2h, formed of every other
/// point (or frame); the three are added up, row by row of axis 0, so that a layer at a wall which the grid
/// does not resolve hides nothing elsewhere. Nothing is known at walls. Empty where an axis has fewer than 6
/// points, or there are fewer than 5 frames: nothing can be said.
/// @param constants of `system` for this sample
/// @param most_frames that are looked at
[[nodiscard]] std::vector<EquationCheck> check_equations(const PdeSystem& system,
                                                         const std::vector<double>& constants,
                                                         const FieldsOverTime& fields, int most_frames);

/// Residuals of conditions at an end of an axis, by the data's own points there. The only term is the
/// deviation of the condition over the flow: for b - 0.5, how much b varies.
///
/// Values are extrapolated through the 5 nearest points; the error is their difference from those through 3,
/// or without the nearest one, whichever is larger, so that an unresolved layer does not count as another
/// value.
[[nodiscard]] std::vector<EquationCheck> check_wall(const PdeSystem& conditions,
                                                    const std::vector<double>& constants,
                                                    const FieldsOverTime& fields, int axis, int end,
                                                    int most_frames);

/// Value of a field at a wall, by its points alone: over the wall and some frames.
struct WallValue {
  double mean = 0;
  double deviation = 0;  ///< over wall and frames
  double error = 0;      ///< of the extrapolation (rms)
  double scale = 0;      ///< deviation of the field over the flow

  /// Whether the field is one number there: 0.1 of its deviation, beyond the error.
  [[nodiscard]] bool is_constant() const { return deviation - 2 * error <= EquationCheck::most * scale; }
  /// Whether a value that is given contradicts the data.
  [[nodiscard]] bool contradicts(double value) const;
};
[[nodiscard]] WallValue wall_value(const FieldsOverTime& fields, int field, int axis, int end);

}  // namespace quintet::flow
