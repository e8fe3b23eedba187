#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <span>

#include <fmt/ranges.h>

#include "io/files/input_file.hpp"
#include "io/files/output_file.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/experts/registry.hpp"
#include "surrogates/experts/rewrite.hpp"

namespace quintet::experts {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const auto folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// One writer of registries in a folder at a time; a writer that dies lets go.
class FolderLock {
 public:
  explicit FolderLock(const std::string& folder)
      : file_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    QUINTET_CHECK(file_ >= 0, "{}: is no folder that can be read: {}", folder, std::strerror(errno));
    while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) continue;  // without locks: as before
  }
  ~FolderLock() { ::close(file_); }
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;
  void sync() const { ::fsync(file_); }

 private:
  int file_;
};

}  // namespace

void rewrite_registry(const std::string& registry,
                      const std::function<void(const std::string& copy, bool is_there)>& change) {
  const std::string folder = folder_of(registry), unfinished = registry + ".unfinished";
  QUINTET_CHECK(fs::is_directory(folder), "{}: there is no folder {} to write it to", registry, folder);
  const FolderLock lock(folder);
  std::error_code problem;
  try {
    make_new_file(unfinished);
    const bool is_there = fs::exists(registry);
    if (is_there) {
      fs::copy_file(registry, unfinished, fs::copy_options::overwrite_existing, problem);
      if (problem) throw ResourceError(fmt::format("{}: cannot be copied: {}", registry, problem.message()));
    }
    change(unfinished, is_there);
    {
      auto file = hdf5::File::open_for_update(Comm::self(), unfinished);
      file.flush();
      file.close();
    }
    fs::rename(unfinished, registry, problem);
    if (problem) throw ResourceError(fmt::format("{}: cannot be written: {}", registry, problem.message()));
    lock.sync();
  } catch (...) {
    fs::remove(unfinished, problem);
    throw;
  }
}

namespace {

template <class T>
void check_finite(const std::string& bytes, const hdf5::LaidOut& tensor, const std::string& model) {
  std::uint64_t n = 1;
  for (const auto extent : tensor.shape) n *= extent;
  for (std::uint64_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, bytes.data() + tensor.offset + i * sizeof(T), sizeof(T));
    QUINTET_CHECK(std::isfinite(value), "{}: {} holds {} at place {}: it is no model to serve", model,
                  tensor.name, value, i);
  }
}

void check_numbers(const std::string& bytes, const std::vector<hdf5::LaidOut>& layout,
                   const std::string& model) {
  for (const auto& tensor : layout) {
    const auto element = std::stoull(tensor.type.substr(tensor.type.find_first_of("0123456789"))) / 8;
    std::uint64_t left = tensor.offset <= bytes.size() ? (bytes.size() - tensor.offset) / element : 0;
    for (const auto extent : tensor.shape) left = extent == 0 ? left : left / extent;
    QUINTET_CHECK(left > 0, "{}: {} of shape [{}] does not lie whole in the file", model, tensor.name,
                  fmt::join(tensor.shape, ", "));
    if (tensor.type == "float64") check_finite<double>(bytes, tensor, model);
    if (tensor.type == "float32") check_finite<float>(bytes, tensor, model);
  }
}

std::string layout_text(const std::vector<hdf5::LaidOut>& layout) {
  std::string text = "# tensor: first byte in parameters, shape, type (little-endian, row-major)\n";
  for (const auto& [name, offset, shape, type] : layout)
    text += fmt::format("{}: {{offset: {}, shape: [{}], type: {}}}\n", name, offset, fmt::join(shape, ", "),
                        type);
  return text;
}

/// Text in the model's file on its own making: its configuration, or a Deep Potential's description.
std::string configuration_of(const hdf5::Group& root) {
  for (const char* name : {"configuration", "json"})
    if (root.has_attribute(name)) return root.text_attribute(name);
  return "";
}

std::string source_of(const hdf5::Group& root) {
  const auto made = hdf5::read_provenance(root);
  return made.program.empty()
             ? ""
             : fmt::format("{} {}, run {}, {}", made.program, made.version, made.run, made.date);
}

