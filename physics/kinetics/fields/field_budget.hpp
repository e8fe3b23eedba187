#pragma once

#include <array>

namespace quintet::kinetics {

/// What has changed the energy of Maxwell's field since the start of the run, apart from the particles'
/// current; summed with the weights of the Runge-Kutta stages.
struct FieldBudget {
  double current = 0;                           ///< work of the given current density, -int J.E dx
  std::array<std::array<double, 2>, 3> left{};  ///< through open and fixed walls, [x direction][lower, upper]

  /// Net energy that came in.
  [[nodiscard]] double brought() const {
    double sum = current;
    for (const auto& ends : left) sum -= ends[0] + ends[1];
    return sum;
  }
};
/// Numbers alone, as BudgetNumbers.
using FieldBudgetNumbers = std::array<double, sizeof(FieldBudget) / sizeof(double)>;

}  // namespace quintet::kinetics
