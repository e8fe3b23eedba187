#pragma once

#include <array>
#include <span>

namespace quintet::kinetics {

/// Box of the electrostatic field that a charge density of its own would make, without its mean:
///
///     U = sum_k |rho_k|^2/(2 epsilon0 k^2) V,   <phi^2> = sum_k |rho_k|^2/(epsilon0 k^2)^2,
///
/// rho_k from the cell means by real Fourier series along periodic directions (k = 2 pi j/L) and cosine
/// series between walls (k = pi j/L). n (n_1 + n_2 + n_3) operations for n cells.
struct ChargeBox {
  std::array<int, 3> cells{1, 1, 1};
  std::array<double, 3> length{1, 1, 1};
  std::array<bool, 3> periodic{true, true, true};
  double epsilon0 = 1;
};

/// Energy of that field, and the root mean square of its potential over the box.
struct ChargeField {
  double energy = 0, potential = 0;
};

/// Compute both from `means` [cells] row-major: cell means of the density.
[[nodiscard]] ChargeField charge_field(const ChargeBox& box, std::span<const double> means);

}  // namespace quintet::kinetics
