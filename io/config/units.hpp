#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Units as text. Conversion happens only in options, readers and writers.
///
/// A unit is a product, quotient and integer power of names: "angstrom^2/ps", "kJ/mol", "W/(m K)", "1/cm";
/// "1" is dimensionless. Names: lengths (m angstrom A Å bohr), times (s min h day week year), masses (g amu u
/// Da me), energies (J eV cal hartree Ry), K, pressures (Pa bar atm), N, W, Hz, charges (C e), V, T, L,
/// angles (rad deg), B (byte), flop (operation of arithmetic), % and mol; those of the SI, eV, cal, bar, B
/// and flop also with prefixes (fs, kPa, meV, kcal, GB, Gflop; KiB MiB GiB TiB).
///
/// Dimensions are checked with these choices: mol is a plain number, so that g/mol is the mass of a particle
/// (1 g/mol = 1 amu) and kJ/mol the energy of one; an angle is a dimension of its own, so that rad/ps and
/// 1/ps (= THz) do not mix silently; K is a temperature, not an energy; 1/cm is an inverse length, not a
/// frequency. Units with an offset (degC) are refused.
namespace quintet {

/// Factor by which a number in `from` is multiplied to be in `to`, e.g. unit_factor("fs", "ps") = 1e-3.
///
/// Exactly 1 if both are the same unit. Throws InputError naming both units and the units that would fit if
/// the dimensions differ or a unit is unknown. Constants: CODATA 2018.
[[nodiscard]] double unit_factor(std::string_view from, std::string_view to);
/// Parse "0.5 fs" into the unit `to`. Throws InputError; a bare number names the expected unit, "0.5" -> "...
/// write for example '0.5 ps'". In a dimensionless unit ("1") a bare number is right.
[[nodiscard]] double parse_quantity(std::string_view text, std::string_view to);
/// Parse "1 1 2 bar" or "1 bar 2 bar" into the unit `to`: numbers without a unit take the next one.
[[nodiscard]] std::vector<double> parse_quantities(std::string_view text, std::string_view to);
/// Unit names of the same dimension, the most usual first (for messages and the reference page).
[[nodiscard]] std::vector<std::string> compatible_units(std::string_view unit);
/// Name of the dimension of a unit: "time", "energy"; "quantity in <unit>" if it has no name.
[[nodiscard]] std::string dimension_name(std::string_view unit);

}  // namespace quintet
