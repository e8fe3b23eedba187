#include "apps/application/life/input_identity.hpp"

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t block_bytes = 1 << 24;
/// A key with more files and bytes than these is told by names, sizes and ends of its files: a record of
/// fields may have 16 000 of 26 GB in all, which would take longer to read than the run.
constexpr std::int64_t most_files = 1000, most_read = std::int64_t{1} << 30;
constexpr std::int64_t end_bytes = 4096;
constexpr int most_depth = 8;  ///< of folders; links can make a circle

enum class By { contents, ends, sizes };

/// Bytes and checksum of all that a name of a file, folder or pattern stands for.
class Identity {
 public:
  explicit Identity(By by) : by_(by) {}
  void add(const fs::path& path, int depth = 0) {
    std::error_code none;
    if (fs::is_regular_file(path, none)) add_file(path);
    if (!fs::is_directory(path, none) || depth > most_depth || fs::exists(path / ".quintet", none)) return;
    std::vector<fs::path> members;
    for (const auto& entry : fs::directory_iterator(path, none)) members.push_back(entry.path());
    std::sort(members.begin(), members.end());
    for (const auto& member : members) {
      if (member.filename().string().starts_with(".")) continue;
      add_text(member.filename().string());
      add(member, depth + 1);
    }
  }

  /// An expert is its own file: whatever else its registry holds.
  void add_expert(const hdf5::EmbeddedName& name) {
    std::vector<std::byte> bytes;
    try {
      const auto place = hdf5::place_of(name);
      bytes.resize(place.bytes);
      hdf5::read_embedded(place, bytes);
    } catch (const InputError&) {
      return;  // told where it is opened
    }
    bytes_ += bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += block_bytes)
      sums_.push_back(hdf5::xxh64(std::span(bytes).subspan(at, std::min(block_bytes, bytes.size() - at))));
  }

  [[nodiscard]] bool is_large() const { return n_files_ > most_files && bytes_ > most_read; }

  [[nodiscard]] Tree tree(const InputFile& file) const {
    Tree tree = Tree::map();
    tree.set("key", Tree::text(file.key));
    tree.set("path", Tree::text(file.path));
    tree.set("bytes", Tree::integer(bytes_));
    tree.set("checksum", Tree::text(fmt::format("{:016x}", checksum(sums_))));
    return tree;
  }

 private:
  template <class T>
  static std::uint64_t checksum(const std::vector<T>& values) {
    return hdf5::xxh64(std::as_bytes(std::span(values)));
  }

  void add_text(const std::string& text) { sums_.push_back(hdf5::xxh64(std::as_bytes(std::span(text)))); }

  void add_file(const fs::path& path) {
    ++n_files_;
    if (by_ != By::contents) return add_parts(path);
    std::ifstream file(path, std::ios::binary);
    block_.resize(block_bytes);
    while (file) {
      file.read(block_.data(), block_.size());
      const std::size_t n = file.gcount();
      bytes_ += n;
      if (n > 0) sums_.push_back(hdf5::xxh64(std::as_bytes(std::span(block_).first(n))));
    }
  }

  /// Its name and size, and its beginning and end where they are asked for.
  void add_parts(const fs::path& path) {
    std::error_code none;
    const std::int64_t size = fs::file_size(path, none);
    if (none) return;  // told where it is opened
    bytes_ += size;
    if (by_ == By::sizes) return;
    add_text(fmt::format("{} {}", path.filename().string(), size));
    std::ifstream file(path, std::ios::binary);
    block_.resize(end_bytes);
    for (const std::int64_t at : {std::int64_t{0}, std::max(size - end_bytes, std::int64_t{0})}) {
      file.seekg(at);
      file.read(block_.data(), std::min(size, end_bytes));
      sums_.push_back(hdf5::xxh64(std::as_bytes(std::span(block_).first(file.gcount()))));
    }
  }

  By by_;
  std::int64_t bytes_ = 0, n_files_ = 0;
  std::vector<std::uint64_t> sums_;
  std::vector<char> block_;
};

/// Paths that a name stands for: itself, the file of 'FILE#/group', or the matches of a pattern.
std::vector<fs::path> meant_by(const std::string& name) {
  std::error_code none;
  if (fs::exists(name, none)) return {name};
  if (const auto hash = name.rfind('#'); hash != std::string::npos && fs::exists(name.substr(0, hash), none))
    return {name.substr(0, hash)};
  std::vector<fs::path> paths;
  glob_t found{};
  if (::glob(name.c_str(), 0, nullptr, &found) == 0)
    for (std::size_t i = 0; i < found.gl_pathc; ++i) paths.emplace_back(found.gl_pathv[i]);
  ::globfree(&found);
  return paths;
}

Identity identity_of(const std::string& name) {
  const auto paths = meant_by(name);
  Identity sizes(By::sizes);
  for (const auto& path : paths) sizes.add(path);
  Identity identity(sizes.is_large() ? By::ends : By::contents);
  for (const auto& path : paths) identity.add(path);
  return identity;
}

Identity identity_of_expert(const hdf5::EmbeddedName& name) {
  Identity contents(By::contents);
  contents.add_expert(name);
  return contents;
}

}  // namespace

std::string identify_inputs(const Comm& comm, const Describe& describe) {
  Tree list = Tree::list();
  if (comm.is_root())
    for (const auto& file : input_files(describe)) {
      const auto expert = hdf5::embedded_name(file.path);
      const auto identity = expert ? identity_of_expert(*expert) : identity_of(file.path);
      list.append(identity.tree(file));
    }
  return comm.broadcast(list.items().empty() ? std::string() : to_yaml(list));
}

}  // namespace quintet
