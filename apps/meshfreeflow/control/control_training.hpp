#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/control/control_evaluation.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/reinforcement/policy_file.hpp"

namespace quintet::meshfreeflow {

/// The network that sees the probes and decides for one agent (ConvectionControlOptions::agents()), with its
/// first weights.
[[nodiscard]] reinforcement::ActorCritic make_network(const ControlCase& task);
/// Numbers that a policy file states of the world.
[[nodiscard]] std::vector<std::pair<std::string, double>> world_numbers(const ControlCase& task);
/// Check that a policy is for this world, but for its flow. Throws InputError where walls, actuators, sensors
/// or interval differ.
void check_world(const reinforcement::PolicyFile& policy, const ControlCase& task);

/// The policy while it learns. The stepper of `control`: a step is an update. Each rank steps its share of
/// the environments, all make the same updates.
class ControlTraining {
 public:
  /// Flows develop here, the uncontrolled ones are measured. Collective. Throws InputError.
  ControlTraining(const ControlCase& task, const Crew& crew, const std::optional<std::string>& checkpoint);

  void advance();
  [[nodiscard]] std::int64_t step() const { return ppo_->n_updates(); }
  [[nodiscard]] std::int64_t last_step() const { return task_.options.training.updates; }
  [[nodiscard]] bool finished() const { return step() >= last_step(); }
  void save(hdf5::Group& root) const;

  /// Minus the mean reward of each update's episodes: the Nusselt number where no other reward is given.
  [[nodiscard]] const std::vector<double>& cost() const { return cost_; }
  /// Minus the mean reward without control, of the flows that it learns from.
  [[nodiscard]] double cost_uncontrolled() const { return cost_uncontrolled_; }
  [[nodiscard]] const reinforcement::UpdateRow& row() const { return row_; }
  [[nodiscard]] reinforcement::ActorCritic& network() { return network_; }
  [[nodiscard]] reinforcement::PolicyFile policy() const;
  /// Columns of rows(): update, cost, ...
  [[nodiscard]] static const std::vector<std::string>& columns();
  [[nodiscard]] const std::vector<double>& rows() const { return rows_; }

 private:
  ControlCase task_;
  Crew crew_;
  reinforcement::ActorCritic network_;
  std::unique_ptr<environments::EnvironmentPool> pool_;
  std::unique_ptr<reinforcement::Ppo> ppo_;
  double cost_uncontrolled_ = 0;
  reinforcement::UpdateRow row_;
  std::vector<double> cost_, rows_;  ///< [updates], [updates, columns]
};

}  // namespace quintet::meshfreeflow
