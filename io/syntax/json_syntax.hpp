#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quintet {

/// The first place where a text is not JSON: "3:7: expected ',' or '}' behind the value of 'neuron', found
/// ':'" (line and column from 1); nothing if it is JSON, NaN and Infinity as Python writes them included.
/// Source: RFC 8259.
[[nodiscard]] std::optional<std::string> json_problem(std::string_view text);

}  // namespace quintet
