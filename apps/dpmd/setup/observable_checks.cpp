#include "apps/dpmd/setup/observable_checks.hpp"

namespace quintet::dpmd {

std::optional<std::string> problem_of_observables(const RunOptions& options) {
  if (!options.observables.heat_current) return std::nullopt;
  if (options.integrator.ensemble == Ensemble::minimise)
    return "observables.heat_current: a minimisation has no time, and so no current; take "
           "integrator.ensemble: "
           "nve";
  if (is_at_constant_pressure(options.integrator.ensemble))
    return "observables.heat_current needs a cell that stays; take integrator.ensemble: nve, in a cell of "
           "the "
           "mean volume at this pressure";
  if (options.frozen) return "observables.heat_current needs atoms that all move; remove the section frozen";
  if (options.potential.dispersion)
    return "observables.heat_current needs virials that potential.dispersion does not have by atom: those of "
           "the derivatives of each atom's energy; remove one of the two";
  return std::nullopt;
}

}  // namespace quintet::dpmd
