#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quintet {

/// A place of a text and what is wrong there.
struct SyntaxProblem {
  int line = 0, column = 0;  ///< from 1
  std::string what;
};

/// The likely mistake in a text that a parser of YAML has refused, with what to write instead: a tab, a
/// no-break space, a bracket or quote that is not closed, a missing ':', two keys in a line, an indentation
/// that fits nothing.
///
/// `found`: the place and complaint of the parser, which lie at or behind the mistake and are returned where
/// nothing likelier is seen. To be asked about refused texts alone: nothing is refused for what is said here.
[[nodiscard]] SyntaxProblem likely_yaml_problem(std::string_view text, const SyntaxProblem& found);

/// What a parser of YAML takes for something else than it looks like: a quote or bracket that is never
/// closed, a no-break space or a wide colon among the keys. To be asked where the values make no sense.
[[nodiscard]] std::optional<SyntaxProblem> hidden_yaml_problem(std::string_view text);

}  // namespace quintet
