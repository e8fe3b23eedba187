#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// Marks on keys of a section: given to Schema::check(), they check nothing between keys.
namespace quintet {

/// A key that other commands have in a section of this name and that means nothing here: it is in no printed
/// configuration and on no page, and who sets it is told the reason at its place. Its default alone is passed
/// over: older printed configurations name it.
struct WithoutKey {
  std::string key, reason;
  std::string harmless;  ///< the default as printed
  /// It is the parser that looks: there is nothing to check between keys.
  std::optional<std::string> operator()() const { return std::nullopt; }
};

/// A key, or some choices of it, that experts alone have a reason to set. It is parsed as any other.
/// `--print-config` leaves it out while it has its default, and the reference page has it under a heading of
/// its own.
struct Expert {
  std::string key;
  std::vector<std::string> choices = {};  ///< none: the whole key
  std::string doc = {};                   ///< of the choices
  std::optional<std::string> operator()() const { return std::nullopt; }
};

/// A list whose items mean the same in any order: changes_since() finds no change where they were moved.
struct AnyOrder {
  std::string key;
  std::optional<std::string> operator()() const { return std::nullopt; }
};

/// Every value in force as print_options(), without what experts alone set, where it has its default: for
/// people (--print-config). Parses back to the same.
[[nodiscard]] std::string print_common_options(const Describe& describe);

/// A word of other programs for a value of a choice, in small letters, that is several of ours or none: given
/// to Schema::check(), it is answered by `meant` ("name its thermostat: ...") in place of the nearest name.
struct OtherWord {
  std::string key, word, meant;
  /// It is the parser that looks: there is nothing to check between keys.
  std::optional<std::string> operator()() const { return std::nullopt; }
};

}  // namespace quintet
