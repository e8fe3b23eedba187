#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// The command `quintet plan`.
namespace quintet::commands {

/// Words of `quintet plan`: `file` by place.
struct PlanFlags {
  std::string file, machine = "local", ranks;
  std::optional<std::string> application, command, threads, output, metg;
  std::vector<std::string> settings;
  bool oracle = false;
};
void describe(Schema& schema, PlanFlags& flags);
/// quintet plan FILE --machine M --ranks 1,8,64: what the run would take in each decomposition.
void plan(const PlanFlags& flags);

}  // namespace quintet::commands
