#pragma once

#include <optional>
#include <string>

#include "io/log/error.hpp"

namespace quintet::meshfreeflow {

/// Return what is wrong with the name of a file that a run leaves beside run.h5, as a check of a schema.
inline std::optional<std::string> problem_of_output(const std::string& name) {
  if (name.ends_with(".h5") && name.find('/') == std::string::npos && name != "run.h5") return std::nullopt;
  return fmt::format("output '{}': expected a name without folders that ends in .h5, but not run.h5", name);
}

}  // namespace quintet::meshfreeflow
