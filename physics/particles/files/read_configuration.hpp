#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/formats/extended_xyz_labels.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"

namespace quintet {

/// Options: what to read of a file, and what its format leaves open.
struct ReadOptions {
  /// From 0, negative ones count from the end. Absent: the first frame, of a trajectory (HDF5) the last.
  std::optional<std::int64_t> frame;
  bool all_frames = false;
  /// Names of the types of files that number them and do not name them (LAMMPS: types 1, 2, ...; DeePMD: 0,
  /// 1,
  /// ...); they must agree with what a file says itself.
  std::vector<std::string> type_names;
  /// Names of numbered types that neither the file nor `type_names` names: those of the model that learns
  /// from them. Read for LAMMPS dumps, and told.
  std::vector<std::string> names_by_number = {};
  NamedMasses masses;         ///< of types by name; they win over the file's
  bool masses_matter = true;  ///< false: accept labelled data even if a mass contradicts its name
  /// Boundaries of files that do not say them; where a file does, it must be the same.
  std::optional<std::array<bool, 3>> periodic = {};
  /// Numbers of each atom (aparam) that are to be read; 0: they are not; any_number: as many as a file has.
  int n_atom_parameters = 0;
  std::string atom_style;  ///< of LAMMPS data files; "": found out
  LabelSource labels{};
};

/// Read frames of whatever holds atoms: by the name's ending, else by the content.
///
/// Extended XYZ (.xyz, .extxyz), LAMMPS data (.data, .lmp, .lammps) and dumps (dump.*, .dump, .lammpstrj),
/// DeePMD folders (with type.raw), H5MD trajectories of ours (.h5, .h5md), VASP's POSCAR (POSCAR*, CONTCAR*,
/// .vasp, .poscar), OUTCAR (OUTCAR*, .outcar), XDATCAR (XDATCAR*, .xdatcar) and vasprun.xml (.xml), CIF
/// (.cif). Throws InputError for a missing file, any other format, and the errors of the format's reader.
/// What a reader assumed and did not use stands in each frame's `reading`; tell_reading() says it
/// once.
[[nodiscard]] std::vector<Configuration> read_configurations(const std::string& path,
                                                             const ReadOptions& options = {});
/// Format of a file that holds atoms, such as "LAMMPS dump", by name or content; nothing for another file or
/// format. Throws InputError where it cannot be opened.
[[nodiscard]] std::optional<std::string> configuration_format(const std::string& path);
/// The one frame that the options choose.
[[nodiscard]] Configuration read_configuration(const std::string& path, const ReadOptions& options = {});
/// Log what the readers of some frames of one file say, each thing once; nothing if they say nothing.
void tell_reading(const std::string& path, std::span<const Configuration> frames);

}  // namespace quintet
