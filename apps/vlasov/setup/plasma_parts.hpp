#pragma once

#include <array>
#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// One of the Maxwellians that a run starts from, as linear theory sees it: means over x.
struct PlasmaPart {
  std::size_t species = 0;
  double plasma_frequency = 0;                   ///< sqrt(n q^2/(epsilon0 m))
  std::array<double, 3> thermal_speed{1, 1, 1};  ///< of each velocity direction
  std::array<double, 3> drift{};
  /// d of the density n (1 + Re(d exp(i k.x))), of the wave that theory asks about.
  std::complex<double> density_wave;
};

/// All Maxwellians of charged species, seen by a wave along k. Nothing where some f is given by a function or
/// a file.
[[nodiscard]] std::optional<std::vector<PlasmaPart>> plasma_parts(const RunOptions& options,
                                                                  const Setup& setup,
                                                                  const std::array<double, 3>& k);

/// The mean over x of the magnetic field at the start, of the field and the given one.
[[nodiscard]] std::array<double, 3> mean_magnetic_field(const RunOptions& options, const Setup& setup);

/// The mean over x of field.current at t = 0.
[[nodiscard]] std::array<double, 3> mean_current(const RunOptions& options, const Setup& setup);

}  // namespace quintet::vlasov
