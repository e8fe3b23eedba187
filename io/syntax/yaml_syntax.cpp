#include "io/syntax/yaml_syntax.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <fmt/format.h>

#include "io/log/counted.hpp"
#include "io/syntax/yaml_lines.hpp"

namespace quintet {

namespace {

using Problem = std::optional<SyntaxProblem>;

/// Signs that look like others: from web pages, text processors and keyboards of other scripts.
struct Lookalike {
  std::string_view bytes, name, instead;
};
constexpr Lookalike lookalikes[] = {{"\u00a0", "a no-break space", "a space"},
                                    {"\u202f", "a narrow no-break space", "a space"},
                                    {"\u2009", "a thin space", "a space"},
                                    {"\u3000", "a wide space", "a space"},
                                    {"\u200b", "a space of no width", "nothing"},
                                    {"\uff1a", "a wide colon", "':'"},
                                    {"\uff0c", "a wide comma", "','"},
                                    {"\u201c", "a printer's quote", "'\"'"},
                                    {"\u201d", "a printer's quote", "'\"'"},
                                    {"\u201e", "a printer's quote", "'\"'"}};

bool is_between_quotes(std::string_view text, std::size_t at) {
  return std::count(text.begin(), text.begin() + at, '\'') % 2 == 1 ||
         std::count(text.begin(), text.begin() + at, '"') % 2 == 1;
}

/// A sign that looks like another, outside comments and quotes.
Problem lookalike_in(const YamlLine& line) {
  const auto whole = line.text.substr(0, line.indent + line.content.size());
  for (const auto& sign : lookalikes)
    if (const auto at = whole.find(sign.bytes); at != std::string_view::npos && !is_between_quotes(whole, at))
      return SyntaxProblem{line.number, static_cast<int>(at) + 1,
                           fmt::format("here is {}; write {}", sign.name, sign.instead)};
  return std::nullopt;
}

constexpr auto tab_words = "the line is indented by a tab; YAML takes spaces alone, so write spaces";

/// A tab before the content, of the lines up to the place found the nearest one to it.
Problem tab_before(const std::vector<YamlLine>& lines, int last) {
  for (auto line = lines.rbegin(); line != lines.rend(); ++line)
    if (line->number <= last && !line->is_inner &&
        line->text.substr(0, line->text.find_first_not_of(" \t")).find('\t') != std::string_view::npos)
      return SyntaxProblem{line->number, 1, tab_words};
  return std::nullopt;
}

/// "steps: 1000" for "steps 1000", "steps:1000" or "steps = 1000"; "time:" for "time"; "" for what is no key.
std::string with_colon(std::string_view content) {
  std::string dash;
  if (content.starts_with("- ")) {
    dash = "- ";
    content = content.substr(std::min(content.find_first_not_of(' ', 2), content.size()));
  }
  std::size_t n = 0;
  while (n < content.size() &&
         (std::isalnum(static_cast<unsigned char>(content[n])) != 0 || content[n] == '_'))
    ++n;
  if (n == 0 || std::isalpha(static_cast<unsigned char>(content[0])) == 0) return {};
  const auto key = content.substr(0, n);
  if (n == content.size()) return fmt::format("{}{}:", dash, key);
  const auto sign = content.find_first_not_of(' ', n);
  const bool has_sign = content[sign] == ':' || content[sign] == '=';
  if (!has_sign && sign == n) return {};
  const auto begin = content.find_first_not_of(' ', has_sign ? sign + 1 : sign);
  return begin == std::string_view::npos ? fmt::format("{}{}:", dash, key)
                                         : fmt::format("{}{}: {}", dash, key, content.substr(begin));
}

/// A line that is no "key: value", which YAML takes as a text that the next line goes on.
Problem colon_missing(const YamlLine& line) {
  if (line.is_inner || line.has_key() || line.content.starts_with('#')) return std::nullopt;
  const auto meant = with_colon(line.content);
  if (meant.empty()) return std::nullopt;
  return SyntaxProblem{line.number, static_cast<int>(line.indent) + 1,
                       fmt::format("':' and a space are missing behind the key; write '{}'", meant)};
}

/// Two of "key: value" in one line, outside brackets.
Problem second_key(const YamlLine& line) {
  const auto value = line.value();
  const auto colon = value.find(": ");
  if (line.is_inner || colon == std::string_view::npos || value.find_first_of("[{'\"") < colon)
    return std::nullopt;
  const auto place = line.content.find(value) + line.indent + colon;
  return SyntaxProblem{
      line.number, static_cast<int>(place) + 1,
      fmt::format("a second ': ' in this line; put each key in a line of its own, or a text that holds "
                  "': ' in quotes: '{}'",
                  value)};
}

std::string spaces(std::size_t n) { return n == 0 ? "no space" : fmt::format("{}", counted(n, "space")); }

/// A line that is deeper than one that has a value already, or as deep as none of the sections above.
Problem indentation(const std::vector<YamlLine>& lines, std::size_t at) {
  const YamlLine& line = lines[at];
  if (line.is_inner || at == 0) return std::nullopt;
  const YamlLine& before = lines[at - 1];
  const int column = static_cast<int>(line.indent) + 1;
  if (!before.is_inner && line.indent > before.key_indent() && before.has_key() && !before.value().empty())
    return SyntaxProblem{
        line.number, column,
        fmt::format("the line is indented by {}, but line {} above it, '{}', by {} and has a value already; "
                    "indent both alike",
                    spaces(line.indent), before.number, before.content, spaces(before.key_indent()))};
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < at; ++i) {
    if (lines[i].is_inner) continue;
    while (!open.empty() && open.back() > lines[i].indent) open.pop_back();
    for (const auto depth : {lines[i].indent, lines[i].key_indent()})
      if (open.empty() || open.back() < depth) open.push_back(depth);
  }
  if (open.empty() || line.indent > open.back() ||
      std::find(open.begin(), open.end(), line.indent) != open.end())
    return std::nullopt;
  std::string known;
  for (const auto depth : open) known += fmt::format("{}{}", known.empty() ? "" : ", ", depth);
  return SyntaxProblem{
      line.number, column,
      fmt::format("the line is indented by {}, which fits no section above it; the open ones have {}",
                  spaces(line.indent), known)};
}

/// A value whose first sign means something else to YAML.
Problem special_sign(const YamlLine& line) {
  const auto value = line.value();
  const bool is_special =
      !value.empty() && std::string_view("*&@`%!").find(value[0]) != std::string_view::npos;
  const bool is_block = value.size() > 1 && (value[0] == '|' || value[0] == '>') &&
                        std::isalpha(static_cast<unsigned char>(value[1])) != 0;
  if (!is_special && !is_block) return std::nullopt;
  return SyntaxProblem{line.number, static_cast<int>(line.content.find(value) + line.indent) + 1,
                       fmt::format("a value that begins with '{}' must be in quotes: '{}'", value[0], value)};
}

/// Something behind the end of a list, map or quoted text.
Problem behind_the_end(const YamlLine& line, const SyntaxProblem& found) {
  const auto value = line.value();
  if (line.is_inner || value.empty() || std::string_view("[{'\"").find(value[0]) == std::string_view::npos)
    return std::nullopt;
  const auto end = value.find_last_of("]}'\"");
  const auto begin = line.content.find(value) + line.indent;
  const auto rest = value.find_first_not_of(' ', end + 1);
  if (end == 0 || rest == std::string_view::npos || found.line != line.number ||
      found.column <= static_cast<int>(begin))
    return std::nullopt;
  return SyntaxProblem{line.number, static_cast<int>(begin + rest) + 1,
                       fmt::format("'{}' stands behind the end of the value {}; remove it, or put it inside",
                                   value.substr(rest), value.substr(0, end + 1))};
}

/// A key as deep as the '-' of the list above it.
Problem key_among_items(const std::vector<YamlLine>& lines, std::size_t at) {
  const YamlLine& line = lines[at];
  if (line.is_inner || at == 0 || line.key_indent() > line.indent) return std::nullopt;
  const YamlLine& before = lines[at - 1];
  if (before.is_inner || before.indent != line.indent || before.key_indent() == before.indent)
    return std::nullopt;
  return SyntaxProblem{
      line.number, static_cast<int>(line.indent) + 1,
      fmt::format("the line stands among the items of a list, without their '- '; indent it by {} to make it "
                  "part of the item above, or less than the list to end it",
                  spaces(before.key_indent()))};
}

/// A bracket or quote that is not closed, or closed and never opened.
Problem unclosed(std::string_view text) {
  const auto open = yaml_bracket_problem(text);
  if (!open) return std::nullopt;
  return SyntaxProblem{
      open->line, open->column,
      open->is_stray
          ? fmt::format("'{}' closes nothing that is open; remove it, or write what it closes", open->sign)
          : fmt::format("'{}' is not closed", open->sign)};
}

}  // namespace

