#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// Options for what a LAMMPS data file leaves open.
struct LammpsDataOptions {
  std::vector<std::string> type_names = {};  ///< of types 1, 2, ... that the file does not name
  /// LAMMPS's `boundary` command is not in a data file; absent: all directions.
  std::optional<std::array<bool, 3>> periodic = {};
  std::string atom_style = {};  ///< "" : by the hint "Atoms # full", else guessed by the columns
};

/// Read a LAMMPS data file (units metal: angstrom, ps, eV, amu).
///
/// Atom styles atomic, charge, bond, angle, molecular and full; orthogonal and (restricted) triclinic cells;
/// image flags are folded into the positions; velocities. Charges, molecules, topology and coefficients are
/// not used and named in `reading`, as is what the file does not say: boundaries, a style found by the
/// columns, names found by mass. The names of types come from the section Atom Type Labels, with which
/// `options.type_names` must agree; else from `options.type_names`; else from comments behind the masses
/// ("1 15.999 # O"); else the element whose mass is nearest, within 0.1 amu: not for two types that would be
/// one element, nor for the mass 1, which stands for "none". The word behind "Atoms #" is the atom style if
/// LAMMPS has a style of that name, as `write_data` writes it; a remark otherwise, though not one that names
/// units other than metal. Source of the format: LAMMPS manual, read_data. Throws InputError with file:line;
/// what is not understood (atom styles, general triclinic cells, other units) is named.
[[nodiscard]] Configuration read_lammps_data(const std::string& path, const LammpsDataOptions& options = {});

/// Write a data file of atom style atomic with 17 significant digits. A cell that is not lower triangular (a
/// along x, b in the xy plane), as LAMMPS needs it, is rotated into that form together with positions and
/// velocities; forces and other labels have no place in the format. Throws InputError (a type without a
/// mass), ResourceError.
void write_lammps_data(const std::string& path, const Configuration& configuration);

}  // namespace quintet
