#pragma once

#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// Read VASP's POSCAR or CONTCAR: title, scale (negative: the volume), rows a b c, species, counts, Direct or
/// Cartesian positions; "Selective dynamics" is passed over, velocities are not read. VASP 4 files without
/// species need `type_names`. Source: VASP manual, POSCAR. Throws InputError with file:line.
[[nodiscard]] Configuration read_poscar(const std::string& path,
                                        const std::vector<std::string>& type_names = {});

}  // namespace quintet
