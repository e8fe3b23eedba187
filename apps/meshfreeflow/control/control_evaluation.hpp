#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/meshfreeflow/control/control_options.hpp"
#include "surrogates/environments/convection_control.hpp"
#include "surrogates/reinforcement/ppo.hpp"

namespace quintet::meshfreeflow {

/// A mean over flows and its standard error, not a number for a single flow.
struct FlowMean {
  double mean = 0, error = 0;
};
[[nodiscard]] FlowMean mean_over_flows(const std::vector<double>& values);

/// Result of flows under a control.
struct Judged {
  std::string name;
  std::vector<std::vector<double>> nusselt;  ///< [flow][action], mean of an interval
  int from = 0;                              ///< actions that means leave out
  environments::FlowState first;             ///< the first flow at the end
  std::vector<double> floor;                 ///< its floor's profile then [n_x]

  [[nodiscard]] std::vector<double> means(
      int first) const;  ///< of each flow over the actions from `first` on
  [[nodiscard]] FlowMean mean() const { return mean_over_flows(means(from)); }
  [[nodiscard]] FlowMean whole_mean() const { return mean_over_flows(means(0)); }  ///< of whole episodes
  [[nodiscard]] std::vector<double> over_time() const;  ///< mean over flows [action]
};

/// How much lower than `other`, flow by flow.
[[nodiscard]] FlowMean gain_over(const Judged& one, const Judged& other);

/// An episode of each flow.
[[nodiscard]] Judged judge(const environments::ConvectionControlOptions& world,
                           const std::shared_ptr<const environments::FlowStates>& flows, int threads,
                           int from, const reinforcement::Act& act);

/// Actions of 0.
[[nodiscard]] reinforcement::Act no_control();
/// a_s = -gain times the mean of w at the probes above segment s: where fluid rises the floor is made colder.
[[nodiscard]] reinforcement::Act proportional_control(const environments::ConvectionControlOptions& world,
                                                      double gain);

/// Cells of the grid in the thermal boundary layer of thickness 1/(2 Nu).
[[nodiscard]] int layer_cells(const ControlOptions& options, double nusselt);
/// Throws NumericalError where they are fewer than flow.layer_cells.
void require_layer_cells(const ControlOptions& options, double nusselt);

[[nodiscard]] inline std::vector<std::uint64_t> seeds_of(const std::vector<std::int64_t>& seeds) {
  return {seeds.begin(), seeds.end()};
}

}  // namespace quintet::meshfreeflow
