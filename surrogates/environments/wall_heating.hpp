#pragma once

#include <span>
#include <vector>

#include "physics/convection/grid.hpp"

namespace quintet::environments {

/// Greatest amplitudes: beyond the first a warm wall may be colder than the cold one.
inline constexpr double most_buoyancy_set = 1, most_heat_set = 1000;

/// How numbers by segment become a profile of a wall: of buoyancy, or of heat where it insulates.
struct WallHeatingOptions {
  int segments = 8;         ///< along the wall, equally long
  double amplitude = 0.75;  ///< greatest |profile|
  double blend = 0.5;       ///< part of a segment over which one goes over into the next
};

/// Profiles of a wall by segments, whose mean along the wall is 0, so that the wall's mean buoyancy (or heat)
/// is kept.
///
/// Actions a_s, numbers of any size in units of the amplitude C, are made to have mean 0, then to keep to the
/// bounds (as Beintema et al. 2020, J. Turbul. 21, 585):
///
///     a'_s = a_s - mean a,   f_s = C a'_s/max(1, max |a'|)
///
/// In the middle of segment s the profile is f_s; about the boundary of two it goes from one to the other
/// over a width of `blend` segments as 3 t^2 - 2 t^3, so it stays between them, and its mean stays 0. On a
/// periodic axis the last segment goes over into the first, and a cell has the value at its centre. Between
/// walls the end segments reach to the corners, and a cell has the mean over its width: so the mean is 0 on
/// cells of any widths.
class WallHeating {
 public:
  /// Throws InputError: fewer than 2 segments, or more than cells; on a periodic axis a number that does not
  /// divide the cells; an amplitude that is not above 0 and at most `most`; a blend outside 0 to 1. `wall`
  /// names it in messages ("floor").
  WallHeating(const WallHeatingOptions& options, const convection::Axis& along, const char* wall = "floor",
              double most = most_buoyancy_set);

  [[nodiscard]] int segments() const { return options_.segments; }
  [[nodiscard]] int cells() const { return cells_; }
  /// f_s [segments]. Throws InputError where an action is not finite.
  void bounded(std::span<const float> action, std::span<double> levels) const;
  /// @param profile [cells]
  void profile(std::span<const float> action, std::span<double> profile) const;

 private:
  void blend_round(const convection::Axis& along);
  void blend_between_corners(const convection::Axis& along);

  /// A cell's value is (1 - weight) of `from` and weight of `to`.
  struct Weight {
    int from = 0, to = 0;
    double weight = 0;
  };
  WallHeatingOptions options_;
  const char* wall_;
  int cells_;
  std::vector<Weight> weights_;  ///< [cells] of a periodic axis
  std::vector<double> steps_;    ///< [cells, segments - 1] between walls: part of the step at each border
};

}  // namespace quintet::environments
