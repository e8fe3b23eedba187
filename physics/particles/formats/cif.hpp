#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

/// Options for what a CIF leaves open.
struct CifOptions {
  std::optional<std::array<bool, 3>> periodic = {};  ///< absent: all directions, as a crystal is
};

/// Read the crystals of a CIF, one a data block that has atom sites: all atoms of the cell.
///
/// The cell comes from lengths and angles (a along x, b in the plane of x and y). The operations of symmetry
/// (`_space_group_symop_operation_xyz`, `_symmetry_equiv_pos_as_xyz`) are applied to each site; images that
/// fall together (special positions, nearer than 0.1 angstrom) are one atom at their mean. Without operations
/// the file must be of P 1, or name no group (said). Elements come from `_atom_site_type_symbol` (charges are
/// left off), else from the letters of the label. A site of occupancy below 1 is refused by name, as are
/// positions that are unknown ('?') and different sites at one place. Standard uncertainties, "0.25(3)", are
/// left off. A formula that the atoms do not have is told. Source: IUCr, core CIF dictionary. Throws
/// InputError with file:line.
/// @param frame data block with atoms, from 0, negative ones count from the end; absent: all
[[nodiscard]] std::vector<Configuration> read_cif(const std::string& path,
                                                  std::optional<std::int64_t> frame = 0,
                                                  const CifOptions& options = {});

}  // namespace quintet
