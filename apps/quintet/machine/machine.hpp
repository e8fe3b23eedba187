#pragma once

#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

/// The commands `quintet machine` and `quintet measure`.
namespace quintet::commands {

/// Words of `quintet machine`: `name` by place.
struct MachineFlags {
  std::string name = "local";
  bool print_config = false, calibrate = false;
  std::optional<std::string> output;
};
void describe(Schema& schema, MachineFlags& flags);
/// quintet machine [NAME|FILE] [--print-config] [--calibrate] [--output FILE]
void machine(const MachineFlags& flags);

/// Words of `quintet measure`: `name` by place.
struct MeasureFlags {
  std::string name = "local", disk = ".";
  std::optional<std::string> output;
};
void describe(Schema& schema, MeasureFlags& flags);
/// quintet measure [NAME|FILE] --output FILE --disk FOLDER: measure on the ranks that were started.
/// Collective.
void measure(const Comm& comm, const MeasureFlags& flags);

}  // namespace quintet::commands
