#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "io/files/reading.hpp"

namespace quintet {

/// Columns of an atom style: id, then these, then x y z and perhaps three image flags.
struct LammpsAtomStyle {
  std::string name;
  int type, position;  ///< columns of the type and of x
  [[nodiscard]] std::size_t n_columns() const { return position + 3; }
};

/// A line of a section without its comment, and that comment.
struct LammpsDataRow {
  std::string text, comment, where;
};

/// The style of that name. Throws InputError at `where` for one that is not read.
[[nodiscard]] const LammpsAtomStyle& lammps_atom_style(const std::string& name, const std::string& where);

/// The style that the word behind `Atoms #` names, else the one that the columns of the rows tell, which
/// `reading` then says. Throws InputError for units other than metal, for styles that are not read, and for
/// columns that fit none or two.
[[nodiscard]] const LammpsAtomStyle& lammps_atom_style(const std::string& hint,
                                                       const std::vector<LammpsDataRow>& rows,
                                                       const std::string& path, Reading& reading);

}  // namespace quintet
