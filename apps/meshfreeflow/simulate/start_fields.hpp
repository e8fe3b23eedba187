#pragma once

#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "physics/convection/boussinesq.hpp"

namespace quintet::meshfreeflow {

/// The options with a flow, and a number in `seeds`, for each sample and chosen frame of start.fields;
/// without that key as they are. Throws InputError: no frame is chosen, or seeds are given, too.
[[nodiscard]] SimulateOptions with_start_fields(const SimulateOptions& options);

/// Set u, w and b of all members to those of start.fields, samples one after another, each with its frames in
/// order of time: means over the control volumes of this grid of what is linear between the file's points and
/// the values at walls. Of fewer members than there are such frames the first ones are taken. p becomes 0.
/// Each rank reads the file. Throws InputError: another domain, fields that are missing.
void fill_from_fields(const SimulateOptions& options, convection::Boussinesq& flow);

}  // namespace quintet::meshfreeflow
