#pragma once

#include <string_view>

#include "io/config/tree.hpp"

namespace quintet {

/// Parse the output of a scheduler that is almost JSON. qstat copies a job's variables as they are, with
/// `\,`, control characters, bytes that are not UTF-8, quotes inside text, and words without quotes.
///
/// The first of two equal keys holds; text after the document is left out; a document that breaks off ends
/// there. Never throws; anything but a map or list becomes null. Numbers and words are scalars as they stand.
[[nodiscard]] Tree parse_loose_json(std::string_view text);

}  // namespace quintet
