#include "physics/particles/files/deepmd_store.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/files/npy.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace fs = std::filesystem;

namespace {

constexpr const char* raw = ".raw";

/// Names in a folder that end so, sorted.
std::vector<std::string> names_in(const std::string& folder, const std::string& ending) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(ending)) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Arrays as text: type.raw and type_map.raw are none.
std::vector<std::string> raw_arrays(const std::string& folder) {
  auto names = names_in(folder, raw);
  std::erase_if(names, [](const auto& name) { return name == "type.raw" || name == "type_map.raw"; });
  return names;
}

class FolderStore : public DeepmdStore {
 public:
  explicit FolderStore(const std::string& folder) : DeepmdStore(folder + "/"), folder_(folder) {
    QUINTET_CHECK(fs::is_directory(folder), "cannot read {}: there is no such folder", folder);
  }
  [[nodiscard]] bool has(const std::string& name) const override { return fs::exists(place(name)); }
  [[nodiscard]] std::vector<std::string> sets() const override {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename().string();
      if (entry.is_directory() && name.starts_with("set.")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  [[nodiscard]] std::vector<std::string> arrays(const std::string& set) const override {
    auto names = names_in(place(set), ".npy");
    for (auto& name : names) name = set + "/" + name;
    return names;
  }
  [[nodiscard]] std::vector<std::string> beside() const override { return raw_arrays(folder_); }
  [[nodiscard]] std::vector<std::string> words(const std::string& name) const override {
    std::vector<std::string> words;
    text::LineReader reader(place(name));
    while (reader.next_filled())
      for (const auto word : text::split(reader.line())) words.emplace_back(word);
    return words;
  }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& array) const override {
    return NpyFile(place(array)).shape();
  }
  [[nodiscard]] std::vector<double> rows(const std::string& array, std::uint64_t first,
                                         std::uint64_t count) const override {
    return NpyFile(place(array)).read_rows<double>(first, count);
  }

 protected:
  std::string folder_;
};

/// A folder without sets: each array is a text, a line a frame.
class RawStore : public FolderStore {
 public:
  using FolderStore::FolderStore;
  [[nodiscard]] std::vector<std::string> sets() const override { return {""}; }
  [[nodiscard]] std::string array(const std::string& /*set*/, const std::string& name) const override {
    return name + raw;
  }
  [[nodiscard]] std::vector<std::string> arrays(const std::string& /*set*/) const override {
    return raw_arrays(folder_);
  }
  [[nodiscard]] std::vector<std::string> beside() const override { return {}; }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& array) const override {
    const auto& table = table_of(array);
    return {table.values.size() / table.columns, table.columns};
  }
  [[nodiscard]] std::vector<double> rows(const std::string& array, std::uint64_t first,
                                         std::uint64_t count) const override {
    const auto& table = table_of(array);
    const auto begin = table.values.begin() + first * table.columns;
    return {begin, begin + static_cast<std::ptrdiff_t>(count * table.columns)};
  }

 private:
  struct Table {
    std::size_t columns = 1;
    std::vector<double> values;
  };

  const Table& table_of(const std::string& array) const {
    const auto [entry, is_new] = tables_.try_emplace(array);
    Table& table = entry->second;
    if (!is_new) return table;
    text::LineReader reader(place(array));
    while (reader.next_filled()) {
      const auto words = text::split(reader.line());
      if (table.values.empty()) table.columns = words.size();
      QUINTET_CHECK(words.size() == table.columns, "{}: the line has {} numbers, those before it have {}",
                    reader.where(), words.size(), table.columns);
      for (std::size_t i = 0; i < words.size(); ++i)
        table.values.push_back(text::to_double(words[i], reader.where(), fmt::format("number {}", i + 1)));
    }
    QUINTET_CHECK(!table.values.empty(), "{}: the file has no numbers", place(array));
    return table;
  }

  mutable std::map<std::string, Table> tables_;
};

/// File and group ("" for the root) of "FILE.h5#/GROUP".
struct Hdf5Place {
  std::string file, group;
  explicit Hdf5Place(const std::string& path) : file(path) {
    const auto hash = path.rfind('#');
    if (hash == std::string::npos) return;
    file = path.substr(0, hash);
    const auto begin = path.find_first_not_of('/', hash + 1);
    const auto end = path.find_last_not_of('/');
    if (begin != std::string::npos) group = path.substr(begin, end + 1 - begin);
  }
  [[nodiscard]] std::string text() const { return file + "#/" + group; }
};

