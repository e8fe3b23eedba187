#pragma once

#include <cmath>

namespace quintet {

/// Square root of a sum of squares that round-off may have brought below 0: 0 there, and NaN of NaN.
///
/// sqrt(max(0, x)) makes 0 of what is not known.
inline double rounded_root(double square) { return square < 0 ? 0 : std::sqrt(square); }

}  // namespace quintet
