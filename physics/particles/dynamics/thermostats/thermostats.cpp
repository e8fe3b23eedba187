#include "physics/particles/dynamics/thermostats/thermostats.hpp"

#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/thermostats/langevin.hpp"
#include "physics/particles/dynamics/thermostats/nose_hoover.hpp"
#include "physics/particles/dynamics/thermostats/velocity_rescaling.hpp"

namespace quintet {

namespace {

using Options = IntegratorOptions;

std::unique_ptr<Coupling> make_langevin(const Options& options, std::uint64_t seed) {
  return std::make_unique<LangevinBath>(options.friction, seed);
}

std::unique_ptr<Coupling> make_velocity_rescaling(const Options& options, std::uint64_t seed) {
  return std::make_unique<VelocityRescaling>(options.relaxation_time, seed);
}

std::unique_ptr<Coupling> make_nose_hoover(const Options& options, std::uint64_t) {
  QUINTET_CHECK(*options.temperature > 0, "integrator.temperature is 0 K; nose_hoover needs one above 0");
  return std::make_unique<NoseHooverChain>(options.relaxation_time, options.chain_length,
                                           units::boltzmann * *options.temperature);
}

std::unique_ptr<CellThermostat> make_cell_noise(const Options& options, std::uint64_t seed) {
  return std::make_unique<CellNoise>(options.barostat.relaxation_time, seed);
}

std::unique_ptr<CellThermostat> make_cell_chain(const Options& options, std::uint64_t) {
  return std::make_unique<CellNoseHoover>(options.barostat.relaxation_time, options.chain_length,
                                          units::boltzmann * *options.temperature);
}

constexpr ThermostatRow table[] = {
    {Thermostat::langevin, "langevin", "Langevin dynamics (BAOAB)", false, make_langevin, make_cell_noise},
    {Thermostat::velocity_rescaling, "velocity_rescaling", "stochastic velocity rescaling", false,
     make_velocity_rescaling, make_cell_noise},
    {Thermostat::nose_hoover, "nose_hoover", "a Nose-Hoover chain", true, make_nose_hoover, make_cell_chain}};

}  // namespace

std::span<const ThermostatRow> thermostats() { return table; }

}  // namespace quintet
