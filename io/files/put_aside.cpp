#include "io/files/put_aside.hpp"

#include <filesystem>

#include <fmt/format.h>

namespace quintet {

std::string put_aside(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path from = path;
  const std::string stem = from.stem().string(), ending = from.extension().string();
  fs::path to = from.parent_path() / (stem + ".damaged" + ending);
  for (int i = 2; fs::exists(fs::symlink_status(to)); ++i)
    to = from.parent_path() / fmt::format("{}.damaged.{}{}", stem, i, ending);
  fs::rename(from, to);
  return to.string();
}

}  // namespace quintet
