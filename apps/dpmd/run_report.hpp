#pragma once

#include "apps/application/context.hpp"
#include "apps/dpmd/simulation.hpp"

namespace quintet::dpmd {

/// The curve of `reference.rdf`, if there is one. Throws InputError for what is no curve.
[[nodiscard]] std::optional<Curve> read_reference(const ReferenceOptions& options);

/// Speed, observables and comparison with references: into run.h5, summary.json and report.html. Collective.
/// `steps` were done by this process in `seconds` (wall).
void report_run(Context& context, const RunOptions& options, const std::optional<Curve>& reference,
                const Simulation& simulation, std::int64_t steps, double seconds);

}  // namespace quintet::dpmd
