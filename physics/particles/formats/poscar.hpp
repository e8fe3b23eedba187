#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// Options for what a POSCAR leaves open.
struct PoscarOptions {
  std::vector<std::string> type_names = {};          ///< of files that do not name their species
  std::optional<std::array<bool, 3>> periodic = {};  ///< absent: all directions, as VASP has it
};

/// Read VASP's POSCAR or CONTCAR: title, scale (negative: the volume), rows a b c, species, counts, Direct or
/// Cartesian positions. Flags of "Selective dynamics" are kept (`held`), Cartesian velocities are read
/// (angstrom/fs; all 0: none); velocities of the lattice and the predictor-corrector block stand in `reading`
/// as not used. VASP 4 files without species need `type_names`. Source: VASP manual, POSCAR. Throws
/// InputError with file:line, also for direct velocities, whose time step the file need not say.
[[nodiscard]] Configuration read_poscar(const std::string& path, const PoscarOptions& options = {});

}  // namespace quintet
