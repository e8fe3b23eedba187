#pragma once

#include <cstdint>
#include <optional>

#include "io/config/schema_fwd.hpp"

namespace quintet::dpmd {

/// Section `deviation`: how far the models of `potential.model` disagree along the run.
struct DeviationOptions {
  std::int64_t interval = 100;
  std::optional<double> relative_force;   ///< (eV/angstrom)
  std::optional<double> relative_virial;  ///< (eV)
  bool atomic = false;
};
void describe(Schema& schema, DeviationOptions& options);

}  // namespace quintet::dpmd
