#pragma once

#include <cstdint>
#include <vector>

#include "apps/application/report/png.hpp"

namespace quintet {

/// The colours of fields: index 0 is transparent, 1 to 255 run through matplotlib's viridis, or, for values
/// about zero, from blue over white to red.
[[nodiscard]] std::vector<Colour> colour_palette(bool about_zero = false);
/// The index of a place between 0 and 1; 0 for NaN.
[[nodiscard]] std::uint8_t colour_index(double place);

}  // namespace quintet
