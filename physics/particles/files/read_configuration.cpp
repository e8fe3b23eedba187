#include "physics/particles/files/read_configuration.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/ranges.h>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/atoms/atom_parameters.hpp"
#include "physics/particles/files/deepmd_system.hpp"
#include "physics/particles/files/h5md.hpp"
#include "physics/particles/formats/cif.hpp"
#include "physics/particles/formats/extended_xyz.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "physics/particles/formats/lammps/lammps_dump.hpp"
#include "physics/particles/formats/poscar.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/vasp_output.hpp"

namespace quintet {

namespace {

enum class Format {
  extended_xyz,
  lammps_data,
  lammps_dump,
  deepmd,
  hdf5,
  poscar,
  outcar,
  xdatcar,
  vasprun,
  cif
};

constexpr const char* readable =
    "extended XYZ (.xyz, .extxyz), LAMMPS data (.data, .lmp, .lammps) and dumps (.dump, .lammpstrj), DeePMD "
    "folders (with type.raw), H5MD trajectories of dpmd (.h5, .h5md), VASP's POSCAR (.vasp), OUTCAR, XDATCAR "
    "and vasprun.xml, and CIF (.cif)";

std::optional<Format> format_of_name(const std::filesystem::path& path) {
  const std::string name = path.filename().string(), ending = path.extension().string();
  const auto is = [&](std::initializer_list<const char*> endings) {
    return std::find(endings.begin(), endings.end(), ending) != endings.end();
  };
  if (is({".xyz", ".extxyz"})) return Format::extended_xyz;
  if (is({".data", ".lmp", ".lammps"})) return Format::lammps_data;
  if (is({".h5", ".hdf5", ".h5md"})) return Format::hdf5;
  if (is({".dump", ".lammpstrj"}) || name.starts_with("dump.")) return Format::lammps_dump;
  if (is({".cif"})) return Format::cif;
  if (is({".xml"})) return Format::vasprun;
  if (is({".outcar"}) || name.starts_with("OUTCAR")) return Format::outcar;
  if (is({".xdatcar"}) || name.starts_with("XDATCAR")) return Format::xdatcar;
  if (is({".vasp", ".poscar"}) || name.starts_with("POSCAR") || name.starts_with("CONTCAR"))
    return Format::poscar;
  return {};
}

bool has_hdf5_signature(const std::string& path) {
  auto stream = open_input_file(path);
  char bytes[8] = {};
  stream.read(bytes, sizeof(bytes));
  return stream.gcount() == 8 && std::string_view(bytes, 8) == std::string_view("\x89HDF\r\n\x1a\n", 8);
}

/// By the first line that is not blank: one integer begins an XYZ file.
std::optional<Format> format_of_first_line(const std::string& line) {
  const auto tokens = text::split(line);
  if (tokens.size() == 1 && text::is_integer(tokens[0])) return Format::extended_xyz;
  if (line.starts_with("ITEM: ")) return Format::lammps_dump;
  if (tokens[0].starts_with("vasp.")) return Format::outcar;
  if (tokens[0] == "<?xml" || tokens[0] == "<modeling>") return Format::vasprun;
  return {};
}

/// "N atoms" is in the head of every LAMMPS data file, "Direct configuration=" in every XDATCAR.
std::optional<Format> format_of_content(const std::string& path) {
  if (has_hdf5_signature(path)) return Format::hdf5;
  text::LineReader reader(path);
  for (int line = 0; line < 50 && reader.next_filled(); ++line) {
    const auto tokens = text::split(reader.line());
    if (line == 0)
      if (const auto format = format_of_first_line(reader.line())) return format;
    if (tokens[0].starts_with("data_")) return Format::cif;
    if (tokens.size() >= 2 && tokens[0] == "Direct" && tokens[1].starts_with("configuration="))
      return Format::xdatcar;
    if (tokens.size() >= 2 && text::is_integer(tokens[0]) && tokens[1] == "atoms") return Format::lammps_data;
  }
  return {};
}

Format format_of(const std::string& path) {
  namespace fs = std::filesystem;
  QUINTET_CHECK(fs::exists(path), "cannot read {}: there is no such file or folder", path);
  if (fs::is_directory(path)) {
    QUINTET_CHECK(fs::exists(path + "/type.raw"),
                  "cannot read the folder {}: it has no type.raw. What can be read: {}", path, readable);
    return Format::deepmd;
  }
  auto format = format_of_name(path);
  if (!format) format = format_of_content(path);
  QUINTET_CHECK(format,
                "cannot read {}: neither its name nor its content is of a known format. What can be read: {}",
                path, readable);
  return *format;
}

std::vector<Configuration> read_deepmd(const std::string& path, const ReadOptions& options,
                                       std::optional<std::int64_t> frame) {
  const DeepmdSystem system(path, options.type_names, options.n_atom_parameters);
  if (!frame) return system.frames();
  return {system.frame(*frame < 0 ? system.n_frames() + *frame : *frame)};
}

void only_frame(const std::string& path, std::optional<std::int64_t> frame) {
  QUINTET_CHECK(!frame || *frame == 0 || *frame == -1,
                "{}: there is no frame {}, files of this format hold one", path, *frame);
}

}  // namespace

namespace {

// One row a format; those with one frame refuse to be asked for another.
std::vector<Configuration> read_format(Format format, const std::string& path, const ReadOptions& options,
                                       std::optional<std::int64_t> frame) {
  switch (format) {
    case Format::extended_xyz:
      return read_extended_xyz(path, frame, {options.labels, options.periodic, options.n_atom_parameters});
    case Format::deepmd:
      return read_deepmd(path, options, frame);
    case Format::hdf5:
      return read_h5md(path, frame);
    case Format::lammps_data:
      only_frame(path, frame);
      return {read_lammps_data(path, {options.type_names, options.periodic, options.atom_style})};
    case Format::poscar:
      only_frame(path, frame);
      return {read_poscar(path, {options.type_names, options.periodic})};
    case Format::lammps_dump:
      return read_lammps_dump(
          path, frame, {options.type_names, options.periodic, options.labels.use, options.names_by_number});
    case Format::outcar:
      return read_outcar(path, frame, {options.type_names, options.periodic, options.labels.use});
    case Format::vasprun:
      return read_vasprun(path, frame, {options.type_names, options.periodic, options.labels.use});
    case Format::xdatcar:
      return read_xdatcar(path, frame, {options.type_names, options.periodic, options.labels.use});
    case Format::cif:
      return read_cif(path, frame, {options.periodic});
  }
  throw InternalError("a format without a reader");
}

}  // namespace

std::optional<std::string> configuration_format(const std::string& path) {
  namespace fs = std::filesystem;
  if (!fs::exists(path)) return {};
  std::optional<Format> format;
  if (!fs::is_directory(path)) {
    format = format_of_name(path);
    if (!format) format = format_of_content(path);
  } else if (fs::exists(path + "/type.raw")) {
    format = Format::deepmd;
  }
  if (!format) return {};
  switch (*format) {
    case Format::extended_xyz:
      return "extended XYZ";
    case Format::lammps_data:
      return "LAMMPS data";
    case Format::lammps_dump:
      return "LAMMPS dump";
    case Format::deepmd:
      return "DeePMD system";
    case Format::hdf5:
      return "HDF5";
    case Format::poscar:
      return "VASP POSCAR";
    case Format::outcar:
      return "VASP OUTCAR";
    case Format::xdatcar:
      return "VASP XDATCAR";
    case Format::vasprun:
      return "VASP vasprun.xml";
    case Format::cif:
      return "CIF";
  }
  return {};
}

std::vector<Configuration> read_configurations(const std::string& path, const ReadOptions& options) {
  const Format format = format_of(path);
  std::optional<std::int64_t> frame;
  if (!options.all_frames) frame = options.frame.value_or(format == Format::hdf5 ? -1 : 0);
  auto frames = read_format(format, path, options, frame);
  constexpr std::array names_atoms_itself{Format::extended_xyz, Format::hdf5,    Format::lammps_dump,
                                          Format::outcar,       Format::vasprun, Format::cif};
  const bool names_atoms =
      std::find(names_atoms_itself.begin(), names_atoms_itself.end(), format) != names_atoms_itself.end();
  for (auto& configuration : frames) {
    take_atom_parameters(configuration, options.n_atom_parameters, path);
    if (names_atoms) check_given_names(path, configuration, options.type_names);
    // A trajectory of ours holds the masses that its run was given.
    if (format != Format::hdf5 && options.masses_matter) check_masses(path, configuration, options.masses);
    set_masses(configuration, options.masses);
    const auto& periodic = configuration.box.periodic();
    QUINTET_CHECK(
        !options.periodic || *options.periodic == periodic,
        "{}: its cell is periodic in x y z: {}, but periodic is given as {}; leave it out, the file says "
        "it itself",
        path, fmt::join(periodic, " "), fmt::join(*options.periodic, " "));
  }
  return frames;
}

void tell_reading(const std::string& path, std::span<const Configuration> frames) {
  Reading all;
  for (const auto& frame : frames) all.add(frame.reading);
  if (!all.empty()) log::info("{}: {}", path, all.text());
}

Configuration read_configuration(const std::string& path, const ReadOptions& options) {
  QUINTET_CHECK(!options.all_frames, "{}: one frame was expected, but all frames are asked for", path);
  return std::move(read_configurations(path, options).front());
}

}  // namespace quintet
