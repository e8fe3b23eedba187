#include <filesystem>
#include <fstream>
#include <map>

#include "apps/dpmd/label/label.hpp"
#include "io/config/tree.hpp"
#include "io/files/output_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

/// An array of float64 in NumPy's format, version 1.0. Source: NumPy's documentation, numpy.lib.format.
void write_npy(const std::string& path, const std::vector<double>& values, std::size_t rows) {
  const std::size_t columns = values.size() / rows;
  std::string header =
      fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  constexpr std::size_t preamble = 10, alignment = 64;
  header.append(alignment - (preamble + header.size() + 1) % alignment, ' ');
  header += '\n';
  std::ofstream file(path, std::ios::binary);
  file.write("\x93NUMPY\x01\x00", 8);
  file.put(static_cast<char>(header.size() & 0xff));
  file.put(static_cast<char>(header.size() >> 8));
  file << header;
  file.write(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  file.close();
  if (!file) throw ResourceError(fmt::format("cannot write {}: is the disk full?", path));
}

std::string names_of(const Configuration& frame) {
  std::string names;
  for (const int type : frame.types) names += frame.type_names[type] + "\n";
  return names;
}

/// "Cu31O2": elements in the order of their names.
std::string formula_of(const Configuration& frame) {
  std::map<std::string, int> counts;
  for (const int type : frame.types) ++counts[frame.type_names[type]];
  std::string text;
  for (const auto& [name, count] : counts) text += fmt::format("{}{}", name, count);
  return text;
}

/// Frames with the same atoms in the same order, boundaries and kinds of label, as a DeePMD folder.
void write_system(const std::string& folder, const std::vector<const Configuration*>& frames) {
  const std::string set = folder + "/set.000";
  fs::create_directories(set);
  const Configuration& first = *frames.front();
  std::string types, names;
  for (const int type : first.types) types += fmt::format("{}\n", type);
  for (const auto& name : first.type_names) names += name + "\n";
  write_text_file(folder + "/type.raw", types);
  write_text_file(folder + "/type_map.raw", names);
  if (!first.box.periodic()[0]) write_text_file(folder + "/nopbc", "");
  std::vector<double> coord, box, energy, force, virial, parameters;
  for (const auto* frame : frames) {
    for (const auto& x : frame->positions) coord.insert(coord.end(), x.begin(), x.end());
    for (const auto& f : frame->forces) force.insert(force.end(), f.begin(), f.end());
    box.insert(box.end(), frame->box.rows().begin(), frame->box.rows().end());
    energy.push_back(*frame->energy);
    parameters.insert(parameters.end(), frame->parameters.begin(), frame->parameters.end());
    if (frame->virial) virial.insert(virial.end(), frame->virial->begin(), frame->virial->end());
  }
  const auto write = [&](const char* name, const std::vector<double>& values) {
    if (!values.empty()) write_npy(fmt::format("{}/{}.npy", set, name), values, frames.size());
  };
  write("coord", coord);
  write("box", box);
  write("energy", energy);
  write("force", force);
  write("virial", virial);
  write("aparam", parameters);
}

}  // namespace

void write_labelled(const std::string& folder, const std::vector<Configuration>& frames) {
  const std::string all = folder + "/labelled.xyz", unfinished = all + ".unfinished";
  bool append = false;
  if (!frames.empty()) make_new_file(unfinished);
  for (const auto& frame : frames) {
    write_extended_xyz(unfinished, frame, {append, {}});
    append = true;
  }
  if (append) fs::rename(unfinished, all);

  std::map<std::string, std::vector<const Configuration*>> systems;
  for (const auto& frame : frames)
    systems[fmt::format("{}{}{} {}", names_of(frame), frame.box.periodic()[0], frame.virial.has_value(),
                        frame.n_parameters())]
        .push_back(&frame);
  fs::remove_all(folder + "/systems");
  std::map<std::string, int> used;
  for (const auto& [key, members] : systems) {
    std::string name = file_name_part(formula_of(*members.front()));
    if (const int n = used[name]++; n > 0) name += fmt::format("_{}", n);
    write_system(fmt::format("{}/systems/{}", folder, name), members);
  }
}

}  // namespace quintet::dpmd
