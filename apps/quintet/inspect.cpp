#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <unistd.h>

#include "apps/quintet/commands.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "io/fields/series_text.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet::commands {

namespace {

bool is_hdf5(const std::string& path) {
  if (std::filesystem::is_directory(path)) return false;
  auto stream = open_input_file(path);
  char bytes[8] = {};
  stream.read(bytes, sizeof(bytes));
  return stream.gcount() == 8 && std::string_view(bytes, 8) == std::string_view("\x89HDF\r\n\x1a\n", 8);
}

/// A file that may hold atoms: not one of the suite's own kinds of text.
bool may_hold_atoms(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return std::filesystem::exists(path) && ending != ".yaml" && ending != ".yml" && !is_hdf5(path);
}

}  // namespace

void inspect(const Application::Arguments& arguments) {
  std::string path = arguments[0].front();
  if (std::filesystem::exists(path) && may_be_field_series(path)) {
    const bool is_file = is_hdf5(path);
    const auto text = is_file ? hdf5::inspect(Comm::self(), path) : fmt::format("{}\n", path);
    std::fputs((text + field_series_text(path)).c_str(), stdout);
    return;
  }
  if (!may_hold_atoms(path)) {
    std::fputs(hdf5::inspect(Comm::self(), path).c_str(), stdout);
    return;
  }
  std::string program = sibling_named("dpmd").executable, word = "inspect";
  char* words[] = {program.data(), word.data(), path.data(), nullptr};
  execv(program.c_str(), words);
  throw InputError(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace quintet::commands
