#pragma once

#include <string>
#include <vector>

#include "io/config/schema.hpp"

namespace quintet {

/// A formula that the options in force hold.
struct KeyedFormula {
  std::string key;  ///< "species.0.velocity.lower.1"; under names of the user's choice "constants.k"
  FormulaText formula;
};

/// All formulas of the options in force, in the order of the description; keys that may be absent and are,
/// and required ones that are not given yet, have none.
[[nodiscard]] std::vector<KeyedFormula> formulas_in(const Describe& describe);

}  // namespace quintet
