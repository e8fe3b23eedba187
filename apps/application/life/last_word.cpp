#include "apps/application/life/last_word.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

constexpr const char* variable = "QUINTET_START";
constexpr std::size_t longest_name = 100, longest_reason = 2000;

/// The name of this start, if it may be a part of a file's name. It is taken out of the environment.
std::string take_start() {
  const char* value = std::getenv(variable);
  std::string name = value == nullptr ? "" : value;
  unsetenv(variable);
  const bool is_plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-.").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return is_plain && name.size() <= longest_name ? name : "";
}

/// Shell scripts read it line by line.
std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text.substr(0, longest_reason);
}

}  // namespace

LastWord::LastWord(std::string directory, std::string program, bool speaks)
    : directory_(std::move(directory)), program_(std::move(program)), start_(take_start()), speaks_(speaks) {}

void LastWord::leave(ExitCode code, const std::string& reason) const {
  if (speaks_) leave_alone(code, reason);
}

void LastWord::leave_alone(ExitCode code, const std::string& reason) const {
  const fs::path folder = fs::path(directory_) / ".quintet";
  std::error_code absent;
  if (directory_.empty() || (start_.empty() && !has_begun_) || !fs::is_directory(folder, absent)) return;
  std::string text = start_.empty() ? "" : fmt::format("start: {}\n", start_);
  text += fmt::format("code: {}\n", static_cast<int>(code));
  if (in_use_) text += "directory: in use\n";
  if (const auto step = hdf5::newest_step(directory_ + "/checkpoints"))
    text += fmt::format("checkpoint: {}\n", hdf5::checkpoint_name(*step));
  const auto provenance = hdf5::current_provenance();
  text += fmt::format("program: {}\nhost: {}\ndate: {}\n", program_, provenance.host, provenance.date);
  if (!reason.empty()) text += fmt::format("reason: {}\n", in_one_line(reason));
  try {
    write_text_file((folder / (start_.empty() ? "last_word" : "last_word_" + start_)).string(), text);
  } catch (const Error&) {  // a full disk has the last word then: none
  }
}

}  // namespace quintet
