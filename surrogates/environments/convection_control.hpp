#pragma once

#include <memory>
#include <vector>

#include "physics/convection/statistics.hpp"
#include "surrogates/environments/environment.hpp"
#include "surrogates/environments/floor_heating.hpp"

namespace quintet::environments {

/// A flow between plates, periodic along x, whose floor is heated by segments. Lengths and times in free-fall
/// units (physics/convection/problem.hpp).
struct ConvectionControlOptions {
  double rayleigh = 1e4, prandtl = 1, aspect_ratio = 2;
  int cells_x = 32, cells_z = 24;
  double strength = 1.2;  ///< of the grid along z (Spacing::tanh)
  FloorHeatingOptions floor;
  double interval = 1.5;           ///< time that an action stands
  int actions = 64;                ///< of an episode
  int probes_x = 8, probes_z = 4;  ///< points at which u, w and b are observed
  double cfl = 0.5, most_dt = 0.125;
};

/// u, w, b and p of a flow, cell by cell [n_z, n_x].
struct FlowState {
  std::vector<double> u, w, b, p;
};
/// Flows without control that episodes begin with, all on one grid.
using FlowStates = std::vector<FlowState>;

/// Flows from conduction and noise of each seed, after a time without control. The same whatever the threads.
[[nodiscard]] FlowStates developed_flows(const ConvectionControlOptions& options,
                                         const std::vector<std::uint64_t>& seeds, double time, int threads);

/// How an episode takes its start.
enum class Starts {
  drawn,  ///< one of the flows, moved along x and perhaps mirrored, as (seed, environment, episode) say
  own     ///< the flow of the environment's number, as it is
};

/// Convection under control of its floor: an action is a number for each segment (FloorHeating), which stands
/// for an interval; the reward is minus the Nusselt number 1 + <w b>/P, the mean over the interval
/// (trapezoidal rule over its steps). An episode is truncated after so many actions.
///
/// Observed are u, w and b + z (0 where heat is conducted) at probes in the middles of probes_x by probes_z
/// equal parts, between cells linear along both axes: [probes_x][u, w, b][probes_z], so that a flow moved by
/// a segment is observed as the numbers moved by probes_x/segments blocks.
class ConvectionControl : public Environment {
 public:
  /// Throws InputError for options that do not fit together (FloorHeating; probes along x that are not a
  /// multiple of the segments), flows of another grid, or no flow.
  ConvectionControl(const ConvectionControlOptions& options, std::shared_ptr<const FlowStates> flows,
                    Starts starts);

  [[nodiscard]] int n_observed() const override { return 3 * options_.probes_x * options_.probes_z; }
  [[nodiscard]] int n_actions() const override { return options_.floor.segments; }
  void reset(const EpisodeKey& key) override;
  /// Throws InputError where an action is not finite, NumericalError if the flow contains NaN.
  Outcome step(std::span<const float> action) override;
  void observe(std::span<float> observation) const override;

  [[nodiscard]] const convection::Boussinesq& flow() const { return *flow_; }
  [[nodiscard]] const ConvectionControlOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t n_steps() const { return flow_->step(); }  ///< of the flow in this episode
  /// The flow as it is.
  [[nodiscard]] FlowState state() const;

 private:
  friend FlowStates developed_flows(const ConvectionControlOptions&, const std::vector<std::uint64_t>&,
                                    double, int);
  /// Where a probe reads a field: value = sum of weight times number [row][cell].
  struct Probe {
    struct Part {
      int row, cell;
      double weight;
    };
    Part parts[4];
  };
  /// By `time`, in steps as the flow admits; the mean Nusselt number of it.
  double advance(double time);
  void begin(const FlowState& from, int shift, bool mirrored);
  void make_probes();

  ConvectionControlOptions options_;
  std::shared_ptr<const FlowStates> flows_;
  Starts starts_;
  std::unique_ptr<convection::Boussinesq> flow_;
  std::unique_ptr<FloorHeating> floor_;
  std::vector<Probe> probes_;    ///< [n_observed]
  std::vector<double> heights_;  ///< z of each probe of b, else 0 [n_observed]
  std::vector<double> profile_;
  int taken_ = 0;  ///< actions of this episode
};

}  // namespace quintet::environments
