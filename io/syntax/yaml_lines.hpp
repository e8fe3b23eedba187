#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace quintet {

/// A line of a YAML text that holds more than a comment.
struct YamlLine {
  int number = 0;            ///< from 1
  std::string_view text;     ///< the whole line
  std::size_t indent = 0;    ///< spaces before the content
  std::string_view content;  ///< without indentation and comment
  bool is_inner =
      false;  ///< within brackets or quotes that an earlier line opened, or of a text behind '|' or '>'

  [[nodiscard]] bool has_key() const;
  /// The indentation of the key: of "- a: 1" that of the 'a'.
  [[nodiscard]] std::size_t key_indent() const;
  /// What stands behind the key; "" if nothing does.
  [[nodiscard]] std::string_view value() const;
};

[[nodiscard]] std::vector<YamlLine> yaml_lines(std::string_view text);

/// A bracket or quote without its other half.
struct YamlBracket {
  int line = 0, column = 0;  ///< from 1
  char sign = ' ';
  bool is_stray = false;  ///< closes what is not open
};

/// The first bracket that closes nothing, else the last one, or the quote, that the text leaves open.
[[nodiscard]] std::optional<YamlBracket> yaml_bracket_problem(std::string_view text);

}  // namespace quintet
