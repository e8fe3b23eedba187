#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/meshfreeflow/control/control_evaluation.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "surrogates/reinforcement/learner.hpp"
#include "surrogates/reinforcement/policy_file.hpp"

namespace quintet::meshfreeflow {

/// The policy while it learns. The stepper of `control`: a step is an update. Each rank steps its share of
/// the environments, all make the same updates.
class ControlTraining {
 public:
  /// Flows develop here, the uncontrolled ones are measured. Collective. Throws InputError.
  ControlTraining(const ControlCase& task, const Crew& crew, const std::optional<std::string>& checkpoint);

  void advance();
  [[nodiscard]] std::int64_t step() const { return learner_->n_updates(); }
  [[nodiscard]] std::int64_t last_step() const { return task_.options.training.updates; }
  [[nodiscard]] bool finished() const { return step() >= last_step(); }
  void save(hdf5::Group& root) const;

  /// Minus the mean reward of each update's episodes: the Nusselt number where no other reward is given.
  [[nodiscard]] const std::vector<double>& cost() const { return cost_; }
  /// Minus the mean reward without control, of the flows that it learns from.
  [[nodiscard]] double cost_uncontrolled() const { return cost_uncontrolled_; }
  [[nodiscard]] reinforcement::PolicyFile policy() const;
  /// Columns of rows(): update, cost, ...
  [[nodiscard]] const std::vector<std::string>& columns() const { return columns_; }
  [[nodiscard]] const std::vector<double>& rows() const { return rows_; }

 private:
  ControlCase task_;
  Crew crew_;
  std::unique_ptr<environments::EnvironmentPool> pool_;
  std::unique_ptr<reinforcement::Learner> learner_;
  double cost_uncontrolled_ = 0;
  std::vector<std::string> columns_;
  std::vector<double> cost_, rows_;  ///< [updates], [updates, columns]
};

}  // namespace quintet::meshfreeflow
