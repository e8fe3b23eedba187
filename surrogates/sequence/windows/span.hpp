#pragma once

#include <optional>
#include <string>
#include <utility>

#include "surrogates/sequence/windows/time_step.hpp"

namespace quintet::sequence {

/// A length of time as the user writes it: a number of steps ("8"), or a duration ("56 day", "13 weeks"),
/// which is as many steps of a record as are nearest to it, one at least.
struct Span {
  std::string text;

  Span(int steps) : text(std::to_string(steps)) {}     // NOLINT: a number is steps
  Span(std::string words) : text(std::move(words)) {}  // NOLINT
  Span(const char* words) : text(words) {}             // NOLINT
  /// Throws InputError as error() says.
  [[nodiscard]] int in_steps(const TimeStep& step) const;
  /// Error message for the span, beginning with `key`; nothing if it is valid.
  [[nodiscard]] std::optional<std::string> error(const std::string& key) const;
};

}  // namespace quintet::sequence
