#pragma once

#include <array>
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
};

/// All Maxwellians of charged species. Nothing where some f is given by a function or a file.
[[nodiscard]] std::optional<std::vector<PlasmaPart>> plasma_parts(const RunOptions& options,
                                                                  const Setup& setup);

/// The mean over x of the magnetic field at the start, of the field and the given one.
[[nodiscard]] std::array<double, 3> mean_magnetic_field(const RunOptions& options, const Setup& setup);

}  // namespace quintet::vlasov
