#pragma once

#include <optional>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/report/report.hpp"
#include "apps/dpmd/run/simulation.hpp"

namespace quintet::dpmd {

/// g(r) from elsewhere to set beside the run's.
struct ReferenceCurve {
  Curve curve;
  std::string column;  ///< heading of its second column: O_O is compared with that of the run, else all atoms
};

/// Read the curve of `reference.rdf`, if given. Throws InputError if it is not a curve.
[[nodiscard]] std::optional<ReferenceCurve> read_reference(const ReferenceOptions& options);

/// How far a minimisation has come: largest force and whether it is within the tolerance, in log, summary and
/// report. Collective. Returns what to say where it has not converged, else "".
[[nodiscard]] std::string report_convergence(Context& context, const RunOptions& options,
                                             const Simulation& simulation);

/// Speed, observables and comparison with references: into run.h5, summary.json and report.html. Collective.
/// `steps` were done by this process in `seconds` (wall).
void report_run(Context& context, const RunOptions& options, const std::optional<ReferenceCurve>& reference,
                const Simulation& simulation, std::int64_t steps, double seconds);

}  // namespace quintet::dpmd
