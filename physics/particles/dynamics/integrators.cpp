#include "physics/particles/dynamics/integrators.hpp"

#include <array>
#include <cmath>

#include <fmt/ranges.h>

#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/barostats.hpp"
#include "physics/particles/dynamics/flexible_cell.hpp"
#include "physics/particles/dynamics/minimise.hpp"
#include "physics/particles/dynamics/thermostats/thermostats.hpp"

namespace quintet {

namespace {

/// A value that runs linearly from `first` at step 0 to `last` at step `steps`.
struct Ramp {
  double first = 0, last = 0;
  std::int64_t steps = 0;
  [[nodiscard]] double at(std::int64_t step) const {
    return steps > 0 ? first + (last - first) * step / steps : first;
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
    // The way back: a step is a palindrome, as far as there is no noise.
    for (auto bath = baths_.rbegin(); bath != baths_.rend(); ++bath) (*bath)->after(exec, system, tick);
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

/// Directions of `axes` that something moves, the barostat; `section` of integrator says so. Throws
/// InputError where that would move a row that is open.
std::array<bool, 3> moving_axes(const std::vector<std::string>& names, const char* mover, const char* section,
                                const Box& box) {
  std::array<bool, 3> axes{};
  for (const auto& axis : names) axes[axis[0] - 'x'] = true;
  for (int k = 0; k < 3; ++k)
    for (int l = 0; l < 3 && !box.periodic()[k]; ++l)
      QUINTET_CHECK(!axes[l] || box.rows()[3 * k + l] == 0,
                    "the {} moves {}, but the cell is open along row {}, which points there; leave it out of "
                    "integrator.{}.axes, use a periodic cell or a constant volume",
                    mover, "xyz"[l], "abc"[k], section);
  return axes;
}

/// A tensor of pressure in bar, or a pressure where it is empty (eV/angstrom^3).
SymmetricTensor pressure_of(const std::vector<double>& tensor, double pressure) {
  SymmetricTensor target{};
  for (int k = 0; k < 3 && tensor.empty(); ++k) target[k] = pressure / units::ev_per_a3_to_bar;
  for (std::size_t c = 0; c < tensor.size(); ++c) target[c] = tensor[c] / units::ev_per_a3_to_bar;
  return target;
}

/// Throws InputError where atoms are frozen: their places would move with the cell.
void require_none_frozen(const ParticleSystem& system, const std::string& mover, const char* remedy) {
  QUINTET_CHECK(system.frozen.none(),
                "{} scales all positions with the cell, those of {} as well; {}, or freeze nothing", mover,
                counted(system.frozen.count(), "frozen atom"), remedy);
}

std::unique_ptr<Coupling> make_flexible_cell(const IntegratorOptions& options, std::uint64_t seed,
                                             const Box& box) {
  const auto& b = options.barostat;
  FlexibleCellOptions cell;
  cell.freedom = {b.coupling, moving_axes(b.axes, "barostat", "barostat", box)};
  cell.relaxation_time = b.relaxation_time;
  cell.inertia_kt = units::boltzmann * options.temperature.value_or(300);
  if (!b.pressure_tensor.empty()) cell.pressure = pressure_of(b.pressure_tensor, b.pressure);
  QUINTET_CHECK(cell.inertia_kt > 0, "integrator.temperature is 0 K; the mass of the cell needs one above 0");
  QUINTET_CHECK(
      squareness(box) > least_squareness,
      "the cell is too skew (its volume is {:.3g} of the product of its edges); give shorter rows of the "
      "same lattice (b - a for b, ...)",
      squareness(box));
  const auto thermostat = thermostat_of(options);
  return std::make_unique<FlexibleCell>(
      cell, thermostat ? row_of(thermostats(), *thermostat).make_for_cell(options, seed) : nullptr);
}

std::unique_ptr<Coupling> make_cell_rescaling(const IntegratorOptions& options, std::uint64_t seed,
                                              const Box& box) {
  QUINTET_CHECK(
      box.fully_periodic(),
      "ensemble npt scales the whole cell, but a direction of it is open; use a periodic cell, "
      "name the other directions in integrator.barostat.axes or use an ensemble of constant volume");
  const auto& b = options.barostat;
  return std::make_unique<CellRescaling>(b.coupling, b.compressibility * units::ev_per_a3_to_bar,
                                         b.relaxation_time, seed);
}

std::string describe_ensemble(const IntegratorOptions& options, double dt) {
  std::string text = fmt::format("{}, dt {:g} fs", ensemble_name(options.ensemble), 1e3 * dt);
  if (options.ensemble == Ensemble::nve) return text;
  if (thermostat_of(options)) text += fmt::format(", {:g} K", *options.temperature);
  if (options.temperature_end) text += fmt::format(" to {:g} K", *options.temperature_end);
  const auto& b = options.barostat;
  if (is_at_constant_pressure(options.ensemble)) {
    text += b.pressure_tensor.empty() ? fmt::format(", {:g} bar", b.pressure)
                                      : fmt::format(", {:g} bar", fmt::join(b.pressure_tensor, " "));
    if (b.pressure_end) text += fmt::format(" to {:g} bar", *b.pressure_end);
  }
  return text;
}

/// The name, and at constant pressure the parts it is made of, so that a checkpoint cannot be taken for that
/// of another.
std::string kind_of(const IntegratorOptions& options) {
  std::string kind = ensemble_name(options.ensemble);
  if (!is_at_constant_pressure(options.ensemble)) return kind;
  kind += fmt::format(", {}", row_of(cell_couplings, options.barostat.coupling).name);
  if (const auto thermostat = thermostat_of(options))
    kind += fmt::format(", {}", row_of(thermostats(), *thermostat).name);
  return kind + (uses_mtk(options) ? ", mtk" : "");
}

}  // namespace

std::optional<CellGoal> relaxing_cell(const IntegratorOptions& options, const ParticleSystem& system) {
  const auto& cell = options.minimiser.cell;
  if (options.ensemble != Ensemble::minimise || !cell) return std::nullopt;
  require_none_frozen(system, "integrator.minimiser.cell", "leave it out");
  return CellGoal{{cell->coupling, moving_axes(cell->axes, "minimiser", "minimiser.cell", system.atoms.box)},
                  pressure_of(cell->pressure_tensor, cell->pressure),
                  cell->stress_tolerance / units::ev_per_a3_to_bar};
}

std::unique_ptr<Integrator> make_integrator(const IntegratorOptions& options, const TimeOptions& time,
                                            std::uint64_t seed, ParticleSystem& system) {
  const auto problem = problem_of(options);
  QUINTET_CHECK(!problem, "integrator: {}", *problem);
  const auto& frozen = system.frozen;
  system.degrees_of_freedom = degrees_of_freedom(system.atoms.n_global - frozen.count(), frozen.none());
  if (options.ensemble == Ensemble::minimise)
    return std::make_unique<FireMinimiser>(options.minimiser, time.dt, relaxing_cell(options, system));
  std::vector<std::unique_ptr<Coupling>> baths;
  Ramp kt, pressure;
  if (const auto thermostat = thermostat_of(options)) {
    kt = {units::boltzmann * *options.temperature,
          units::boltzmann * options.temperature_end.value_or(*options.temperature), time.steps};
    baths.push_back(row_of(thermostats(), *thermostat).make(options, seed));
  }
  if (is_at_constant_pressure(options.ensemble)) {
    require_none_frozen(system, "ensemble " + ensemble_name(options.ensemble),
                        "use an ensemble of constant volume");
    const auto& b = options.barostat;
    pressure = {b.pressure / units::ev_per_a3_to_bar,
                b.pressure_end.value_or(b.pressure) / units::ev_per_a3_to_bar, time.steps};
    const auto make_barostat = uses_mtk(options) ? make_flexible_cell : make_cell_rescaling;
    baths.push_back(make_barostat(options, seed, system.atoms.box));
  }
  auto integrator = std::make_unique<MolecularDynamics>(kind_of(options), describe_ensemble(options, time.dt),
                                                        time.dt, kt, pressure, std::move(baths));
  system.degrees_of_freedom = degrees_of_freedom(system.atoms.n_global - frozen.count(),
                                                 integrator->conserves_momentum() && frozen.none());
  return integrator;
}

}  // namespace quintet
