#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/files/read_configuration_types.hpp"

namespace quintet {

/// What to read of a file, and what its format leaves open.
struct ReadOptions {
  /// From 0, negative ones count from the end. Absent: the first frame, of a trajectory (HDF5) the last.
  std::optional<std::int64_t> frame;
  bool all_frames = false;
  /// Names of the types of files that number them and do not name them (LAMMPS: types 1, 2, ...; DeePMD: 0,
  /// 1,
  /// ...); they must agree with what a file says itself.
  std::vector<std::string> type_names;
  NamedMasses masses;  ///< of types by name; they win over the file's
  bool masses_matter =
      true;  ///< false: a mass that contradicts its name is no reason to refuse labelled data
  std::array<bool, 3> periodic{true, true, true};  ///< for LAMMPS data files, which do not say it
  std::string atom_style;                          ///< of LAMMPS data files; "": found out
};

/// Read frames of whatever holds atoms: by the name's ending, else by the content.
///
/// Extended XYZ (.xyz, .extxyz), LAMMPS data (.data, .lmp, .lammps), DeePMD folders (with type.raw), H5MD
/// trajectories of ours (.h5, .h5md), VASP's POSCAR (POSCAR*, CONTCAR*, .vasp, .poscar). Throws InputError:
/// no such file, a format that is none of these, and what the format's reader says.
[[nodiscard]] std::vector<Configuration> read_configurations(const std::string& path,
                                                             const ReadOptions& options = {});
/// The one frame that the options choose.
[[nodiscard]] Configuration read_configuration(const std::string& path, const ReadOptions& options = {});

}  // namespace quintet
