#include "physics/particles/deepmd_system.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/npy.hpp"
#include "physics/particles/read_configuration_box.hpp"
#include "physics/particles/read_configuration_text.hpp"

namespace quintet {

namespace fs = std::filesystem;

namespace {

/// All words of a text file.
std::vector<std::string> words_of(const std::string& path) {
  std::vector<std::string> words;
  text::LineReader reader(path);
  while (reader.next_filled())
    for (const auto word : text::split(reader.line())) words.emplace_back(word);
  return words;
}

std::string array_path(const std::string& folder, const char* name) { return folder + "/" + name + ".npy"; }

/// Check that an array is (n_frames, columns); (n_frames) will do for one column. `why` says where columns
/// come from.
void check_shape(const NpyFile& array, const char* name, std::int64_t n_frames, std::uint64_t columns,
                 const std::string& why) {
  const auto& shape = array.shape();
  const bool fits = (shape.size() == 2 && shape[1] == columns) || (shape.size() == 1 && columns == 1);
  QUINTET_CHECK(fits, "{}: {}.npy has shape {}, expected (frames, {}){}", array.path(), name,
                array.shape_text(), columns, why);
  QUINTET_CHECK(n_frames < 0 || shape[0] == static_cast<std::uint64_t>(n_frames),
                "{}: {}.npy has shape {}, but coord.npy beside it has {} frames", array.path(), name,
                array.shape_text(), n_frames);
}

std::vector<Vec3> rows_of_three(const std::vector<double>& values) {
  std::vector<Vec3> rows(values.size() / 3);
  for (std::size_t i = 0; i < values.size(); ++i) rows[i / 3][i % 3] = values[i];
  return rows;
}

Mat3 matrix(const std::vector<double>& values) {
  Mat3 result;
  std::copy(values.begin(), values.end(), result.begin());
  return result;
}

}  // namespace

DeepmdSystem::DeepmdSystem(const std::string& folder, std::vector<std::string> type_names)
    : folder_(folder), type_names_(std::move(type_names)) {
  QUINTET_CHECK(fs::is_directory(folder_), "cannot read {}: there is no such folder", folder_);
  periodic_ = !fs::exists(folder_ + "/nopbc");
  read_types();
  std::vector<std::string> sets;
  for (const auto& entry : fs::directory_iterator(folder_))
    if (entry.is_directory() && entry.path().filename().string().starts_with("set."))
      sets.push_back(entry.path().string());
  QUINTET_CHECK(!sets.empty(), "{}: the folder has no set.* folder with coord.npy", folder_);
  std::sort(sets.begin(), sets.end());
  for (const auto& set : sets) add_set(set);
  QUINTET_CHECK(n_frames_ > 0, "{}: its sets hold no frame", folder_);
}

void DeepmdSystem::read_types() {
  const std::string path = folder_ + "/type.raw", map_path = folder_ + "/type_map.raw";
  if (type_names_.empty()) {
    QUINTET_CHECK(fs::exists(map_path),
                  "{}: there is no type_map.raw; give type_names, the names of types 0, 1, ...", folder_);
    type_names_ = words_of(map_path);
  }
  for (const std::string& word : words_of(path)) {
    const std::int64_t type = text::to_integer(word, path, fmt::format("the type of atom {}", types_.size()));
    QUINTET_CHECK(type >= 0 && type < static_cast<std::int64_t>(type_names_.size()),
                  "{}: the type of atom {} is {}, expected 0 to {} ({} names: {})", path, types_.size(), type,
                  static_cast<std::int64_t>(type_names_.size()) - 1, type_names_.size(),
                  fmt::join(type_names_, ", "));
    types_.push_back(static_cast<int>(type));
  }
  QUINTET_CHECK(!types_.empty(), "{}: the file lists no atoms", path);
}

void DeepmdSystem::add_set(const std::string& folder) {
  QUINTET_CHECK(!fs::exists(array_path(folder, "real_atom_types")),
                "{}: folders of mixed type (real_atom_types.npy) are not read; "
                "split the data into one folder a composition (dpdata: System.to('deepmd/npy'))",
                folder);
  const NpyFile coordinates(array_path(folder, "coord"));
  const std::uint64_t n = 3 * types_.size();
  const std::string of_atoms = fmt::format(" for {} atoms in type.raw", types_.size());
  check_shape(coordinates, "coord", -1, n, of_atoms);
  const auto n_frames = static_cast<std::int64_t>(coordinates.shape()[0]);
  const auto has = [&](const char* name, std::uint64_t columns, const std::string& why) {
    if (!fs::exists(array_path(folder, name))) return false;
    check_shape(NpyFile(array_path(folder, name)), name, n_frames, columns, why);
    return true;
  };
  QUINTET_CHECK(!periodic_ || has("box", 9, ""),
                "{}: there is no box.npy; if the boundaries are open, put an empty file nopbc into {}",
                folder, folder_);
  sets_.push_back({folder, n_frames, has("energy", 1, ""), has("force", n, of_atoms), has("virial", 9, "")});
  n_frames_ += n_frames;
}

std::vector<double> DeepmdSystem::row(const Set& set, const char* name, std::int64_t index) const {
  const NpyFile array(array_path(set.folder, name));
  const auto values = array.read_rows<double>(static_cast<std::uint64_t>(index), 1);
  for (std::size_t i = 0; i < values.size(); ++i)
    QUINTET_CHECK(std::isfinite(values[i]), "{}: entry [{}, {}] is {}, a finite number was expected",
                  array.path(), index, i, values[i]);
  return values;
}

Configuration DeepmdSystem::frame(std::int64_t index) const {
  QUINTET_CHECK(index >= 0 && index < n_frames_, "{}: there is no frame {}, the folder has {} (0 to {})",
                folder_, index, n_frames_, n_frames_ - 1);
  auto set = sets_.begin();
  for (; index >= set->n_frames; ++set) index -= set->n_frames;
  Configuration result;
  result.type_names = type_names_;
  result.types = types_;
  result.positions = rows_of_three(row(*set, "coord", index));
  if (set->has_energy) result.energy = row(*set, "energy", index)[0];
  if (set->has_force) result.forces = rows_of_three(row(*set, "force", index));
  if (set->has_virial) result.virial = matrix(row(*set, "virial", index));
  const Mat3 rows = periodic_ ? matrix(row(*set, "box", index)) : Mat3{};
  result.box = box_from_file(rows, {periodic_, periodic_, periodic_}, {0, 0, 0}, result.positions,
                             fmt::format("{}: box of frame {}", array_path(set->folder, "box"), index));
  return result;
}

}  // namespace quintet
