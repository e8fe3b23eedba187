#pragma once

#include <array>
#include <string_view>

#include "physics/kinetics/space/species.hpp"

namespace quintet::kinetics {

struct BoundaryRow {
  Boundary value;
  std::string_view name;  ///< in YAML and in words
};
inline constexpr std::array<BoundaryRow, 5> boundaries{{{Boundary::periodic, "periodic"},
                                                        {Boundary::reflecting, "reflecting"},
                                                        {Boundary::absorbing, "absorbing"},
                                                        {Boundary::open, "open"},
                                                        {Boundary::fixed, "fixed"}}};

}  // namespace quintet::kinetics
