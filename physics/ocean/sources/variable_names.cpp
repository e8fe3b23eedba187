#include "physics/ocean/sources/variable_names.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace quintet::ocean {
namespace {

constexpr const char* taken[] = {"first", "sst", "a", "time", "mode", "member", "lat", "lon", "bounds"};
constexpr const char* taken_ends[] = {"_spread", "_error", "_bnds", "_members"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Small letters of a text alone.
std::string letters(const std::string& text) {
  std::string plain;
  for (const char c : text)
    if (is_letter(c)) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return plain;
}

}  // namespace

bool name_sea_surface_temperature(const VariableNames& names) {
  const auto variable = letters(names.variable);
  if (variable.empty() || variable == "tos" || variable.find("sst") != std::string::npos) return true;
  const auto say = [](const std::string& text) {
    return letters(text).find("seasurfacetemp") != std::string::npos;
  };
  return say(names.standard_name) || say(names.long_name);
}

bool is_free_name(const std::string& name) {
  const bool plain =
      !name.empty() && name.size() <= longest_variable_name && is_letter(name.front()) &&
      std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
  const bool is_taken = std::find(std::begin(taken), std::end(taken), name) != std::end(taken) ||
                        std::any_of(std::begin(taken_ends), std::end(taken_ends),
                                    [&](const char* end) { return name.ends_with(end); }) ||
                        name.starts_with("forecast_") || name.starts_with("lat_") || name.starts_with("lon_");
  return plain && !is_taken;
}

}  // namespace quintet::ocean
