#pragma once

#include <string_view>

#include "io/config/tree.hpp"

namespace quintet {

/// Parse what a scheduler prints as JSON, where it does not print quite that: qstat copies a job's variables
/// as they are, with `\,`, control characters, bytes that are no UTF-8, quotes inside of text, and words
/// without quotes.
///
/// Of a key that comes twice the first stands; text behind the document is left out; what breaks off ends
/// there. Never throws; what is no map or list at all is null. Numbers and words are scalars as they stand.
[[nodiscard]] Tree parse_loose_json(std::string_view text);

}  // namespace quintet
