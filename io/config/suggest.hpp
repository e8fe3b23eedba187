#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// "Did you mean": the name a user probably meant.
namespace quintet {

/// Number of insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`, case ignored
/// and
/// '-' taken as '_' (optimal string alignment; F. J. Damerau, CACM 7, 171 (1964)).
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The name nearest to what was given, or "" if none is near (more than a third of the letters differ).
[[nodiscard]] std::string closest(std::string_view given, const std::vector<std::string>& names);

/// "; did you mean 'x'?" for messages, or "" if no name is near.
[[nodiscard]] std::string did_you_mean(std::string_view given, const std::vector<std::string>& names);

/// Names as "a, b, c".
[[nodiscard]] std::string name_list(const std::vector<std::string>& names);

}  // namespace quintet
