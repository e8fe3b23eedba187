#pragma once

#include <array>

namespace quintet::kinetics {

/// Changes of the field's energy since the start of the run, apart from those by the particles' current;
/// summed with the weights of the Runge-Kutta stages.
struct FieldBudget {
  /// Work of the given current density, -int J.E dx (Maxwell), or energy of the charge that sources of
  /// particles bring, int phi rho dx (Poisson; phi less that of the walls' values).
  double given = 0;
  /// Through open and fixed walls (Maxwell), or of the charge that leaves, oint phi J.n dS, through neumann
  /// walls (Poisson; phi as above), [x direction][lower, upper].
  std::array<std::array<double, 2>, 3> left{};

  /// Net energy that came in.
  [[nodiscard]] double brought() const {
    double sum = given;
    for (const auto& ends : left) sum -= ends[0] + ends[1];
    return sum;
  }
};
/// Numbers alone, as BudgetNumbers.
using FieldBudgetNumbers = std::array<double, sizeof(FieldBudget) / sizeof(double)>;

}  // namespace quintet::kinetics
