#include "io/fields/dedalus_sets.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet::field_formats {
namespace {

namespace fs = std::filesystem;

/// "snapshots" and 3 of "snapshots_s3", where `letter` is s.
struct Numbered {
  std::string name;
  int number;
};

std::optional<Numbered> numbered(const std::string& stem, char letter) {
  const auto at = stem.rfind(fmt::format("_{}", letter));
  if (at == std::string::npos || at == 0) return std::nullopt;
  int number = 0;
  const char *begin = stem.data() + at + 2, *end = stem.data() + stem.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (begin == end || error != std::errc() || stop != end || number < 0) return std::nullopt;
  return Numbered{stem.substr(0, at), number};
}

/// The process files of a set's folder, by process.
std::vector<std::string> process_files(const fs::path& folder) {
  std::map<int, std::string> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.path().extension() != ".h5") continue;
    const auto part = numbered(entry.path().stem().string(), 'p');
    if (part && numbered(part->name, 's')) files[part->number] = entry.path().string();
  }
  std::vector<std::string> result;
  for (auto& [number, file] : files) result.push_back(std::move(file));
  return result;
}

/// A set known by its path without ending: handler/NAME_sN.
DedalusSet set_at(const fs::path& stem, int number) {
  DedalusSet set{number, {}, {}};
  const fs::path joint = stem.string() + ".h5";
  if (fs::is_regular_file(joint)) set.joint = joint.string();
  if (fs::is_directory(stem)) set.parts = process_files(stem);
  return set;
}

std::vector<DedalusSet> sets_of_handler(const fs::path& folder) {
  std::map<int, fs::path> stems;
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool is_folder = entry.is_directory();
    if (!is_folder && entry.path().extension() != ".h5") continue;
    const auto set =
        numbered(is_folder ? entry.path().filename().string() : entry.path().stem().string(), 's');
    if (!set || (is_folder && process_files(entry.path()).empty())) continue;
    stems[set->number] = folder / fmt::format("{}_s{}", set->name, set->number);
    names.insert(set->name);
  }
  QUINTET_CHECK(names.size() < 2, "{}: holds sets of several handlers, {}: name the files of one",
                folder.string(), fmt::join(names, ", "));
  std::vector<DedalusSet> sets;
  for (const auto& [number, stem] : stems) sets.push_back(set_at(stem, number));
  return sets;
}

}  // namespace

std::vector<DedalusSet> dedalus_sets(const std::string& path) {
  fs::path place = fs::path(path).lexically_normal();
  if (!place.has_filename()) place = place.parent_path();
  const bool is_folder = fs::is_directory(place);
  const auto set = numbered(is_folder ? place.filename().string() : place.stem().string(), 's');
  if (is_folder) {
    if (set && !process_files(place).empty()) return {set_at(place, set->number)};
    return sets_of_handler(place);
  }
  const auto part = numbered(place.stem().string(), 'p');
  QUINTET_CHECK(!part || !numbered(part->name, 's'),
                "{}: is the part of one process of Dedalus: name the set, {}, or its handler's folder", path,
                place.parent_path().string());
  if (set) return {set_at(place.parent_path() / place.stem(), set->number)};
  return {{1, place.string(), {}}};
}

bool is_dedalus_folder(const std::string& path) {
  return fs::is_directory(path) && !dedalus_sets(path).empty();
}

}  // namespace quintet::field_formats
