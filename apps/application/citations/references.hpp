#pragma once

#include <span>
#include <string_view>

namespace quintet {

/// A publication, and which runs it stands behind.
struct Reference {
  std::string_view key;      ///< "zhang2018deepmd"
  std::string_view bibtex;   ///< the whole entry
  std::string_view command;  ///< "dpmd run"; "dpmd" for all of a program; "" for all
  /// Conditions on the configuration in force, all of which must hold, divided by " & ": "key.path=value",
  /// "key.path!=value", "key.path" (it is given), "!key.path" (it is not, or is an empty list); "" for all
  /// runs.
  std::string_view where;
};

/// All publications whose methods a run may use, in the order in which a file lists them. The one place for
/// them.
[[nodiscard]] std::span<const Reference> references();

}  // namespace quintet
