#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Units as text. Conversion happens only in options, readers and writers.
namespace quintet {

/// Factor by which a number in `from` is multiplied to be in `to`, e.g. unit_factor("fs", "ps") = 1e-3.
///
/// Known: lengths (m nm um angstrom A Å bohr pm), times (s ms us ns ps fs), energies (J kJ/mol kcal/mol eV meV hartree Ry
/// K is a temperature, not an energy), temperature K, pressures (Pa kPa MPa GPa bar kbar atm eV/angstrom^3), masses (kg g/mol
/// amu u), velocities, forces (eV/angstrom, hartree/bohr), angles (rad deg), frequencies (Hz THz 1/ps 1/fs rad/ps 1/cm as
/// angular or not: see units.cpp), dimensionless "1", and products, quotients and powers of these ("angstrom^2/ps").
/// Throws InputError naming both units and the units that would fit if the dimensions differ or a unit is unknown.
[[nodiscard]] double unit_factor(std::string_view from, std::string_view to);
/// Parse "0.5 fs" into the unit `to`. Throws InputError; a bare number names the expected unit, "0.5" -> "... write '0.5 ps'".
[[nodiscard]] double parse_quantity(std::string_view text, std::string_view to);
/// Unit names of the same dimension, the most usual first (for messages and the reference page).
[[nodiscard]] std::vector<std::string> compatible_units(std::string_view unit);

}  // namespace quintet
