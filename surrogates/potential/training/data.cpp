#include "surrogates/potential/training/data.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>

#include <fmt/ranges.h>

#include "io/files/matching_files.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/files/deepmd_system.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "surrogates/potential/training/data_checks.hpp"

namespace quintet::potential {

namespace fs = std::filesystem;

namespace {

/// Files and folders of a pattern. "data/*.h5#/group" keeps its group.
std::vector<std::string> matches(const std::string& pattern) {
  const auto hash = pattern.rfind('#');
  if (hash == std::string::npos || fs::exists(pattern)) return matching_files(pattern);
  auto paths = matching_files(pattern.substr(0, hash));
  for (auto& path : paths) path += pattern.substr(hash);
  return paths;
}

bool is_trajectory(const std::string& path) {
  return path.find('#') == std::string::npos && hdf5::File::open(Comm::self(), path).root().has("h5md");
}

/// Numbers the types by name: those of the model, or all that are met.
class TypeMap {
 public:
  TypeMap(std::vector<std::string> names, bool may_grow)
      : names_(std::move(names)), grows_(may_grow || names_.empty()) {
    auto sorted = names_;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    QUINTET_CHECK(twice == sorted.end(), "type_map names {} twice: [{}]", *twice, fmt::join(names_, ", "));
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The model's types of the types of a configuration; only types that atoms have need a name there. -1:
  /// none has it.
  [[nodiscard]] std::vector<int> places(const Configuration& c, const std::string& where) {
    std::vector<bool> used(c.type_names.size(), false);
    for (const int t : c.types) used[t] = true;
    std::vector<int> places(used.size(), -1);
    for (std::size_t t = 0; t < used.size(); ++t)
      if (used[t]) places[t] = place(c.type_names[t], where);
    return places;
  }

 private:
  int place(const std::string& name, const std::string& where) {
    auto found = std::find(names_.begin(), names_.end(), name);
    QUINTET_CHECK(found != names_.end() || grows_,
                  "{}: has atoms of type {}, which the model's type_map [{}] lacks", where, name,
                  fmt::join(names_, ", "));
    if (found == names_.end()) found = names_.insert(found, name);
    return found - names_.begin();
  }
  std::vector<std::string> names_;
  bool grows_;
};

/// "H64 O32".
std::string formula(const Configuration& c, const std::vector<std::string>& names) {
  std::map<int, int> count;
  for (const int t : c.types) ++count[t];
  std::vector<std::string> parts;
  for (const auto& [t, n] : count) parts.push_back(names[t] + std::to_string(n));
  return fmt::format("{}", fmt::join(parts, " "));
}

template <class T>
void permute(std::vector<T>& values, const std::vector<std::size_t>& order) {
  if (values.empty()) return;
  std::vector<T> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(values[i]);
  values = std::move(sorted);
}

void sort_by_type(Configuration& c) {
  std::vector<std::size_t> order(c.n_atoms());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return c.types[a] < c.types[b]; });
  std::vector<std::size_t> numbers;
  for (const std::size_t i : order)
    for (int k = 0; k < c.n_parameters(); ++k) numbers.push_back(i * c.n_parameters() + k);
  permute(c.parameters, numbers);
  permute(c.types, order);
  permute(c.positions, order);
  permute(c.forces, order);
}

/// Give the frames of a system one order of atoms: by type, unless all frames agree already.
void align(LabelledSystem& system) {
  const auto& types = system.frames.front().types;
  const bool agree = std::all_of(system.frames.begin(), system.frames.end(),
                                 [&](const Configuration& c) { return c.types == types; });
  if (!agree) std::for_each(system.frames.begin(), system.frames.end(), sort_by_type);
}

/// Frames of a file by composition, in order of appearance.
void append_frames(std::vector<Configuration> frames, const std::string& path, TypeMap& type_map,
                   std::vector<LabelledSystem>& systems) {
  std::map<std::vector<int>, std::size_t> place;  // of a composition: its types, sorted
  const std::size_t first = systems.size();
  for (std::size_t f = 0; f < frames.size(); ++f) {
    auto& frame = frames[f];
    const auto places = type_map.places(frame, fmt::format("{}: frame {}", path, f));
    for (int& type : frame.types) type = places[type];
    frame.velocities = {};
    frame.ids = {};
    frame.masses = {};
    frame.held = {};
    frame.reading = {};
    auto sorted = frame.types;
    std::sort(sorted.begin(), sorted.end());
    const auto [found, is_new] = place.try_emplace(std::move(sorted), systems.size());
    if (is_new) systems.push_back({path, {}});
    systems[found->second].frames.push_back(std::move(frame));
  }
  for (std::size_t s = first; s < systems.size(); ++s) {
    align(systems[s]);
    if (place.size() > 1)
      systems[s].name += " (" + formula(systems[s].frames.front(), type_map.names()) + ")";
  }
}

/// A DeePMD system; one of mixed type is split by composition, as files of frames are.
void append_deepmd(const std::string& path, const DataOptions& wanted, TypeMap& type_map,
                   std::vector<LabelledSystem>& systems) {
  const bool named = DeepmdStore::open(path)->has("type_map.raw");
  // Names in the order in which other systems happened to bring them number nothing.
  QUINTET_CHECK(named || (wanted.types_in_order && !wanted.type_map.empty()),
                "{}: there is no type_map.raw; give the model's type_map, whose names then stand for types "
                "0, 1, ...",
                path);
  const DeepmdSystem deepmd(path, named ? std::vector<std::string>() : wanted.type_map,
                            wanted.n_atom_parameters);
  if (deepmd.mixed_type()) {
    append_frames(deepmd.frames(), path, type_map, systems);
    return;
  }
  LabelledSystem system{path, deepmd.frames()};
  tell_reading(path, system.frames);
  for (auto& frame : system.frames) frame.reading = {};
  const auto places = type_map.places(system.frames.front(), path);
  for (auto& frame : system.frames)
    for (int& type : frame.types) type = places[type];
  systems.push_back(std::move(system));
}

void read_path(const std::string& path, const DataOptions& wanted, TypeMap& type_map,
               std::vector<LabelledSystem>& systems) {
  const bool folder = fs::is_directory(path), hdf5 = !folder && is_deepmd_hdf5(path);
  if (folder || (hdf5 && !is_trajectory(path))) {
    for (const auto& system : find_deepmd_systems(path)) {
      give_up_if_asked(wanted.interrupt);
      append_deepmd(system, wanted, type_map, systems);
    }
    return;
  }
  give_up_if_asked(wanted.interrupt);
  ReadOptions options;
  options.all_frames = true;
  options.masses_matter = false;
  options.labels = wanted.labels;
  options.n_atom_parameters = wanted.n_atom_parameters;
  if (wanted.types_in_order) options.names_by_number = wanted.type_map;
  auto frames = read_configurations(path, options);
  tell_reading(path, frames);
  append_frames(std::move(frames), path, type_map, systems);
}

}  // namespace

std::vector<LabelledSystem> read_systems(const std::vector<std::string>& paths, DataOptions& options) {
  QUINTET_CHECK(!paths.empty(), "no data are given; expected at least one system");
  TypeMap type_map(options.type_map, options.may_grow);
  std::vector<LabelledSystem> systems;
  std::vector<std::string> refused;
  for (const auto& pattern : paths)
    for (const auto& path : matches(pattern)) try {
        read_path(path, options, type_map, systems);
      } catch (const InputError& error) {
        refused.emplace_back(error.what());
      }
  if (options.refused != nullptr)
    *options.refused = refused;
  else
    QUINTET_CHECK(refused.empty(), "{}", fmt::join(refused, "\n"));
  QUINTET_CHECK(!systems.empty(), "no system could be read: {}", fmt::join(refused, "\n"));
  options.type_map = type_map.names();
  for (auto& system : systems)
    for (auto& frame : system.frames) frame.type_names = options.type_map;
  give_up_if_asked(options.interrupt);
  leave_out_near_pairs(systems, options.min_pair_distance);
  give_up_if_asked(options.interrupt);
  check_labels(systems, options);
  return systems;
}

}  // namespace quintet::potential