SyntaxProblem likely_yaml_problem(std::string_view text, const SyntaxProblem& found) {
  const auto lines = yaml_lines(text);
  if (const auto tab = tab_before(lines, found.line)) return *tab;
  if (found.what.find("illegal tab") != std::string::npos) return {found.line, 1, tab_words};
  if (found.what.find("unknown escape") != std::string::npos)
    return {found.line, found.column,
            "'\\' has a meaning of its own in double quotes; write the text in single quotes"};
  // The line of the complaint, else the last one before it.
  const auto behind =
      std::find_if(lines.begin(), lines.end(), [&](const auto& line) { return line.number > found.line; });
  if (behind == lines.begin()) return found;
  const auto at = static_cast<std::size_t>(behind - lines.begin()) - 1;
  const auto* const before = at > 0 ? &lines[at - 1] : nullptr;
  for (const auto* line : {&lines[at], before})
    if (line != nullptr)
      if (const auto sign = lookalike_in(*line)) return *sign;
  if (const auto open = unclosed(text); open && open->line <= found.line) return *open;
  if (const auto sign = special_sign(lines[at])) return *sign;
  if (const auto rest = behind_the_end(lines[at], found)) return *rest;
  if (const auto two = second_key(lines[at])) return *two;
  if (before != nullptr)
    if (const auto colon = colon_missing(*before)) return *colon;
  if (const auto item = key_among_items(lines, at)) return *item;
  if (const auto depth = indentation(lines, at)) return *depth;
  if (const auto colon = colon_missing(lines[at])) return *colon;
  return found;
}

std::optional<SyntaxProblem> hidden_yaml_problem(std::string_view text) {
  if (auto open = unclosed(text)) return open;
  const auto lines = yaml_lines(text);
  for (const auto& line : lines)
    if (auto sign = lookalike_in(line)) return sign;
  const bool has_keys = std::any_of(lines.begin(), lines.end(),
                                    [](const auto& line) { return line.has_key() || line.is_inner; });
  return has_keys || lines.empty() ? std::nullopt : colon_missing(lines.front());
}

}  // namespace quintet
