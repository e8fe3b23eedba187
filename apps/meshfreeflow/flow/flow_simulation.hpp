#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "apps/application/life/context_fwd.hpp"
#include "apps/meshfreeflow/flow/flow_setup.hpp"
#include "io/hdf5/file_fwd.hpp"

namespace quintet::meshfreeflow::periodic {

/// The flows of a run and their clock, and their way into a checkpoint and back. The stepper of `flow`.
class FlowSimulation {
 public:
  /// From the start that the options ask for, or from the checkpoint to go on from. Collective. Throws
  /// InputError.
  FlowSimulation(const Context& context, const FlowOptions& options);

  /// Advance by a step as long as time.cfl admits, cut to end at the next frame. Throws NumericalError if a
  /// variable is no longer finite, or the step has become hopelessly short.
  void advance();
  [[nodiscard]] std::int64_t step() const { return flow_->step(); }
  [[nodiscard]] double time() const { return flow_->time(); }
  [[nodiscard]] std::int64_t last_step() const;
  [[nodiscard]] bool finished() const;
  void save(hdf5::Group& root) const;

  [[nodiscard]] spectral::PeriodicFlow& flow() const { return *flow_; }
  [[nodiscard]] double last_dt() const { return last_dt_; }
  [[nodiscard]] const FlowOptions& options() const { return options_; }

 private:
  [[nodiscard]] double longest_step() const;
  [[nodiscard]] double next_stop() const;
  [[nodiscard]] std::string not_finite() const;
  void load(const Comm& comm, const std::string& checkpoint);

  FlowOptions options_;
  std::unique_ptr<spectral::PeriodicFlow> flow_;
  double last_dt_ = 0;
};

}  // namespace quintet::meshfreeflow::periodic
