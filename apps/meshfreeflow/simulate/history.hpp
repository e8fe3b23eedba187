#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/table/run_table.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"
#include "physics/convection/statistics.hpp"

namespace quintet::meshfreeflow {

/// Data of a row of the history.
struct HistoryRow {
  const std::vector<convection::Sample>& samples;  ///< of each flow
  double time, step, dt;
  const PlayedPolicy* policy = nullptr;
};

/// The history: numbers of each flow every so many steps, in group `history` of run.h5.
///
/// time, step, dt [sample]; of each flow [sample, flow]: nusselt_volume, nusselt_warm, nusselt_cold,
/// kinetic_energy, dissipation, thermal_dissipation, buoyancy_work, buoyancy_variance, divergence, u_max,
/// w_max, b_min, b_max (see convection::Sample). Where walls are set also profile_heat, where
/// heat is also warm_excess and cold_excess; where a policy acts also action [sample, segment] and reward
/// [sample] (PlayedPolicy).
class History {
 public:
  /// On a restart rows after the simulation's step are dropped and what was there before is read back.
  /// Collective.
  History(Context& context, const Simulation& simulation);
  /// Add a row, unless there is one of this step. Collective.
  void add(const std::vector<convection::Sample>& samples, const Simulation& simulation);

  [[nodiscard]] std::size_t size() const { return table_.size(); }
  [[nodiscard]] bool empty() const { return table_.empty(); }
  [[nodiscard]] const std::vector<double>& times() const { return table_.column("time"); }
  [[nodiscard]] int n_flows() const { return n_flows_; }
  /// All values of a flow's column so far. Throws InternalError for an unknown name.
  [[nodiscard]] std::vector<double> column(const std::string& name, int flow) const;
  /// What a policy has set in a segment, in each row.
  [[nodiscard]] std::vector<double> action(int segment) const;

 private:
  int n_flows_;
  RunTable<HistoryRow> table_;
};

/// The mean over time from `from` on by the trapezoidal rule; NaN where less than two rows are that late.
[[nodiscard]] double time_mean(const std::vector<double>& times, const std::vector<double>& values,
                               double from);

}  // namespace quintet::meshfreeflow