/// Whether `group` has a member of this nested name.
bool has_nested(const hdf5::Group& group, const std::string& name) {
  const auto slash = name.find('/');
  if (slash == std::string::npos) return group.has(name);
  const std::string first = name.substr(0, slash);
  return group.has(first) && group.is_group(first) &&
         has_nested(group.open_group(first), name.substr(slash + 1));
}

hdf5::Group open_place(const hdf5::File& file, const Hdf5Place& place) {
  if (place.group.empty()) return file.root();
  QUINTET_CHECK(has_nested(file.root(), place.group), "{}: the file has no group {}", place.file,
                text::shown(place.group));
  return file.root().open_group(place.group);
}

class Hdf5Store : public DeepmdStore {
 public:
  explicit Hdf5Store(const Hdf5Place& place)
      : DeepmdStore(place.text() + (place.group.empty() ? "" : "/")),
        file_(hdf5::File::open(Comm::self(), place.file)),
        group_(open_place(file_, place)) {}
  [[nodiscard]] bool has(const std::string& name) const override { return has_nested(group_, name); }
  [[nodiscard]] std::vector<std::string> sets() const override {
    std::vector<std::string> names;
    for (const auto& name : group_.names())
      if (name.starts_with("set.") && group_.is_group(name)) names.push_back(name);
    return names;
  }
  [[nodiscard]] std::vector<std::string> arrays(const std::string& set) const override {
    std::vector<std::string> names;
    for (const auto& name : group_.open_group(set).names())
      if (name.ends_with(".npy")) names.push_back(set + "/" + name);
    return names;
  }
  [[nodiscard]] std::vector<std::string> words(const std::string& name) const override {
    const bool are_numbers = name == "type.raw" && group_.element_type(name).find("int") != std::string::npos;
    if (!are_numbers) return group_.read_texts(name);
    std::vector<std::string> words;
    for (const auto value : group_.read<std::int64_t>(name)) words.push_back(std::to_string(value));
    return words;
  }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& array) const override {
    return group_.shape(array);
  }
  [[nodiscard]] std::vector<double> rows(const std::string& array, std::uint64_t first,
                                         std::uint64_t count) const override {
    return group_.read_rows<double>(array, first, count);
  }

 private:
  hdf5::File file_;
  hdf5::Group group_;
};

constexpr int deepest = 16;  // folders within folders; a link may lead in circles

void find_in_folder(const std::string& folder, int depth, std::vector<std::string>& found) {
  if (fs::exists(folder + "/type.raw")) {
    found.push_back(folder);
    return;
  }
  std::vector<std::string> below;
  if (depth < deepest)
    for (const auto& entry : fs::directory_iterator(folder, fs::directory_options::skip_permission_denied))
      if (entry.is_directory()) below.push_back(entry.path().string());
  std::sort(below.begin(), below.end());
  for (const auto& path : below) find_in_folder(path, depth + 1, found);
}

void find_in_group(const hdf5::Group& group, const std::string& path, int depth,
                   std::vector<std::string>& found) {
  if (group.has("type.raw")) {
    found.push_back(path);
    return;
  }
  if (depth == deepest) return;
  for (const auto& name : group.names())
    if (group.is_group(name))
      find_in_group(group.open_group(name), path + (path.ends_with('/') ? "" : "/") + name, depth + 1, found);
}

}  // namespace

bool is_deepmd_hdf5(const std::string& path) {
  const std::string file = Hdf5Place(path).file;
  return file != path || file.ends_with(".h5") || file.ends_with(".hdf5");
}

std::unique_ptr<DeepmdStore> DeepmdStore::open(const std::string& path) {
  if (!fs::is_directory(path) && is_deepmd_hdf5(path)) return std::make_unique<Hdf5Store>(Hdf5Place(path));
  auto folder = std::make_unique<FolderStore>(path);
  if (folder->sets().empty() && folder->has(std::string("coord") + raw))
    return std::make_unique<RawStore>(path);
  return folder;
}

std::vector<std::string> find_deepmd_systems(const std::string& path) {
  std::vector<std::string> found;
  if (!fs::is_directory(path) && is_deepmd_hdf5(path)) {
    const Hdf5Place place(path);
    const auto file = hdf5::File::open(Comm::self(), place.file);
    find_in_group(open_place(file, place), place.text(), 0, found);
  } else {
    QUINTET_CHECK(fs::is_directory(path), "cannot read {}: there is no such folder", path);
    find_in_folder(path, 0, found);
  }
  QUINTET_CHECK(!found.empty(), "{}: holds no DeePMD system (nothing at or below it has a type.raw)", path);
  return found;
}

}  // namespace quintet
