#include "physics/particles/dynamics_options.hpp"

namespace quintet {

void describe(Schema& schema, TimeOptions& options) {
  schema.quantity("dt", options.dt, "ps", "Time step").above(0).example("0.5 fs");
  schema.integer("steps", options.steps, "Number of steps (of a minimisation: at most)")
      .required()
      .at_least(0)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, BarostatOptions& options) {
  schema.quantity("pressure", options.pressure, "bar", "Target pressure");
  schema.quantity("pressure_end", options.pressure_end, "bar", "Target at the last step; linear in between");
  schema
      .quantity("relaxation_time", options.relaxation_time, "ps",
                "Time in which the volume relaxes if the compressibility is right")
      .above(0);
  schema
      .quantity("compressibility", options.compressibility, "1/bar",
                "Isothermal compressibility, roughly (default: water); a wrong one only changes the "
                "relaxation time")
      .above(0);
  schema.choice("coupling", options.coupling,
                {{"isotropic", CellCoupling::isotropic}, {"anisotropic", CellCoupling::anisotropic}},
                "Scale all directions alike, or x, y and z each by its own pressure");
  schema.choice(
      "thermostat", options.thermostat,
      {{"velocity_rescaling", NptThermostat::velocity_rescaling}, {"langevin", NptThermostat::langevin}},
      "What keeps the temperature");
}

void describe(Schema& schema, MinimiserOptions& options) {
  schema
      .quantity("force_tolerance", options.force_tolerance, "eV/angstrom",
                "Stop when no atom's force is longer than this")
      .above(0);
  schema
      .quantity("max_displacement", options.max_displacement, "angstrom", "Farthest an atom moves in a step")
      .above(0);
  schema.number("dt_max_factor", options.dt_max_factor, "Longest step, in units of time.dt").at_least(1);
}

void describe(Schema& schema, IntegratorOptions& options) {
  schema.choice(
      "ensemble", options.ensemble,
      {{"nve", Ensemble::nve},
       {"langevin", Ensemble::langevin},
       {"velocity_rescaling", Ensemble::velocity_rescaling},
       {"nose_hoover", Ensemble::nose_hoover},
       {"npt", Ensemble::npt},
       {"minimise", Ensemble::minimise}},
      "Velocity Verlet (nve); at constant temperature by Langevin (BAOAB), stochastic velocity rescaling or "
      "Nose-Hoover chains; npt: stochastic cell rescaling; minimise: FIRE 2.0");
  schema.quantity("temperature", options.temperature, "K", "Target temperature (all but nve and minimise)")
      .at_least(0)
      .example("300 K");
  schema
      .quantity("temperature_end", options.temperature_end, "K", "Target at the last step; linear in between")
      .at_least(0);
  schema.quantity("friction", options.friction, "1/ps", "Langevin friction").above(0);
  schema
      .quantity("relaxation_time", options.relaxation_time, "ps",
                "Relaxation time of velocity_rescaling and nose_hoover")
      .above(0);
  schema.integer("chain_length", options.chain_length, "Thermostats in the Nose-Hoover chain")
      .at_least(1)
      .at_most(20);
  schema.section("barostat", options.barostat, "Constant pressure, for ensemble npt");
  schema.section("minimiser", options.minimiser, "For ensemble minimise");
  schema.check([&options]() -> std::optional<std::string> {
    const bool needed = options.ensemble != Ensemble::nve && options.ensemble != Ensemble::minimise;
    if (needed && !options.temperature) return "this ensemble needs a temperature: add 'temperature: 300 K'";
    if (!needed && options.temperature_end)
      return "temperature_end has no meaning for ensembles nve and minimise";
    return std::nullopt;
  });
}

void describe(Schema& schema, VelocityOptions& options) {
  schema
      .quantity("temperature", options.temperature, "K",
                "Draw velocities at this temperature (default: keep the input's; if it has none, "
                "integrator.temperature)")
      .at_least(0);
  schema.flag("remove_momentum", options.remove_momentum, "Start with the centre of mass at rest");
}

}  // namespace quintet
