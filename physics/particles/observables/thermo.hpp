#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "physics/particles/dynamics/integrators.hpp"

namespace quintet {

/// The state of a system in numbers, in the units a person reads.
struct ThermoSample {
  std::int64_t step = 0;
  double time = 0;           ///< (ps)
  double potential = 0;      ///< (eV)
  double kinetic = 0;        ///< (eV)
  double total = 0;          ///< (eV)
  double conserved = 0;      ///< total + energy of the baths (eV)
  double temperature = 0;    ///< 2 K / (N_f k_B) (K)
  double pressure = 0;       ///< trace of the tensor / 3 (bar)
  SymmetricTensor stress{};  ///< pressure tensor xx yy zz xy xz yz (bar)
  double volume = 0;         ///< (angstrom^3)
  Mat3 cell{};               ///< rows (angstrom)
  double density = 0;        ///< (g/cm^3)
};

/// A column of the thermo table, and what it is of a sample.
struct ThermoColumn {
  std::string name, unit, description;
  std::function<double(const ThermoSample&)> value;
};

/// Sample the system at `step` (time = step dt). Collective.
[[nodiscard]] ThermoSample sample_thermo(const Exec& exec, const ParticleSystem& system,
                                         const Integrator& integrator, std::int64_t step, double dt);
/// Columns of the table.
[[nodiscard]] const std::vector<ThermoColumn>& thermo_columns();

}  // namespace quintet
