#include "physics/particles/integrators.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "physics/particles/barostats.hpp"
#include "physics/particles/minimise.hpp"
#include "physics/particles/thermostats.hpp"
#include "physics/particles/units.hpp"

namespace quintet {

namespace {

/// A value that runs linearly from `first` at step 0 to `last` at step `steps`.
struct Ramp {
  double first = 0, last = 0;
  std::int64_t steps = 0;
  [[nodiscard]] double at(std::int64_t step) const {
    return steps > 0 ? first + (last - first) * static_cast<double>(step) / static_cast<double>(steps)
                     : first;
  }
};

/// Velocity Verlet with baths: half kick, half drift, baths, half drift, forces, half kick.
///
/// No bath: Swope et al. (1982). Langevin in the middle: BAOAB, Leimkuhler & Matthews (2013).
class MolecularDynamics : public Integrator {
 public:
  MolecularDynamics(std::string kind, std::string description, double dt, Ramp kt, Ramp pressure,
                    std::vector<std::unique_ptr<Coupling>> baths)
      : kind_(std::move(kind)),
        description_(std::move(description)),
        dt_(dt),
        kt_(kt),
        pressure_(pressure),
        baths_(std::move(baths)) {}

  void step(const Exec& exec, ParticleSystem& system, std::int64_t step) override {
    const Tick tick{step, dt_, kt_.at(step), pressure_.at(step)};
    for (auto& bath : baths_) bath->before(exec, system, tick);
    kick(exec, system.atoms, dt_ / 2);
    drift(exec, system.atoms, dt_ / 2);
    for (auto& bath : baths_) bath->middle(exec, system, tick);
    drift(exec, system.atoms, dt_ / 2);
    system.update_forces(exec);
    kick(exec, system.atoms, dt_ / 2);
    for (auto& bath : baths_) bath->after(exec, system, tick);
  }

  [[nodiscard]] double bath_energy() const override {
    double sum = 0;
    for (const auto& bath : baths_) sum += bath->energy();
    return sum;
  }
  [[nodiscard]] bool conserves_momentum() const override {
    for (const auto& bath : baths_)
      if (!bath->conserves_momentum()) return false;
    return true;
  }
  [[nodiscard]] std::string description() const override { return description_; }

  [[nodiscard]] IntegratorState state() const override {
    IntegratorState all{kind_, {}};
    for (const auto& bath : baths_) {
      const auto one = bath->state();
      all.values.insert(all.values.end(), one.begin(), one.end());
    }
    return all;
  }
  void restore(const IntegratorState& state) override {
    const auto mine = this->state();
    QUINTET_CHECK(
        state.kind == mine.kind && state.values.size() == mine.values.size(),
        "the checkpoint holds the state of integrator '{}' ({} numbers), the options ask for '{}' ({} "
        "numbers); restart with the options of the first run, or start anew from its last frame",
        state.kind, state.values.size(), mine.kind, mine.values.size());
    std::size_t begin = 0;
    for (auto& bath : baths_) {
      const std::size_t size = bath->state().size();
      bath->restore(std::span(state.values).subspan(begin, size));
      begin += size;
    }
  }

 private:
  std::string kind_, description_;
  double dt_;
  Ramp kt_, pressure_;
  std::vector<std::unique_ptr<Coupling>> baths_;
};

std::unique_ptr<Coupling> make_thermostat(const IntegratorOptions& options, std::uint64_t seed) {
  const bool npt = options.ensemble == Ensemble::npt;
  const bool npt_langevin = npt && options.barostat.thermostat == NptThermostat::langevin;
  if (options.ensemble == Ensemble::langevin || npt_langevin)
    return std::make_unique<LangevinBath>(options.friction, seed);
  if (options.ensemble == Ensemble::nose_hoover) {
    QUINTET_CHECK(*options.temperature > 0, "integrator.temperature is 0 K; nose_hoover needs one above 0");
    return std::make_unique<NoseHooverChain>(options.relaxation_time, options.chain_length,
                                             units::boltzmann * *options.temperature);
  }
  return std::make_unique<VelocityRescaling>(options.relaxation_time, seed);
}

std::string describe_ensemble(const IntegratorOptions& options, double dt) {
  std::string text = fmt::format("{}, dt {:g} fs", ensemble_name(options.ensemble), 1e3 * dt);
  if (options.ensemble == Ensemble::nve) return text;
  text += fmt::format(", {:g} K", *options.temperature);
  if (options.temperature_end) text += fmt::format(" to {:g} K", *options.temperature_end);
  if (options.ensemble == Ensemble::npt) {
    text += fmt::format(", {:g} bar", options.barostat.pressure);
    if (options.barostat.pressure_end) text += fmt::format(" to {:g} bar", *options.barostat.pressure_end);
  }
  return text;
}

/// The name, and for npt the parts it is made of, so that a checkpoint cannot be taken for that of another.
std::string kind_of(const IntegratorOptions& options) {
  if (options.ensemble != Ensemble::npt) return ensemble_name(options.ensemble);
  return std::string("npt, ") +
         (options.barostat.coupling == CellCoupling::isotropic ? "isotropic" : "anisotropic") + ", " +
         (options.barostat.thermostat == NptThermostat::langevin ? "langevin" : "velocity_rescaling");
}

}  // namespace

std::string ensemble_name(Ensemble ensemble) {
  switch (ensemble) {
    case Ensemble::nve:
      return "nve";
    case Ensemble::langevin:
      return "langevin";
    case Ensemble::velocity_rescaling:
      return "velocity_rescaling";
    case Ensemble::nose_hoover:
      return "nose_hoover";
    case Ensemble::npt:
      return "npt";
    case Ensemble::minimise:
      return "minimise";
  }
  throw InternalError("ensemble without a name");
}

std::unique_ptr<Integrator> make_integrator(const IntegratorOptions& options, const TimeOptions& time,
                                            std::uint64_t seed, ParticleSystem& system) {
  if (options.ensemble == Ensemble::minimise)
    return std::make_unique<FireMinimiser>(options.minimiser, time.dt);
  std::vector<std::unique_ptr<Coupling>> baths;
  Ramp kt, pressure;
  if (options.ensemble != Ensemble::nve) {
    QUINTET_CHECK(options.temperature.has_value(), "integrator.temperature is missing; ensemble {} needs one",
                  ensemble_name(options.ensemble));
    kt = {units::boltzmann * *options.temperature,
          units::boltzmann * options.temperature_end.value_or(*options.temperature), time.steps};
    baths.push_back(make_thermostat(options, seed));
  }
  if (options.ensemble == Ensemble::npt) {
    QUINTET_CHECK(
        system.atoms.box.fully_periodic(),
        "ensemble npt scales the whole cell, but a direction of it is open; use a periodic cell or nvt");
    const auto& b = options.barostat;
    pressure = {b.pressure / units::ev_per_a3_to_bar,
                b.pressure_end.value_or(b.pressure) / units::ev_per_a3_to_bar, time.steps};
    baths.push_back(std::make_unique<CellRescaling>(b.coupling, b.compressibility * units::ev_per_a3_to_bar,
                                                    b.relaxation_time, seed));
  }
  auto integrator = std::make_unique<MolecularDynamics>(kind_of(options), describe_ensemble(options, time.dt),
                                                        time.dt, kt, pressure, std::move(baths));
  system.degrees_of_freedom = degrees_of_freedom(system.atoms.n_global, integrator->conserves_momentum());
  return integrator;
}

}  // namespace quintet
