#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

namespace quintet::commands {

/// Words of `quintet registry`: `action`, `file` and `models` by place.
struct RegistryOptions {
  std::string action, file;
  std::vector<std::string> ids, ranges, models;
  std::optional<std::string> licence, source, data;
  bool replace = false;
};
void describe(Schema& schema, RegistryOptions& options);
/// quintet registry add|list|verify|remove FILE.h5 [MODEL...]
void registry(const RegistryOptions& options);

}  // namespace quintet::commands
