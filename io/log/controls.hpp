#pragma once

#include <string>
#include <string_view>

namespace quintet::log {

/// A text with '?' in place of control characters, but for ends of lines and tabs: words of a file must not
/// steer a terminal, wherever they are quoted. UTF-8 stays, but for its own controls (U+0080 to U+009F).
[[nodiscard]] std::string without_controls(std::string_view text);

}  // namespace quintet::log
