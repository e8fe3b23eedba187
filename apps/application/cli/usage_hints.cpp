#include "apps/application/cli/usage_hints.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/application/cli/input_kind.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

/// The section that a JSON Schema describes; null if it describes a value. One that may be absent is an
/// alternative to null.
const Tree* section_in(const Tree& schema) {
  if (!schema.is_map()) return nullptr;
  if (schema.has("properties")) return &schema;
  const Tree* const alternatives = schema.find("anyOf");
  if (alternatives == nullptr || !alternatives->is_list()) return nullptr;
  for (const auto& alternative : alternatives->items())
    if (alternative.is_map() && alternative.has("properties")) return &alternative;
  return nullptr;
}

void add_paths(const Tree& section, const std::string& before, std::vector<std::string>& paths) {
  for (const auto& [key, value] : section.at("properties").entries())
    if (const Tree* const inner = section_in(value))
      add_paths(*inner, before + key + ".", paths);
    else
      paths.push_back(before + key);
}

std::string quoted_for_shell(const std::string& word) {
  const bool is_plain = word.find_first_of(" \t'\"[]{}()*?$&;<>|#~\\") == std::string::npos;
  return is_plain ? word : fmt::format("'{}'", word);
}

}  // namespace

std::vector<std::string> key_paths(const Describe& describe) {
  std::vector<std::string> paths;
  add_paths(json_schema(describe, ""), "", paths);
  return paths;
}

std::string setting_meant(const std::vector<std::string>& settings, const std::vector<std::string>& words,
                          const std::vector<std::string>& left_over) {
  if (left_over.empty()) return {};
  const auto word = std::find(words.begin(), words.end(), left_over.front());
  if (word - words.begin() < 2) return {};
  const auto& setting = *(word - 1);
  if (*(word - 2) != "--set" || std::find(settings.begin(), settings.end(), setting) == settings.end())
    return {};
  std::string value = left_over.front();
  if (value == "=" && left_over.size() > 1) value = left_over[1];
  if (value.starts_with('=')) value.erase(0, 1);
  const bool has_value = setting.find('=') != std::string::npos;
  const bool ends_open = setting.ends_with('=');
  const auto whole = setting + (!has_value ? "=" : ends_open ? "" : " ") + value;
  return fmt::format("--set {}", quoted_for_shell(whole));
}

std::string setting_for_flag(const std::string& flag, const std::string& value, const Describe& describe) {
  std::string name = flag.substr(std::min(flag.find_first_not_of('-'), flag.size()));
  std::replace(name.begin(), name.end(), '-', '_');
  std::vector<std::string> paths;
  if (name.find('.') != std::string::npos)
    paths.push_back(name);
  else
    for (const auto& path : key_paths(describe))
      if (path == name || path.ends_with("." + name)) paths.push_back(path);
  constexpr std::size_t most = 3;
  if (paths.empty() || paths.size() > most) return {};
  std::vector<std::string> settings;
  for (const auto& path : paths)
    settings.push_back(fmt::format(
        "--set {}", quoted_for_shell(fmt::format("{}={}", path, value.empty() ? "VALUE" : value))));
  return fmt::format("{}", fmt::join(settings, " or "));
}

bool looks_like_input(const std::string& word) {
  std::error_code ignored;
  const auto ending = std::filesystem::path(word).extension();
  return ending == ".yaml" || ending == ".yml" || ending == ".json" ||
         std::filesystem::is_regular_file(word, ignored);
}

std::string command_line_for(const std::string& program, const std::string& file) {
  std::vector<std::string> commands;
  try {
    commands = commands_that_read(read_yaml(file));
  } catch (const Error&) {  // it says itself what is wrong once it is run
    return {};
  }
  std::vector<std::string> mine;
  for (const auto& command : commands)
    if (command.starts_with(program + " ")) mine.push_back(command);
  std::vector<std::string> lines;
  for (const auto& command : mine.empty() ? commands : mine)
    lines.push_back(fmt::format("'{} {}'", command, file));
  return fmt::format("{}", fmt::join(lines, " or "));
}

}  // namespace quintet
