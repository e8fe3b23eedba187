#pragma once

#include <string>

namespace quintet {

/// A key of summary.json as people say it.
struct KeyWords {
  std::string name;  ///< "pressure mean"
  std::string unit;  ///< "bar"; "" for a plain number
};

/// Words and unit of a key, whose last parts name its unit: "pressure_mean_bar", "energy_ev_per_atom".
[[nodiscard]] KeyWords words_of_key(const std::string& key);

}  // namespace quintet
