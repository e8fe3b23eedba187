#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/formats/extended_xyz_labels.hpp"

namespace quintet {

/// Options for what a LAMMPS dump leaves open.
struct LammpsDumpOptions {
  std::vector<std::string> type_names = {};          ///< of types 1, 2, ... that the file does not name
  std::optional<std::array<bool, 3>> periodic = {};  ///< of files without boundary words (pp ff ss)
  LabelSource::Use labels = LabelSource::Use::learn;
  /// Names of types 1, 2, ... where neither the file, by elements or masses, nor `type_names` names them.
  std::vector<std::string> names_by_number = {};
};

/// Read frames of a LAMMPS dump in text (styles atom and custom), each sorted by `id`.
///
/// Columns read: `id`; `element`, `typelabel`, or `type` with `options.type_names` or `mass`; positions
/// `x y z`, else `xu`, `xs`, `xsu` (scaled ones in fractions of the box); `vx vy vz`; `fx fy fz`; `mass`.
/// Boxes are orthogonal, restricted triclinic (from the bounds of the slanted box) or general; of the
/// boundary words p is periodic, f, s and m are open. Units are metal (angstrom, ps, eV) or real (fs,
/// kcal/mol), as ITEM: UNITS says, else as the temperature of the velocities tells. Forces do not count as
/// labels where neither does: refused where labels are learnt from, left out where they are compared. LAMMPS
/// calls every atom C where nobody named its elements: several types that are all C need `type_names` or
/// `names_by_number`. Source of the format: LAMMPS manual, dump, dump_modify. Throws InputError with
/// file:line.
/// @param frame from 0, negative ones count from the end; absent: all frames
[[nodiscard]] std::vector<Configuration> read_lammps_dump(const std::string& path,
                                                          std::optional<std::int64_t> frame = 0,
                                                          const LammpsDumpOptions& options = {});

}  // namespace quintet
