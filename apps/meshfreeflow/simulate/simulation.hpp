#pragma once

#include <cstdint>
#include <memory>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/setup/simulate_setup.hpp"
#include "apps/meshfreeflow/simulate/played_policy.hpp"
#include "io/hdf5/file_fwd.hpp"

namespace quintet::meshfreeflow {

/// The flows of a run and their clock, and their way into a checkpoint and back. The stepper of `simulate`.
class Simulation {
 public:
  /// From the start that the options ask for, or from the checkpoint to go on from. Collective. Throws
  /// InputError.
  Simulation(const Context& context, const SimulateOptions& options);

  /// Advance by a step as long as the flow admits, cut to end at the next frame or action of a policy. Throws
  /// NumericalError if a velocity is NaN, or the step has become hopelessly short.
  void advance();
  [[nodiscard]] std::int64_t step() const { return flow_->step(); }
  [[nodiscard]] double time() const { return flow_->time(); }
  [[nodiscard]] std::int64_t last_step() const;
  [[nodiscard]] bool finished() const;
  void save(hdf5::Group& root) const;

  [[nodiscard]] convection::Boussinesq& flow() const { return *flow_; }
  [[nodiscard]] double last_dt() const { return last_dt_; }
  [[nodiscard]] const SimulateOptions& options() const { return options_; }
  /// Null: none acts.
  [[nodiscard]] const PlayedPolicy* policy() const { return policy_.get(); }

 private:
  [[nodiscard]] double longest_step() const;
  [[nodiscard]] double next_stop() const;
  void load(const Comm& comm, const std::string& checkpoint);

  SimulateOptions options_;
  std::unique_ptr<convection::Boussinesq> flow_;
  std::unique_ptr<PlayedPolicy> policy_;
  double last_dt_ = 0;
  bool warned_ = false;
};

/// "flow of seed 3: u is not finite in cell (12, 40) at x = 0.31, z = 0.48", or "". Collective.
[[nodiscard]] std::string trouble_spot(const convection::Boussinesq& flow, const SimulateOptions& options);

}  // namespace quintet::meshfreeflow
