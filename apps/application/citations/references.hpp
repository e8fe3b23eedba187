#pragma once

#include <span>
#include <string_view>

namespace quintet {

/// Runs that a publication stands behind.
struct Reference {
  std::string_view key;      ///< "zhang2018deepmd", of publications.hpp
  std::string_view command;  ///< "dpmd run"; "dpmd" for all of a program; "" for all
  /// Conditions on the configuration in force, all of which must hold, divided by " & ": "key.path=value",
  /// "key.path!=value", "key.path" (it is given), "!key.path" (it is not, or is an empty list); "" for all
  /// runs.
  std::string_view where;
};

/// Which runs cite what, in the order in which a file lists the publications. The one place for it.
[[nodiscard]] std::span<const Reference> references();

}  // namespace quintet
