#include "io/tiers/memory_bounds.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

namespace quintet {
namespace fs = std::filesystem;
namespace {

/// Where no limit is set version 1 tells of the largest number of pages: no machine has an exabyte.
constexpr double unlimited = 1e18;

/// The number that a file begins with; nothing if the file does not exist, or says "max".
std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

/// KEY NUMBER, a line each.
std::map<std::string, double> numbers_in(const fs::path& path) {
  std::map<std::string, double> numbers;
  std::ifstream file(path);
  std::string key;
  double value = 0;
  for (std::string line; std::getline(file, line);)
    if (std::istringstream(line) >> key >> value) numbers[key] = value;
  return numbers;
}

/// Names of the files of one version of control groups, and the words of memory.stat that count the group
/// with all below it.
struct Version {
  const char* filesystem;
  std::vector<const char*> limits;
  const char* usage;
  const char* words;  ///< what these words begin with
};
const Version versions[] = {
    {"cgroup2", {"memory.max", "memory.high"}, "memory.current", ""},
    {"cgroup", {"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_"},
};

/// Pages of files that nobody has mapped, and the kernel's own caches: counted as used, given back on demand.
/// Programs and libraries are mapped files: without them the run would crawl.
double reclaimable(const fs::path& folder, const std::string& words) {
  const auto stat = numbers_in(folder / "memory.stat");
  const auto of = [&](const std::string& word) {
    const auto found = stat.find(words + word);
    return found == stat.end() ? 0.0 : found->second;
  };
  const double mapped = std::max(of("mapped_file"), of("file_mapped"));
  const double shared = std::min(mapped, of("shmem"));  // counts as mapped, but has no file
  const double files = of("inactive_file") + of("active_file");
  return std::max(0.0, files - (mapped - shared)) + of("slab_reclaimable");
}

std::optional<MemoryBound> bound_of(const fs::path& folder, const Version& version) {
  std::optional<double> limit;
  for (const char* name : version.limits)
    if (const auto value = number_in(folder / name); value && *value < limit.value_or(unlimited))
      limit = value;
  const auto used = number_in(folder / version.usage);
  if (!limit || !used) return std::nullopt;
  const double held = std::max(0.0, *used - reclaimable(folder, version.words));
  MemoryBound bound{.group = folder.string(), .limit = *limit, .free = std::max(0.0, *limit - held)};
  struct stat status {};
  if (stat(folder.c_str(), &status) == 0) {
    bound.device = status.st_dev;
    bound.number = status.st_ino;
  }
  return bound;
}

/// A line of /proc/self/mountinfo, as far as it matters.
struct Mount {
  fs::path group, place;  ///< the group that is its root, and where it is mounted
  std::string filesystem, options;
};

/// Octal numbers stand for blanks and the like.
std::string without_escapes(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      plain += text[i];
    }
  return plain;
}

std::vector<Mount> mounts(const fs::path& root) {
  std::vector<Mount> found;
  std::ifstream file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // id parent major:minor ROOT PLACE options [more]... - FILESYSTEM source OPTIONS
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line), after(line.substr(dash + 3));
    std::string skipped, group, place;
    Mount mount;
    before >> skipped >> skipped >> skipped >> group >> place;
    after >> mount.filesystem >> skipped >> mount.options;
    mount.group = without_escapes(group);
    mount.place = without_escapes(place);
    found.push_back(mount);
  }
  return found;
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// The folder of the group `path` under a mount: below the group that is mounted there; in a container, whose
/// mount may name groups by paths from elsewhere, what is mounted.
fs::path folder_of(const Mount& mount, const fs::path& path, const fs::path& root) {
  const fs::path place = root / mount.place.relative_path();
  const fs::path below = path.lexically_relative(mount.group);
  if (below == ".") return place;  // as "place/." it would be another folder, and count once more
  std::error_code ignored;
  const bool is_below = !below.empty() && *below.begin() != "..";
  return is_below && fs::is_directory(place / below, ignored) ? place / below : place;
}

/// Limits of a group and its parents, as far up as they are mounted.
void add_groups(std::vector<MemoryBound>& bounds, const fs::path& group, const fs::path& top,
                const Version& version) {
  for (fs::path folder = group.lexically_normal();; folder = folder.parent_path()) {
    // Before version 2 a parent may be told not to count its children.
    const bool counts =
        folder == group.lexically_normal() || number_in(folder / "memory.use_hierarchy").value_or(1) != 0;
    if (!counts) return;
    if (const auto bound = bound_of(folder, version)) bounds.push_back(*bound);
    if (folder == top.lexically_normal() || !folder.has_relative_path()) return;
  }
}

std::optional<MemoryBound> bound_of_node(const fs::path& root) {
  std::optional<double> total, free;
  std::ifstream file(root / "proc/meminfo");
  std::string key;
  double kilobytes = 0;
  for (std::string line; std::getline(file, line);) {
    if (!(std::istringstream(line) >> key >> kilobytes)) continue;
    if (key == "MemTotal:") total = 1024 * kilobytes;
    if (key == "MemAvailable:") free = 1024 * kilobytes;
  }
  if (!total) return std::nullopt;
  return MemoryBound{.limit = *total, .free = free.value_or(*total)};
}

}  // namespace

std::vector<MemoryBound> memory_bounds(const fs::path& root) {
  std::vector<MemoryBound> bounds;
  if (const auto node = bound_of_node(root)) bounds.push_back(*node);
  const auto all = mounts(root);
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // NUMBER:CONTROLLERS:PATH
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    const bool is_second = controllers.empty();
    if (!is_second && !has_word(controllers, "memory")) continue;
    const Version& version = versions[is_second ? 0 : 1];
    for (const auto& mount : all) {
      if (mount.filesystem != version.filesystem) continue;
      if (!is_second && !has_word(mount.options, "memory")) continue;
      const fs::path top = root / mount.place.relative_path();
      add_groups(bounds, folder_of(mount, line.substr(second + 1), root), top, version);
      break;
    }
  }
  return bounds;
}

std::optional<double> memory_limit(const std::vector<MemoryBound>& bounds) {
  std::optional<double> least;
  for (const auto& bound : bounds) least = std::min(least.value_or(bound.limit), bound.limit);
  return least;
}

std::optional<double> free_memory(const std::vector<MemoryBound>& bounds) {
  std::optional<double> least;
  for (const auto& bound : bounds) least = std::min(least.value_or(bound.free), bound.free);
  return least;
}

}  // namespace quintet
