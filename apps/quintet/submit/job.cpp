#include "apps/quintet/submit/job.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "io/config/tree.hpp"
#include "io/files/output_file.hpp"

namespace quintet {

std::string job_name(const std::string& stem) {
  constexpr std::size_t longest = 15;
  std::string name = file_name_part(stem);
  const unsigned char first = name.empty() ? '0' : name.front();
  if (std::isalpha(first) == 0 && first != '_') name.insert(0, "q_");
  return name.substr(0, longest);
}

std::string task_folder(std::int64_t task) { return fmt::format("{:04}", task); }

std::string shell_word(const std::string& text) {
  const auto is_plain = [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_-+./:=,@%").find(static_cast<char>(c)) != std::string_view::npos;
  };
  if (!text.empty() && std::all_of(text.begin(), text.end(), is_plain)) return text;
  std::string word = "'";
  for (const char c : text)
    if (c == '\'')
      word += "'\\''";
    else
      word += c;
  return word + "'";
}

}  // namespace quintet
