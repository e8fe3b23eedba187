#pragma once

#include <memory>
#include <string>

#include "physics/ocean/sources/field_source.hpp"

namespace quintet::test {

/// A source of one file, as programs make them of many.
inline std::unique_ptr<ocean::FieldSource> open_fields(const std::string& path, const std::string& variable,
                                                       const ocean::FieldOptions& options = {}) {
  return ocean::source_of(ocean::look_at_fields(path, variable, options), variable, options);
}

}  // namespace quintet::test
