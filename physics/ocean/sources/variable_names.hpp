#pragma once

#include <string>

namespace quintet::ocean {

/// What a file calls a variable; empty where it says nothing.
struct VariableNames {
  std::string variable, long_name, standard_name;
};

/// Whether these are names of a sea-surface temperature. Those of a made-up ocean, which has no file, are.
[[nodiscard]] bool name_sea_surface_temperature(const VariableNames& names);

/// Whether a text can name a variable beside those that forecast.nc, modes.nc and summary.json have: letters,
/// digits and _, a letter first, none of theirs.
[[nodiscard]] bool is_free_name(const std::string& name);
inline constexpr int longest_variable_name = 40;

}  // namespace quintet::ocean
