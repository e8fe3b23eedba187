#include "physics/particles/observables/observables_options.hpp"

#include "io/config/schema.hpp"
#include "physics/particles/observables/bonds.hpp"
#include "physics/particles/observables/heat/thermal_conductivity.hpp"
#include "physics/particles/observables/msd.hpp"
#include "physics/particles/observables/rdf.hpp"
#include "physics/particles/observables/vacf.hpp"

namespace quintet {

namespace {

void describe_correlation(Schema& schema, CorrelationOptions& options) {
  schema.integer("interval", options.interval, "Steps between two samples")
      .at_least(1)
      .on_restart(OnRestart::fixed);
  schema.integer("length", options.length, "Longest time difference, in samples")
      .at_least(2)
      .at_most(1000000)
      .on_restart(OnRestart::fixed);
  schema
      .integer("origin_interval", options.origin_interval,
               "A new time origin every so many samples; length / origin_interval origins are held, 24 bytes "
               "an atom "
               "each")
      .at_least(1)
      .on_restart(OnRestart::fixed);
}

}  // namespace

void describe(Schema& schema, RdfOptions& options) {
  schema.integer("interval", options.interval, "Steps between two samples")
      .at_least(1)
      .on_restart(OnRestart::fixed);
  schema.quantity("r_max", options.r_max, "angstrom", "Largest distance")
      .above(0)
      .at_most(100)
      .on_restart(OnRestart::fixed);
  schema.quantity("bin_width", options.bin_width, "angstrom", "Width of a bin")
      .at_least(1e-4)
      .on_restart(OnRestart::fixed);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.bin_width > options.r_max) return "bin_width is larger than r_max";
    return std::nullopt;
  });
}

void describe(Schema& schema, BondOptions& options) {
  constexpr double farthest = 10;  // (angstrom) pairs of bonds grow as its sixth power
  schema.integer("interval", options.interval, "Steps between two samples")
      .at_least(1)
      .on_restart(OnRestart::fixed);
  schema.quantity("cutoff", options.cutoff, "angstrom", "Atoms are bonded while they are nearer than this")
      .required()
      .at_least(0)
      .at_most(farthest)
      .on_restart(OnRestart::fixed)
      .example("3.2 angstrom");
  schema
      .named_quantities("pairs", options.pairs, "angstrom",
                        "Other cutoffs, by pairs of types; 0: such atoms are never bonded")
      .at_least(0)
      .at_most(farthest)
      .on_restart(OnRestart::fixed)
      .example("{O_H: 1.25 angstrom, H_H: 0 angstrom}");
  schema.quantity("bin_width", options.bin_width, "angstrom", "Width of a bin of lengths")
      .at_least(1e-4)
      .at_most(farthest)
      .on_restart(OnRestart::fixed);
  schema
      .integer("angle_bins", options.angle_bins,
               "Widths of a bin of angles from 0 to 180 degrees. Bins have their middle at multiples of it")
      .at_least(2)
      .at_most(18000)
      .on_restart(OnRestart::fixed);
}

void describe(Schema& schema, MsdOptions& options) {
  describe_correlation(schema, options.correlation);
  schema
      .number("fit_start", options.fit_start,
              "The line for the diffusion coefficient is fitted from this fraction of the longest time to "
              "its end")
      .at_least(0)
      .at_most(0.9)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, VacfOptions& options) { describe_correlation(schema, options.correlation); }

void describe(Schema& schema, HeatCurrentOptions& options) {
  schema
      .integer("interval", options.interval,
               "Steps between two samples; a sample costs one more evaluation of the forces")
      .at_least(1)
      .on_restart(OnRestart::fixed);
  schema
      .integer("length", options.length,
               "Longest time difference, in samples: the correlation should have decayed by then")
      .at_least(2)
      .at_most(100000)
      .on_restart(OnRestart::fixed);
  schema
      .number("plateau_start", options.plateau_start,
              "The conductivity is the mean of the integral from this fraction of the longest time "
              "difference to its end")
      .at_least(0)
      .at_most(1)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, ObservablesOptions& options) {
  schema.section("rdf", options.rdf, "Radial distribution functions g(r) and coordination numbers")
      .on_restart(OnRestart::free);
  schema.section("bonds", options.bonds, "Distributions of bond lengths and bond angles, by types")
      .on_restart(OnRestart::free);
  schema.section("msd", options.msd, "Mean-square displacements and diffusion coefficients")
      .on_restart(OnRestart::free);
  schema.section("vacf", options.vacf, "Velocity autocorrelation and vibrational spectrum")
      .on_restart(OnRestart::free);
  schema
      .section("heat_current", options.heat_current,
               "Autocorrelation of the heat current and the thermal conductivity by Green and Kubo, at "
               "constant volume. It is the conductivity where types do not diffuse past one another")
      .on_restart(OnRestart::free);
}

std::vector<std::unique_ptr<Observer>> make_observables(const ObservablesOptions& options,
                                                        const TimeOptions& time, ForceField& field) {
  std::vector<std::unique_ptr<Observer>> observers;
  if (options.rdf) observers.push_back(std::make_unique<RadialDistribution>(*options.rdf));
  if (options.bonds) observers.push_back(std::make_unique<BondGeometry>(*options.bonds));
  if (options.msd) observers.push_back(std::make_unique<MeanSquareDisplacement>(*options.msd, time.dt));
  if (options.vacf) observers.push_back(std::make_unique<VelocityAutocorrelation>(*options.vacf, time.dt));
  if (options.heat_current)
    observers.push_back(std::make_unique<ThermalConductivity>(*options.heat_current, time.dt, field));
  return observers;
}

}  // namespace quintet
