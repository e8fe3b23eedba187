#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "apps/quintet/commands.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "io/fields/series_text.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::commands {

namespace {

bool is_hdf5(const std::string& path) {
  if (std::filesystem::is_directory(path)) return false;
  auto stream = open_input_file(path);
  char bytes[8] = {};
  stream.read(bytes, sizeof(bytes));
  return stream.gcount() == 8 && std::string_view(bytes, 8) == std::string_view("\x89HDF\r\n\x1a\n", 8);
}

/// The first bytes of a file, and of a text its first line that says something, in words.
std::string head_of(const std::string& path) {
  auto stream = open_input_file(path);
  std::string head(4096, '\0');
  stream.read(head.data(), head.size());
  head.resize(stream.gcount());
  return head;
}
std::vector<std::string> first_words(const std::string& head) {
  std::istringstream text(head);
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::vector<std::string> result{std::istream_iterator<std::string>(words), {}};
    if (!result.empty()) return result;
  }
  return {};
}

bool is_integer(const std::string& word) {
  const auto digits = word.substr(word.starts_with('-') || word.starts_with('+') ? 1 : 0);
  return !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
}

/// A file of matrices: by its ending, its mark, or a first line of two integers and a number (CP2K), or of
/// three integers and a name (a list of images).
bool may_hold_matrices(const std::string& path) {
  if (!std::filesystem::is_regular_file(path)) return false;
  const std::string ending = std::filesystem::path(path).extension().string();
  for (const auto* known : {".mtx", ".csr", ".csc", ".ntpoly"})
    if (ending == known) return true;
  if (is_hdf5(path)) {
    const auto file = hdf5::File::open(Comm::self(), path);
    return file.root().has_attribute("schema") && file.root().text_attribute("schema") == "quintet.matrix";
  }
  const auto head = head_of(path);
  if (head.starts_with("%%MatrixMarket")) return true;
  const auto words = first_words(head);
  if (words.size() < 3 || words.size() > 4 || !is_integer(words[0]) || !is_integer(words[1])) return false;
  const bool is_number = words.back().find_first_not_of("0123456789+-.eEdD") == std::string::npos;
  return words.size() == 3 ? is_number && !is_integer(words[2]) : is_integer(words[2]) && !is_number;
}

/// A file that may hold atoms: not one of the suite's own kinds of text.
bool may_hold_atoms(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  return std::filesystem::exists(path) && ending != ".yaml" && ending != ".yml" && !is_hdf5(path);
}

/// Become `PROGRAM inspect PATH`.
[[noreturn]] void show_by(const char* name, std::string path) {
  std::fflush(stdout);
  std::string program = sibling_named(name).executable, word = "inspect";
  char* words[] = {program.data(), word.data(), path.data(), nullptr};
  execv(program.c_str(), words);
  throw InputError(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace

void inspect(const Application::Arguments& arguments) {
  std::string path = arguments[0].front();
  if (may_hold_matrices(path)) {
    if (is_hdf5(path)) std::fputs(hdf5::inspect(Comm::self(), path).c_str(), stdout);
    show_by("submatrix", path);
  }
  if (std::filesystem::exists(path) && may_be_field_series(path)) {
    const auto text = is_hdf5(path) ? hdf5::inspect(Comm::self(), path) : fmt::format("{}\n", path);
    std::fputs((text + field_series_text(path)).c_str(), stdout);
    return;
  }
  if (!may_hold_atoms(path)) {
    std::fputs(hdf5::inspect(Comm::self(), path).c_str(), stdout);
    return;
  }
  show_by("dpmd", path);
}

}  // namespace quintet::commands
