#pragma once

#include <optional>
#include <string>

namespace quintet {

/// Symbol of the element whose standard atomic mass is nearest to `mass` (amu).
[[nodiscard]] std::string nearest_element(double mass);
/// Symbol of the element of an atomic number (29: "Cu"); throws InputError where there is none.
[[nodiscard]] std::string element_of_number(int number);
/// Symbol of the element whose standard atomic mass is nearest to `mass`, if within 0.1 amu.
[[nodiscard]] std::optional<std::string> element_of_mass(double mass);
/// Standard atomic mass (amu) of an element symbol, D and T included; nothing for another word.
[[nodiscard]] std::optional<double> standard_mass(const std::string& symbol);

}  // namespace quintet
