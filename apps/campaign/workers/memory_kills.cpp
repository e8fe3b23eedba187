#include "apps/campaign/workers/memory_kills.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace quintet::campaign {
namespace {

/// The number behind the word `oom_kill` in a file of "WORD NUMBER" lines.
std::optional<std::int64_t> count_in(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  for (std::int64_t number = 0; file >> word >> number;)
    if (word == "oom_kill") return number;
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> memory_kills(const std::string& proc, const std::string& sys) {
  std::ifstream groups(proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "9:memory:/a/b" of version 1, "0::/a/b" of 2
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = fmt::format(",{},", line.substr(first + 1, second - first - 1)),
                      path = line.substr(second + 1);
    std::optional<std::int64_t> count;
    if (controllers == ",,")
      count = count_in(sys + "/fs/cgroup" + path + "/memory.events");
    else if (controllers.find(",memory,") != std::string::npos)
      count = count_in(sys + "/fs/cgroup/memory" + path + "/memory.oom_control");
    if (count) return count;
  }
  return count_in(proc + "/vmstat");
}

bool MemoryKills::has_one_more(bool unknown) {
  const auto now = memory_kills();
  if (!now || !told_) return unknown;
  if (*now <= *told_) return false;
  ++*told_;
  return true;
}

}  // namespace quintet::campaign
