#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/meshfreeflow/setup/simulate_options.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/environments/wall_control.hpp"
#include "surrogates/reinforcement/policy_file.hpp"

namespace quintet::meshfreeflow {

/// The policy of `control.policy` on the flow of a run: from `control.from` on it sees the flow and sets the
/// walls after each interval that it learned with, by its likeliest action, without an end of an episode.
///
/// All ranks see the same probes; root decides for all.
class PlayedPolicy {
 public:
  /// Throws InputError: several flows, a file that is no policy or of another world. Collective.
  PlayedPolicy(const Context& context, const SimulateOptions& options, const convection::Boussinesq& flow);

  /// Time of the first action, and that from one to the next.
  [[nodiscard]] double from() const { return from_; }
  [[nodiscard]] double interval() const { return world_.interval; }
  /// Time of the next action.
  [[nodiscard]] double next_time() const;
  /// Before a step: act where it is time. Collective.
  void act_if_due(convection::Boussinesq& flow);
  /// After a step by dt. Collective.
  void add_step(const convection::Boussinesq& flow, double dt);

  /// What is set in the middle of each segment, actuator by actuator (WallControl::levels()).
  [[nodiscard]] const std::vector<double>& levels() const { return control_.levels(); }
  /// Reward of the action in force for the time that it has stood; NaN before the first.
  [[nodiscard]] double reward() const { return reward_; }
  [[nodiscard]] std::int64_t n_actions() const { return n_done_; }
  /// "left side, 2": what levels()[k] is of.
  [[nodiscard]] std::string segment_text(int k) const;
  /// Actions that are over at a time.
  [[nodiscard]] double n_over(double time) const;
  /// At the end of each action.
  [[nodiscard]] Schedule schedule() const;

  void save(hdf5::Group& root) const;
  void load(const hdf5::File& file, convection::Boussinesq& flow);

 private:
  PlayedPolicy(const reinforcement::PolicyFile& policy, const SimulateOptions& options,
               const convection::Boussinesq& flow);

  environments::ConvectionControlOptions world_;
  reinforcement::Act act_;
  environments::WallControl control_;
  double from_;
  std::int64_t n_done_ = 0;    ///< actions
  std::vector<float> action_;  ///< in force
  double began_ = 0;           ///< time at which it was set
  double reward_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace quintet::meshfreeflow
