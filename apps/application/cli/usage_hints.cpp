#include "apps/application/cli/usage_hints.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/application/cli/input_kind.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

/// Paths "time.steps" of the keys of that name, those of sections within lists left out.
void add_paths(const Tree& schema, const std::string& name, const std::string& before,
               std::vector<std::string>& paths) {
  const Tree* const properties = schema.find("properties");
  if (properties == nullptr || !properties->is_map()) return;
  for (const auto& [key, value] : properties->entries()) {
    const std::string path = before + key;
    if (!value.is_map()) continue;
    if (key == name && !value.has("properties")) paths.push_back(path);
    add_paths(value, name, path + ".", paths);
  }
}

std::string quoted_for_shell(const std::string& word) {
  const bool is_plain = word.find_first_of(" \t'\"[]{}()*?$&;<>|#~\\") == std::string::npos;
  return is_plain ? word : fmt::format("'{}'", word);
}

}  // namespace

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
  else if (!name.empty())
    add_paths(json_schema(describe, ""), name, "", paths);
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
