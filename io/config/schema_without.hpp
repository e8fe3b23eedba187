#pragma once

#include <optional>
#include <string>

namespace quintet {

/// A key that other commands have in a section of this name and that means nothing here: given to
/// Schema::check(), it is in no printed configuration and on no page, and who sets it is told the reason at
/// its place. Its default alone is passed over: older printed configurations name it.
struct WithoutKey {
  std::string key, reason;
  std::string harmless;  ///< the default as printed
  /// It is the parser that looks: there is nothing to check between keys.
  std::optional<std::string> operator()() const { return std::nullopt; }
};

}  // namespace quintet
