#pragma once

#include <span>
#include <vector>

#include "physics/convection/grid.hpp"

namespace quintet::environments {

/// How numbers by segment become a profile of a heated floor.
struct FloorHeatingOptions {
  int segments = 8;         ///< along x, of as many cells each
  double amplitude = 0.75;  ///< greatest |profile|
  double blend = 0.5;       ///< part of a segment over which one goes over into the next
};

/// Profiles of a floor by segments, whose mean over x is 0 so that the mean temperature of the floor is kept.
///
/// Actions a_s, numbers of any size in units of the amplitude C, are made to have mean 0, then to keep to the
/// bounds (as Beintema et al. 2020, J. Turbul. 21, 585):
///
///     a'_s = a_s - mean a,   f_s = C a'_s/max(1, max |a'|)
///
/// In the middle of segment s the profile is f_s; about the boundary of two it goes from one to the other
/// over a width of `blend` segments as 3 t^2 - 2 t^3, so it stays between them, and its mean stays 0.
class FloorHeating {
 public:
  /// Throws InputError: segments that do not divide the cells, or fewer than 2; an x that is not periodic; an
  /// amplitude that is not above 0 and at most 1 (beyond, the floor may be colder than the top); a blend
  /// outside 0 to 1.
  FloorHeating(const FloorHeatingOptions& options, const convection::Axis& x);

  [[nodiscard]] int segments() const { return options_.segments; }
  [[nodiscard]] int cells() const { return weights_.size(); }
  /// f_s [segments]. Throws InputError where an action is not finite.
  void bounded(std::span<const float> action, std::span<double> levels) const;
  /// @param profile [cells]
  void profile(std::span<const float> action, std::span<double> profile) const;

 private:
  /// A cell's value is (1 - weight) of `from` and weight of `to`.
  struct Weight {
    int from = 0, to = 0;
    double weight = 0;
  };
  FloorHeatingOptions options_;
  std::vector<Weight> weights_;  ///< [cells]
};

}  // namespace quintet::environments
