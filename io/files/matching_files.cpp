#include "io/files/matching_files.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include <glob.h>

#include "io/log/error.hpp"

namespace quintet {

std::vector<std::string> matching_files(const std::string& pattern) {
  if (pattern.find_first_of("*?[") == std::string::npos || std::filesystem::exists(pattern)) return {pattern};
  glob_t found{};
  const int code = ::glob(pattern.c_str(), 0, nullptr, &found);
  const std::unique_ptr<glob_t, decltype(&::globfree)> owner(&found, &::globfree);
  QUINTET_CHECK(code == 0 || code == GLOB_NOMATCH, "{}: the files that match cannot be listed: {}", pattern,
                std::strerror(errno));
  QUINTET_CHECK(code == 0 && found.gl_pathc > 0, "{}: no file matches", pattern);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace quintet
