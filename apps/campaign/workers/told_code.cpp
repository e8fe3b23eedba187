#include "apps/campaign/workers/told_code.hpp"

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "io/config/scalar.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;

std::string new_start() {
  return fmt::format("campaign_{}_{}", getpid(), std::chrono::system_clock::now().time_since_epoch().count());
}

std::string variable_of_start(const std::string& start) { return "QUINTET_START=" + start; }

std::optional<int> told_code(const std::string& folder, const std::string& start) {
  std::error_code wrong;
  fs::path word;
  for (fs::recursive_directory_iterator entry(folder, wrong), end; !wrong && entry != end;
       entry.increment(wrong))
    if (entry->path().filename() == "last_word_" + start) word = entry->path();
  if (word.empty()) return std::nullopt;
  std::optional<int> code;
  std::ifstream file(word);
  constexpr std::string_view key = "code: ";
  for (std::string line; std::getline(file, line);) {
    if (line == "directory: in use") return std::nullopt;  // of a run that is not this one's
    if (!line.starts_with(key)) continue;
    if (const auto number = to_integer(line.substr(key.size()))) code = static_cast<int>(*number);
  }
  fs::rename(word, word.parent_path() / "last_word", wrong);
  return code;
}

}  // namespace quintet::campaign
