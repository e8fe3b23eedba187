#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/control/control_options.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/reinforcement/policy_file.hpp"

namespace quintet::meshfreeflow {

/// The network that sees the floor's probes and decides for one segment, with its first weights.
[[nodiscard]] reinforcement::ActorCritic make_network(const ControlOptions& options);
/// Numbers that a policy file states of the world, and the check that it is the one of these options but for
/// the flow.
[[nodiscard]] std::vector<std::pair<std::string, double>> world_numbers(const ControlOptions& options);
/// Throws InputError where floor or episode differ.
void check_world(const reinforcement::PolicyFile& policy, const ControlOptions& options);

/// The policy while it learns. The stepper of `control`: a step is an update.
class ControlTraining {
 public:
  /// Flows develop here, the uncontrolled ones are measured. Throws InputError.
  ControlTraining(const ControlOptions& options, int threads, const std::optional<std::string>& checkpoint);

  void advance();
  [[nodiscard]] std::int64_t step() const { return ppo_->n_updates(); }
  [[nodiscard]] std::int64_t last_step() const { return options_.training.updates; }
  [[nodiscard]] bool finished() const { return step() >= last_step(); }
  void save(hdf5::Group& root) const;

  [[nodiscard]] const std::vector<double>& nusselt() const {
    return nusselt_;
  }  ///< mean of each update's episodes
  [[nodiscard]] double nusselt_uncontrolled() const {
    return uncontrolled_;
  }  ///< of the flows that it learns from
  [[nodiscard]] const reinforcement::UpdateRow& row() const { return row_; }
  [[nodiscard]] reinforcement::ActorCritic& network() { return network_; }
  [[nodiscard]] reinforcement::PolicyFile policy() const;
  /// Columns of rows(): update, nusselt, ...
  [[nodiscard]] static const std::vector<std::string>& columns();
  [[nodiscard]] const std::vector<double>& rows() const { return rows_; }

 private:
  ControlOptions options_;
  reinforcement::ActorCritic network_;
  std::unique_ptr<environments::EnvironmentPool> pool_;
  std::unique_ptr<reinforcement::Ppo> ppo_;
  double uncontrolled_ = 0;
  reinforcement::UpdateRow row_;
  std::vector<double> nusselt_, rows_;  ///< [updates], [updates, columns]
};

}  // namespace quintet::meshfreeflow
