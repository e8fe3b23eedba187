#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace quintet::electronic {

/// The occupation f(x) of an orbital of energy x, and how it can be varied to hold a number of pairs.
///
/// k_B T = 0: f = 1 below mu, 0 above; T > 0: f = 1/(1 + exp((x - mu)/T)). Energies in Hartree.
struct Occupation {
  double mu = 0, temperature = 0;
  double gap = 0;  ///< LUMO - HOMO: the width over which a step is varied

  [[nodiscard]] double operator()(double x) const;
  /// -f ln f - (1 - f) ln(1 - f)
  [[nodiscard]] double entropy(double x) const;
  /// f alone, or the terms of f(x; s) = sum_k f_k(x) s^k.
  ///
  /// T > 0: Taylor's series of f with mu + s for mu, to the fifth order (it converges for |s| < pi T). T = 0:
  /// f_1 = exp(-((x - mu)/gap)^2), large on the orbitals next to mu: s f_1 makes up for what the filter lost.
  [[nodiscard]] std::vector<std::function<double(double)>> functions(bool varied) const;
  /// The s of least size with sum_k traces_k s^k = n, or nothing if none is small enough for the series
  /// (T > 0: 0.3 T; T = 0: 0.25).
  [[nodiscard]] std::optional<double> variation(std::span<const double> traces, double n) const;
};

}  // namespace quintet::electronic