// What a reader needs to choose an expert stands in attributes, so that no parameters are read for it.
void write_expert(hdf5::Group& group, const Expert& expert, const std::vector<hdf5::LaidOut>& layout,
                  const std::string& model) {
  group.set_attribute("app", expert.app);
  group.set_attribute("kind", expert.kind);
  group.set_attribute("precision", expert.precision);
  group.set_attribute("licence", expert.licence);
  group.set_attribute("bytes", expert.bytes);
  group.set_attribute("memory", expert.memory);
  {
    const auto file = hdf5::File::open(Comm::self(), model);
    const std::string made = source_of(file.root());
    group.set_attribute("source", expert.source.empty() ? made : expert.source);
    group.write_text("configuration", configuration_of(file.root()),
                     {"1", {}, "What the model was made from, or how it describes itself"});
  }
  group.write_text("layout", layout_text(layout), {"1", {}, "Where the tensors lie in parameters (YAML)"});
  std::vector<std::string> keys, units, words;
  std::vector<double> least, most;
  for (const auto& range : expert.range) {
    keys.push_back(range.key), units.push_back(range.unit);
    least.push_back(range.least), most.push_back(range.most);
  }
  for (const auto& [key, word] : expert.words) words.push_back(key + "=" + word);
  if (!keys.empty()) {
    group.set_attribute("range_keys", keys);
    group.set_attribute("range_units", units);
    group.set_attribute("range_least", least);
    group.set_attribute("range_most", most);
  }
  if (!words.empty()) group.set_attribute("words", words);
}

}  // namespace

void add_expert(const std::string& registry, const Expert& expert, const std::string& model, bool replaces,
                const hdf5::Provenance& provenance) {
  hdf5::check_embedded_id(expert.id);
  const std::string image = read_input_file(model);
  const auto bytes = std::as_bytes(std::span(image));
  QUINTET_CHECK(!bytes.empty(), "{}: is empty; expected a model", model);
  const auto layout = hdf5::layout_of(bytes, model);
  check_numbers(image, layout, model);
  rewrite_registry(registry, [&](const std::string& copy, bool is_there) {
    if (is_there) {
      auto file = hdf5::File::open(Comm::self(), copy);
      hdf5::check_header(file, hdf5::registry_schema, hdf5::registry_version);
    } else {
      auto file = hdf5::File::create(Comm::self(), copy);
      hdf5::write_header(file.root(), hdf5::registry_schema, hdf5::registry_version, provenance);
      static_cast<void>(file.root().group("experts"));
      file.close();
    }
    const auto known = Registry::read(Comm::self(), copy);
    const bool taken = std::any_of(known.experts().begin(), known.experts().end(),
                                   [&](const auto& other) { return other.id == expert.id; });
    QUINTET_CHECK(!taken || replaces, "{}: there is an expert '{}'; choose another --id or add --replace",
                  registry, expert.id);
    if (taken) hdf5::take_out(copy, expert.id);
    hdf5::embed(copy, expert.id, bytes);
    Expert complete = expert;
    complete.bytes = bytes.size();
    auto file = hdf5::File::open_for_update(Comm::self(), copy);
    auto group = file.root().open_group("experts").open_group(expert.id);
    write_expert(group, complete, layout, model);
    file.close();
    const auto written = Registry::read(Comm::self(), copy);
    verify_expert(written, written.find(expert.id));
  });
}

void remove_expert(const std::string& registry, const std::string& id) {
  const auto known = Registry::read(Comm::self(), registry);
  static_cast<void>(known.find(id));
  rewrite_registry(registry, [&](const std::string& copy, bool) { hdf5::take_out(copy, id); });
}

void verify_expert(const Registry& registry, int expert) {
  const auto& known = registry.experts()[expert];
  const auto name = registry.name_of(expert);
  const auto place = hdf5::place_of({registry.path(), known.id});
  std::vector<std::byte> bytes(place.bytes);
  hdf5::read_embedded(place, bytes);
  const auto found = layout_text(hdf5::layout_of(bytes, name));
  const auto file = hdf5::File::open(Comm::self(), registry.path());
  const auto group = file.root().open_group("experts").open_group(known.id);
  QUINTET_CHECK(group.read_text("layout") == found, "{}: its tensors are not where its layout says", name);
  static_cast<void>(group.read_text("configuration"));
}

}  // namespace quintet::experts
