#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/parallel/interrupt.hpp"
#include "physics/convection/boussinesq.hpp"
#include "surrogates/environments/convection_control_options.hpp"
#include "surrogates/environments/environment.hpp"
#include "surrogates/environments/wall_control.hpp"

namespace quintet::environments {

/// u, w, b and p of a flow, cell by cell [n_z, n_x].
struct FlowState {
  std::vector<double> u, w, b, p;
};
/// Flows without control that episodes begin with, all on one grid.
using FlowStates = std::vector<FlowState>;

/// Flows from options.start with the noise of each seed, after a time without control. The same whatever the
/// threads. Throws Interrupted.
[[nodiscard]] FlowStates developed_flows(const ConvectionControlOptions& options,
                                         const std::vector<std::uint64_t>& seeds, double time, int threads,
                                         const Interrupt& interrupt = {});

/// How an episode takes its start.
enum class Starts {
  drawn,  ///< one of the flows, moved along x where that is periodic and perhaps mirrored where plates are
          ///< heated, as (seed, environment, episode) say
  own     ///< the flow of the environment's number, as it is
};

/// Convection under control of its walls (WallControl): an action stands for an interval, of whose
/// means the reward is a formula, minus the Nusselt number unless another is given. An episode is truncated
/// after so many actions.
class ConvectionControl : public Environment {
 public:
  /// Throws InputError for options that do not fit together (WallControl), flows of another grid, or no flow.
  ConvectionControl(const ConvectionControlOptions& options, std::shared_ptr<const FlowStates> flows,
                    Starts starts);

  [[nodiscard]] int n_observed() const override { return control_->n_observed(); }
  [[nodiscard]] int n_actions() const override { return options_.n_actions(); }
  void reset(const EpisodeKey& key) override;
  /// Throws InputError where an action is not finite, NumericalError if the flow contains NaN.
  Outcome step(std::span<const float> action) override;
  void observe(std::span<float> observation) const override;

  [[nodiscard]] const convection::Boussinesq& flow() const { return *flow_; }
  [[nodiscard]] const ConvectionControlOptions& options() const { return options_; }
  /// Nusselt number of each action of this episode.
  [[nodiscard]] const std::vector<double>& nusselt() const { return nusselt_; }
  /// The reward where heat is conducted between walls that are not set, which is kept.
  [[nodiscard]] double reward_of_conduction() const { return control_->reward_of_conduction(); }
  /// f of each actuator [cells].
  [[nodiscard]] const std::vector<std::vector<double>>& profiles() const { return control_->profiles(); }
  [[nodiscard]] std::int64_t n_steps() const { return flow_->step(); }  ///< of the flow in this episode
  /// The flow as it is.
  [[nodiscard]] FlowState state() const;

 private:
  friend FlowStates developed_flows(const ConvectionControlOptions&, const std::vector<std::uint64_t>&,
                                    double, int, const Interrupt&);
  void check_options() const;
  void check_flows() const;
  /// By `time`, in steps as the flow admits.
  void advance(double time);
  void begin(const FlowState& from, int shift, bool mirrored);

  ConvectionControlOptions options_;
  std::shared_ptr<const FlowStates> flows_;
  Starts starts_;
  std::unique_ptr<convection::Boussinesq> flow_;
  std::unique_ptr<WallControl> control_;
  std::vector<double> nusselt_;
  int taken_ = 0;  ///< actions of this episode
};

}  // namespace quintet::environments
