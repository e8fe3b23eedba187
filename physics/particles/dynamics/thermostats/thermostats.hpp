#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "physics/particles/dynamics/coupling.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"
#include "physics/particles/dynamics/thermostats/cell_thermostat.hpp"

namespace quintet {

/// All that integrators, options and reports know of a thermostat.
struct ThermostatRow {
  Thermostat value;
  std::string_view name, doc;  ///< "langevin" in YAML, "Langevin dynamics (BAOAB)" for people
  bool is_deterministic;       ///< then a barostat that is chosen for it is too
  /// Makes the thermostat of the atoms. Throws InputError for options that it cannot work with.
  std::unique_ptr<Coupling> (*make)(const IntegratorOptions& options, std::uint64_t seed);
  /// Makes the thermostat of a cell with inertia.
  std::unique_ptr<CellThermostat> (*make_for_cell)(const IntegratorOptions& options, std::uint64_t seed);
};

[[nodiscard]] std::span<const ThermostatRow> thermostats();

}  // namespace quintet
