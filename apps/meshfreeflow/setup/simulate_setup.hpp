#pragma once

#include <memory>
#include <string>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "physics/convection/boussinesq.hpp"

namespace quintet::meshfreeflow {

/// The flows of a run, at rest and without a start. Memory is asked for before anything is allocated.
/// Collective. Throws InputError for what does not fit together.
[[nodiscard]] std::unique_ptr<convection::Boussinesq> make_flow(const Context& context,
                                                                const SimulateOptions& options);

/// "Ra 1e+06, Pr 1, 128 x 64 cells on 4 x 1, no-slip plates, periodic sides".
[[nodiscard]] std::string description(const SimulateOptions& options);

}  // namespace quintet::meshfreeflow
