#pragma once

#include <string_view>

namespace quintet {

/// The kind of file that a text is, where it is clearly none of ours: "a LAMMPS input script", "a binary file
/// (HDF5)"; "" if it is not known. Decided by words that begin lines, so that a YAML file is none of them.
[[nodiscard]] std::string_view foreign_kind(std::string_view text);

}  // namespace quintet
