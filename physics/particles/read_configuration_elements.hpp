#pragma once

#include <optional>
#include <string>

namespace quintet {

/// Symbol of the element whose standard atomic mass is nearest to `mass` (amu), if it is within 0.1 amu.
[[nodiscard]] std::optional<std::string> element_of_mass(double mass);

}  // namespace quintet
