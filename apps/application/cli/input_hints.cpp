#include "apps/application/cli/input_hints.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/application/cli/input_kind.hpp"
#include "io/config/scalar.hpp"
#include "io/config/schema.hpp"
#include "io/config/schema_hints.hpp"
#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/syntax/foreign_text.hpp"
#include "io/syntax/yaml_syntax.hpp"

namespace quintet {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t most_bytes = 1U << 26;

std::string program_of(const Request& request) {
  return request.program.substr(0, request.program.find(' '));
}

/// YAML files beside the one that is not there.
std::vector<std::string> neighbours(const fs::path& file) {
  std::vector<std::string> names;
  std::error_code ignored;
  const auto folder = file.parent_path().empty() ? fs::path(".") : file.parent_path();
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".yaml" || entry.path().extension() == ".yml")
      names.push_back((file.parent_path() / entry.path().filename()).string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string about_absent(const std::string& problem, const fs::path& input) {
  const auto names = neighbours(input);
  std::vector<std::string> stems;  // that all end alike says nothing
  for (const auto& name : names) stems.push_back(fs::path(name).stem().string());
  const auto near = closest(input.stem().string(), stems);
  for (std::size_t i = 0; i < names.size() && !near.empty(); ++i)
    if (stems[i] == near) return fmt::format("{}; did you mean '{}'?", problem, names[i]);
  constexpr std::size_t most = 5;
  std::error_code ignored;
  if (names.empty() || names.size() > most)
    return fmt::format("{}; it was looked for in {}", problem,
                       fs::absolute(input, ignored).parent_path().string());
  return fmt::format("{}; there are: {}", problem, name_list(names));
}

std::string about_empty(const Request& request, const Describe& describe) {
  std::vector<std::string> required;
  const Tree schema = json_schema(describe, "");
  if (const auto* const names = schema.find("required"))
    for (const auto& name : names->items()) required.push_back(name.as_text());
  const auto needs = required.empty() ? "" : fmt::format("; it needs {} at least", name_list(required));
  return fmt::format("{}: is empty{}; '{} reference' explains all keys", request.input, needs,
                     program_of(request));
}

std::string about_foreign(std::string_view kind, const Request& request) {
  const auto program = program_of(request);
  auto text = fmt::format("{}: this is {}, not a YAML file of {}", request.input, kind, request.program);
  if (program == "dpmd" && kind.find("DeePMD-kit") != std::string_view::npos)
    return text +
           fmt::format("; 'dpmd train --from-deepmd {} --output train.yaml' translates it", request.input);
  return text + fmt::format("; '{} reference' explains the keys of such a file", program);
}

/// An input of another command, by its keys: one line in place of one for each key.
std::string of_another_command(const Tree& document, const Request& request) {
  if (known_share(document, request.program) >= 0.5) return {};
  std::vector<std::string> lines;
  for (const auto& command : commands_that_read(document))
    lines.push_back(fmt::format("'{} {}'", command, request.input));
  if (lines.empty()) return {};
  std::vector<std::string> keys;
  constexpr std::size_t most = 4;
  for (const auto& [key, value] : document.entries())
    if (keys.size() < most) keys.push_back(key);
  return fmt::format("{}: this is an input of another command, not of {}, by its keys {}{}; run it by {}",
                     request.input, request.program, name_list(keys),
                     document.entries().size() > most ? ", ..." : "", fmt::join(lines, " or "));
}

/// See explained(); throws where the file cannot be read.
std::string explained_or_throw(const std::string& problem, const Request& request, const Describe& describe) {
  std::error_code ignored;
  if (!fs::exists(request.input, ignored)) return about_absent(problem, request.input);
  if (!fs::is_regular_file(request.input, ignored)) return problem;
  const std::string text = read_input_file(request.input, most_bytes);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) return about_empty(request, describe);
  if (const auto kind = foreign_kind(text); !kind.empty()) return about_foreign(kind, request);
  if (problem.find(": not valid ") != std::string::npos) return problem;
  const auto hidden = hidden_yaml_problem(text);
  const Location place{request.input, hidden ? hidden->line : 0, hidden ? hidden->column : 0};
  if (hidden) return fmt::format("{}: {}\n{}", place.text(), hidden->what, problem);
  const auto other = of_another_command(read_yaml(request.input), request);
  return other.empty() ? problem : other;
}

/// The one scalar of a tree whose text is what is wanted; null where there is none, or several.
template <class Wanted>
const Tree* only_scalar(const Tree& tree, Wanted wanted) {
  std::vector<const Tree*> open{&tree}, found;
  while (!open.empty()) {
    const Tree& at = *open.back();
    open.pop_back();
    if (at.is_scalar() && wanted(at.as_text())) found.push_back(&at);
    if (at.is_list())
      for (const auto& item : at.items()) open.push_back(&item);
    if (at.is_map())
      for (const auto& [key, value] : at.entries()) open.push_back(&value);
  }
  return found.size() == 1 ? found.front() : nullptr;
}

/// Whether a text of an input names the file of a path, beside whatever folder.
bool names_file(std::string_view path, const std::string& text) {
  auto end = fs::path(text).lexically_normal().string();
  while (end.starts_with("../")) end.erase(0, 3);
  if (end.find_first_of("./") == std::string::npos || !path.ends_with(end)) return false;
  return path.size() == end.size() || end.front() == '/' || path[path.size() - end.size() - 1] == '/';
}

/// The value that a message quotes ("there is no variable 'TEMP'"), where it is no number and the tree has it
/// once; else null.
const Tree* value_quoted_in(std::string_view message, const Tree& tree) {
  for (auto begin = message.find('\''); begin < message.size();) {
    const auto end = message.find('\'', begin + 1);
    if (end == std::string_view::npos) return nullptr;
    const auto quoted = message.substr(begin + 1, end - begin - 1);
    const bool is_word = !quoted.empty() && !to_number(quoted);
    const auto is_it = [&](const std::string& text) { return text == quoted; };
    if (const Tree* const value = is_word ? only_scalar(tree, is_it) : nullptr) return value;
    begin = end;
  }
  return nullptr;
}

/// The value that names the file with which a message begins ("/data/run.h5: is damaged"), where the tree has
/// it once, in whole or as the end of the path; else null.
const Tree* value_of_file_in(std::string_view message, const Tree& tree) {
  const auto path = message.substr(0, message.find(": "));
  if (path.size() == message.size() || path.empty()) return nullptr;
  return only_scalar(tree, [&](const std::string& text) { return names_file(path, text); });
}

}  // namespace

std::string explained(const std::string& problem, const Request& request, const Describe& describe) {
  try {
    return explained_or_throw(problem, request, describe);
  } catch (const std::exception&) {  // an explanation decorates the problem, which is told in any case
    return problem;
  }
}

std::string with_place(const std::string& message, const Tree& document) {
  const bool has_place =
      message.starts_with("--") || message.find(document.location().file + ":") != std::string::npos;
  if (has_place) return message;
  const Tree* value = value_named_in(message, document);
  if (value == nullptr) value = value_quoted_in(message, document);
  if (value == nullptr) value = value_of_file_in(message, document);
  const auto place = value == nullptr ? "" : value->location().text();
  return place.empty() ? message : fmt::format("{}: {}", place, message);
}

}  // namespace quintet
