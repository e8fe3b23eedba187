#pragma once

#include <optional>
#include <string>

#include "apps/submatrix/input/system.hpp"

namespace quintet::submatrix {

/// A spin of the system, or both where they are alike.
struct Spin {
  System system;
  std::optional<double> electrons;  ///< to hold; of both spins where they share them
  std::string suffix = "";          ///< of files
};

}  // namespace quintet::submatrix
