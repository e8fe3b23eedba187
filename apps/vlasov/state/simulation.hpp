#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/step_control.hpp"

namespace quintet::vlasov {

/// Everything that moves in a run, and its way into a checkpoint and back: f of all species, the field, the
/// clock. The stepper of `vlasov run`.
///
/// On the same grid of ranks a restarted run goes on to the last bit; on another one results agree to
/// round-off.
class Simulation {
 public:
  /// Memory is asked for before anything is allocated. Collective. Throws InputError.
  Simulation(const Context& context, DeviceSession device, const RunOptions& options, Setup setup);

  /// Choose the step and do it. Throws NumericalError where none is stable.
  void advance();
  [[nodiscard]] std::int64_t step() const { return system_->step(); }
  /// If steps stay as long as the last one.
  [[nodiscard]] std::int64_t last_step() const { return step() + control_.steps_left(time(), step()); }
  [[nodiscard]] bool finished() const { return control_.finished(time(), step()); }
  [[nodiscard]] double time() const { return system_->time(); }
  void save(hdf5::Group& root) const;

  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] kinetics::VlasovSystem& system() const { return *system_; }
  [[nodiscard]] double dt() const { return control_.last_dt(); }
  /// Bytes a rank holds.
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  void begin(const RunOptions& options);
  void load(const std::string& checkpoint);
  void save_budgets(hdf5::Group& group) const;
  void load_budgets(const hdf5::Group& group);
  /// Once, which of a device's sweeps were fastest.
  void log_sweeps();

  DeviceSession device_;  ///< outlives the engines of system_, also where a failure keeps the state
  Setup setup_;
  StepControl control_;
  double bytes_ = 0;
  bool told_of_sweeps_ = false;
  std::unique_ptr<kinetics::VlasovSystem> system_;
};

}  // namespace quintet::vlasov
