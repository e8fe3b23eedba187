#pragma once

#include <cstdint>
#include <optional>

#include "io/config/schema_fwd.hpp"

namespace quintet::dpmd {

/// Arithmetic of the models that accompany the one that drives a run.
enum class CompanionPrecision { as_the_run, fp64, mixed };

/// Section `deviation`: how far the models of `potential.model` disagree along the run.
struct DeviationOptions {
  std::int64_t interval = 100;
  std::optional<double> relative_force;   ///< (eV/angstrom)
  std::optional<double> relative_virial;  ///< (eV)
  bool atomic = false;
  CompanionPrecision precision = CompanionPrecision::mixed;
};
void describe(Schema& schema, DeviationOptions& options);

}  // namespace quintet::dpmd
