#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/application/life/context.hpp"
#include "apps/vlasov/setup/setup.hpp"
#include "apps/vlasov/state/step_control.hpp"

namespace quintet::vlasov {

/// Everything that moves in a run, and its way into a checkpoint and back: f of all species, the field, the
/// clock.
///
/// On the same grid of ranks a restarted run goes on to the last bit; on another one results agree to
/// round-off.
class Simulation {
 public:
  /// Memory is asked for before anything is allocated. Collective. Throws InputError.
  Simulation(const Context& context, const RunOptions& options, Setup setup);

  /// One step. Collective. Throws NumericalError.
  void advance(const Exec& exec);
  [[nodiscard]] bool finished() const { return control_.finished(system_->time(), system_->step()); }
  [[nodiscard]] std::int64_t steps_left() const {
    return control_.steps_left(system_->time(), system_->step());
  }

  /// Write the state. Collective.
  void save(hdf5::Group& root) const;

  [[nodiscard]] const Setup& setup() const { return setup_; }
  [[nodiscard]] kinetics::VlasovSystem& system() const { return *system_; }
  [[nodiscard]] double time() const { return system_->time(); }
  [[nodiscard]] std::int64_t step() const { return system_->step(); }
  [[nodiscard]] double dt() const { return control_.last_dt(); }
  /// Bytes a rank holds.
  [[nodiscard]] double bytes() const { return bytes_; }

 private:
  void begin(const RunOptions& options);
  void load(const std::string& checkpoint);
  void save_budgets(hdf5::Group& group) const;
  void load_budgets(const hdf5::Group& group);

  Setup setup_;
  StepControl control_;
  double bytes_ = 0;
  std::unique_ptr<kinetics::VlasovSystem> system_;
};

}  // namespace quintet::vlasov
