#include "physics/particles/files/deepmd_system.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <span>
#include <string_view>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"
#include "physics/particles/formats/read_configuration_types.hpp"

namespace quintet {

namespace {

/// "coord.npy" of "set.000/coord.npy".
std::string file_of(const std::string& array) { return array.substr(array.rfind('/') + 1); }

/// "(80, 570)", "(80,)", as NumPy writes it.
std::string shape_text(const std::vector<std::uint64_t>& shape) {
  return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

/// True if the rows of an array are its frames, false if it has no axis of frames: (frames, columns) or
/// (frames, columns / 3, 3), else (columns) or (columns / 3, 3). `why` says where columns come
/// from.
bool has_frames(const DeepmdStore& store, const std::string& set, const char* name, std::uint64_t columns,
                const std::string& why) {
  const std::string array = store.array(set, name);
  const auto shape = store.shape(array);
  const auto is_triples = [&](std::span<const std::uint64_t> extents) {  // one atom or row of a cell each
    return extents.size() == 2 && extents[1] == 3 && 3 * extents[0] == columns;
  };
  const std::span<const std::uint64_t> all(shape);
  if (shape.size() == 2 && shape[1] == columns) return true;
  if (shape.size() == 1 && columns == 1) return true;
  if (shape.size() == 3 && is_triples(all.subspan(1))) return true;
  QUINTET_CHECK((shape.size() == 1 && shape[0] == columns) || is_triples(all),
                "{}: {} has shape {}, expected (frames, {}){}", store.place(array), file_of(array),
                shape_text(shape), columns, why);
  return false;
}

std::vector<Vec3> rows_of_three(std::span<const double> values) {
  std::vector<Vec3> rows(values.size() / 3);
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / 3][i % 3] = values[i];
  return rows;
}

Mat3 matrix(std::span<const double> values) {
  Mat3 result;
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

/// " (atom 3, y)" for arrays of three columns an atom.
std::string atom_text(std::uint64_t columns, std::uint64_t column, std::size_t n_atoms) {
  return columns == 3 * n_atoms ? fmt::format(" (atom {}, {})", column / 3, "xyz"[column % 3])
                                : std::string();
}

}  // namespace

DeepmdSystem::DeepmdSystem(const std::string& path, std::vector<std::string> type_names, int n_parameters)
    : path_(path),
      store_(DeepmdStore::open(path)),
      type_names_(std::move(type_names)),
      n_parameters_(n_parameters) {
  periodic_ = !store_->has("nopbc");
  read_types();
  const auto sets = store_->sets();
  QUINTET_CHECK(!sets.empty(), "{}: the folder has no set.* folder with coord.npy, and no coord.raw", path_);
  for (const auto& name : store_->beside()) reading_.leave(name + " beside the sets");
  if (n_parameters_ == any_number) n_parameters_ = parameters_in(sets.front());
  for (const auto& set : sets) add_set(set);
  QUINTET_CHECK(n_frames_ > 0, "{}: its sets hold no frame", path_);
}

void DeepmdSystem::read_types() {
  const bool named = store_->has("type_map.raw");
  QUINTET_CHECK(named || !type_names_.empty(),
                "{}: there is no type_map.raw; give types, the names of types 0, 1, ...", path_);
  if (named)
    type_names_ = agreed_names(store_->place("type_map.raw"), store_->words("type_map.raw"), type_names_);
  const std::string path = store_->place("type.raw");
  for (const std::string& word : store_->words("type.raw")) {
    const std::int64_t type = text::to_integer(word, path, fmt::format("the type of atom {}", types_.size()));
    QUINTET_CHECK(type >= 0 && type < std::ssize(type_names_),
                  "{}: the type of atom {} is {}, expected 0 to {} ({} names: {})", path, types_.size(), type,
                  std::ssize(type_names_) - 1, type_names_.size(), fmt::join(type_names_, ", "));
    types_.push_back(type);
  }
  QUINTET_CHECK(!types_.empty(), "{}: the file lists no atoms", path);
}

// Arrays of a set are held against the coordinates: DeePMD-kit would fail on them much later, or not at all.
void DeepmdSystem::add_set(const std::string& name) {
  const bool mixed = store_->has(store_->array(name, "real_atom_types"));
  QUINTET_CHECK(
      sets_.empty() || mixed == mixed_type_,
      "{}: {} real_atom_types.npy, unlike the sets before it; all sets of a system must be of mixed type, or "
      "none",
      store_->place(name), mixed ? "has" : "lacks");
  mixed_type_ = mixed;
  const std::uint64_t n = 3 * types_.size();
  const std::string of_atoms = fmt::format(" for {} atoms in type.raw", types_.size());
  QUINTET_CHECK(store_->has(store_->array(name, "coord")), "{}: there is no coord.npy", store_->place(name));
  Set set{name, 1, false, false, false, {}};
  if (has_frames(*store_, name, "coord", n, of_atoms))
    set.n_frames = store_->shape(store_->array(name, "coord"))[0];
  else
    set.unframed.insert("coord");
  const auto has = [&](const char* array, std::uint64_t columns, const std::string& why) {
    if (!store_->has(store_->array(name, array))) return false;
    const bool by_frame = has_frames(*store_, name, array, columns, why);
    const auto there = by_frame ? store_->shape(store_->array(name, array))[0] : 1;
    const std::uint64_t wanted = set.n_frames;
    const bool serves_all = there == 1 && std::string_view(array) == "box";
    QUINTET_CHECK(there == wanted || serves_all, "{}: {} has shape {}, but {} beside it has {} frames",
                  store_->place(store_->array(name, array)), file_of(store_->array(name, array)),
                  shape_text(store_->shape(store_->array(name, array))),
                  file_of(store_->array(name, "coord")), set.n_frames);
    if (serves_all && wanted > 1) reading_.assume("one box for all frames");
    if (!by_frame || serves_all) set.unframed.insert(array);
    return true;
  };
  has("real_atom_types", types_.size(), of_atoms);
  QUINTET_CHECK(!periodic_ || has("box", 9, ""),
                "{}: there is no {}; if the boundaries are open, put an empty file nopbc into {}",
                store_->place(name), file_of(store_->array(name, "box")), path_);
  set.has_energy = has("energy", 1, "");
  set.has_force = has("force", n, of_atoms);
  set.has_virial = has("virial", 9, "");
  if (n_parameters_ > 0) require_parameters(set);
  std::vector<std::string> used{"coord", "box", "energy", "force", "virial", "real_atom_types"};
  if (n_parameters_ > 0) used.emplace_back("aparam");
  for (const auto& array : store_->arrays(name)) {
    const std::string file = file_of(array);
    const bool is_used = std::find(used.begin(), used.end(), file.substr(0, file.rfind('.'))) != used.end();
    if (!is_used || (file.starts_with("box.") && !periodic_)) reading_.leave(file);
  }
  n_frames_ += set.n_frames;
  sets_.push_back(std::move(set));
}

/// How many numbers of each atom a set has; 0: none. An array of another size is refused as of one number.
int DeepmdSystem::parameters_in(const std::string& set) const {
  const std::string array = store_->array(set, "aparam");
  if (!store_->has(array)) return 0;
  const auto shape = store_->shape(array);
  const auto row = std::accumulate(shape.begin() + std::min<std::ptrdiff_t>(1, std::ssize(shape)),
                                   shape.end(), std::uint64_t{1}, std::multiplies<>());
  return std::max<int>(1, row / types_.size());
}

/// Numbers of atoms may be an array of any shape whose rows are the frames.
void DeepmdSystem::require_parameters(const Set& set) const {
  const std::string array = store_->array(set.name, "aparam");
  QUINTET_CHECK(store_->has(array), "{}: there is no aparam.npy, the {} of each atom that the model reads",
                store_->place(set.name), counted(n_parameters_, "number"));
  const auto shape = store_->shape(array);
  const auto numbers = std::accumulate(shape.begin(), shape.end(), std::uint64_t{1}, std::multiplies<>());
  const std::uint64_t frames = set.n_frames, columns = types_.size() * n_parameters_;
  QUINTET_CHECK(!shape.empty() && shape[0] == frames && numbers == frames * columns,
                "{}: {} has shape {}, expected ({}, {}) for {} of each of {}", store_->place(array),
                file_of(array), shape_text(shape), frames, columns, counted(n_parameters_, "number"),
                counted(types_.size(), "atom"));
}

std::vector<double> DeepmdSystem::rows(const Set& set, const char* name, std::int64_t first,
                                       std::int64_t count, bool wanted) const {
  if (!wanted) return {};
  const std::string array = store_->array(set.name, name);
  const bool one = set.unframed.contains(name);
  const std::uint64_t begin = one ? 0 : static_cast<std::uint64_t>(first);
  auto values = store_->rows(array, begin, one ? store_->shape(array)[0] : static_cast<std::uint64_t>(count));
  const std::uint64_t columns = one ? values.size() : values.size() / count;
  for (std::size_t i = 0; i < values.size(); ++i)
    QUINTET_CHECK(std::isfinite(values[i]), "{}: entry [{}, {}] is {}{}, a finite number was expected",
                  store_->place(array), begin + i / columns, i % columns, values[i],
                  atom_text(columns, i % columns, types_.size()));
  if (one)
    for (const auto row = values; values.size() < columns * count;)
      values.insert(values.end(), row.begin(), row.end());
  return values;
}

void DeepmdSystem::set_real_types(const Set& set, std::int64_t index, std::span<const double> real,
                                  Configuration& frame) const {
  constexpr double virtual_atom = -1;
  const double n_names = type_names_.size();
  const std::size_t n = n_parameters_;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const double type = real[i];
    QUINTET_CHECK(type == std::floor(type) && type >= virtual_atom && type < n_names,
                  "{}: entry [{}, {}] is {}, expected -1 (no atom) to {} ({} names: {})",
                  store_->place(store_->array(set.name, "real_atom_types")), index, i, type,
                  static_cast<std::int64_t>(n_names) - 1, type_names_.size(), fmt::join(type_names_, ", "));
    if (type == virtual_atom) continue;
    frame.types[kept] = type;
    frame.positions[kept] = frame.positions[i];
    if (!frame.forces.empty()) frame.forces[kept] = frame.forces[i];
    std::copy_n(frame.parameters.begin() + i * n, n, frame.parameters.begin() + kept * n);
    ++kept;
  }
  QUINTET_CHECK(kept > 0, "{}: row {} holds no atom, -1 alone",
                store_->place(store_->array(set.name, "real_atom_types")), index);
  frame.types.resize(kept);
  frame.positions.resize(kept);
  if (!frame.forces.empty()) frame.forces.resize(kept);
  frame.parameters.resize(kept * n);
}

void DeepmdSystem::append(const Set& set, std::int64_t first, std::int64_t count,
                          std::vector<Configuration>& frames) const {
  const auto coordinates = rows(set, "coord", first, count, true),
             boxes = rows(set, "box", first, count, periodic_),
             energies = rows(set, "energy", first, count, set.has_energy),
             forces = rows(set, "force", first, count, set.has_force),
             virials = rows(set, "virial", first, count, set.has_virial),
             parameters = rows(set, "aparam", first, count, n_parameters_ > 0),
             real_types = rows(set, "real_atom_types", first, count, mixed_type_);
  const std::size_t n = 3 * types_.size();
  for (std::int64_t f = 0; f < count; ++f) {
    const auto row = [&](const std::vector<double>& values, std::size_t columns) {
      return std::span<const double>(values).subspan(std::int64_t{f} * columns, columns);
    };
    Configuration& frame = frames.emplace_back();
    frame.type_names = type_names_;
    frame.types = types_;
    frame.positions = rows_of_three(row(coordinates, n));
    if (set.has_energy) frame.energy = energies[f];
    if (set.has_force) frame.forces = rows_of_three(row(forces, n));
    const auto own = row(parameters, types_.size() * n_parameters_);
    frame.parameters.assign(own.begin(), own.end());
    if (set.has_virial) frame.virial = matrix(row(virials, 9));
    if (mixed_type_) set_real_types(set, first + f, row(real_types, types_.size()), frame);
    frame.box = box_from_file(
        periodic_ ? matrix(row(boxes, 9)) : Mat3{}, {periodic_, periodic_, periodic_}, {0, 0, 0},
        frame.positions,
        fmt::format("{}: box of frame {}", store_->place(store_->array(set.name, "box")), first + f),
        &frame.reading);
    frame.reading.add(reading_);
  }
}

Configuration DeepmdSystem::frame(std::int64_t index) const {
  QUINTET_CHECK(index >= 0 && index < n_frames_, "{}: there is no frame {}, the folder has {} (0 to {})",
                path_, index, n_frames_, n_frames_ - 1);
  auto set = sets_.begin();
  for (; index >= set->n_frames; ++set) index -= set->n_frames;
  std::vector<Configuration> frames;
  append(*set, index, 1, frames);
  return std::move(frames.front());
}

std::vector<Configuration> DeepmdSystem::frames() const {
  constexpr std::int64_t numbers = 1 << 20;  // of each array at a time: the frames' own memory is what counts
  const std::int64_t most = std::max<std::int64_t>(1, numbers / (3 * n_atoms()));
  std::vector<Configuration> frames;
  frames.reserve(n_frames_);
  for (const auto& set : sets_)
    for (std::int64_t first = 0; first < set.n_frames; first += most)
      append(set, first, std::min(most, set.n_frames - first), frames);
  return frames;
}

}  // namespace quintet
