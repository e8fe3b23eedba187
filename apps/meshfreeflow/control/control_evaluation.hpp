#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/meshfreeflow/control/control_options.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/environments/convection_control.hpp"
#include "surrogates/reinforcement/ppo.hpp"

namespace quintet::meshfreeflow {

/// Ranks and threads of each that step flows, and what they ask at each action, where flows are judged.
struct Crew {
  int threads = 1;
  std::shared_ptr<const Comm> comm;
  Interrupt interrupt{};
};

/// A mean over flows and its standard error, not a number for a single flow.
struct FlowMean {
  double mean = 0, error = 0;
};
[[nodiscard]] FlowMean mean_over_flows(const std::vector<double>& values);

/// Result of flows under a control.
struct Judged {
  std::string name;
  std::vector<std::vector<double>> nusselt;   ///< [flow][action], mean of an interval
  std::vector<std::vector<double>> reward;    ///< [flow][action]
  int from = 0;                               ///< actions that means leave out
  std::vector<double> first_b;                ///< b of the first flow at the end [n_z, n_x]
  std::vector<std::vector<double>> profiles;  ///< of its actuators then [actuators][cells]

  [[nodiscard]] std::vector<double> means(
      int first) const;  ///< of each flow over the actions from `first` on
  [[nodiscard]] FlowMean mean() const { return mean_over_flows(means(from)); }
  [[nodiscard]] FlowMean whole_mean() const { return mean_over_flows(means(0)); }  ///< of whole episodes
  [[nodiscard]] FlowMean mean_reward() const;
  [[nodiscard]] std::vector<double> over_time() const;  ///< mean over flows [action]
};

/// How much lower than `other`, flow by flow.
[[nodiscard]] FlowMean gain_over(const Judged& one, const Judged& other);
/// How much more reward an action than `other` has, flow by flow.
[[nodiscard]] FlowMean reward_over(const Judged& one, const Judged& other);

/// Flows without control of these seeds at starts.time, developed by all ranks. Collective. Throws
/// Interrupted.
[[nodiscard]] std::shared_ptr<const environments::FlowStates> developed(
    const ControlCase& task, const std::vector<std::int64_t>& seeds, const Crew& crew);

/// An episode of each flow. Collective. Throws Interrupted.
[[nodiscard]] Judged judge(const environments::ConvectionControlOptions& world,
                           const std::shared_ptr<const environments::FlowStates>& flows, const Crew& crew,
                           int from, const reinforcement::Act& act);

/// Actions of 0.
[[nodiscard]] reinforcement::Act no_control();
/// Whether there is a proportional control: plates are heated, and as many probes of w stand over each
/// segment.
[[nodiscard]] bool has_proportional(const environments::ConvectionControlOptions& world);
/// a_s = -gain times the mean of w at the probes over segment s: where fluid rises, the plates are made
/// colder.
[[nodiscard]] reinforcement::Act proportional_control(const environments::ConvectionControlOptions& world,
                                                      double gain);

/// Cells of the grid in the thermal boundary layer of thickness 1/(2 Nu), in distances of the heated walls.
[[nodiscard]] int layer_cells(const environments::ConvectionControlOptions& world, double nusselt);
/// Throws NumericalError where they are fewer than the limit.
void require_layer_cells(const ControlCase& task, double nusselt);

}  // namespace quintet::meshfreeflow
