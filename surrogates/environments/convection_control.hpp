#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/formula/formula.hpp"
#include "physics/convection/initial.hpp"
#include "physics/convection/statistics.hpp"
#include "surrogates/environments/environment.hpp"
#include "surrogates/environments/wall_heating.hpp"

namespace quintet::environments {

/// A heated wall that actions set.
struct Actuator {
  bool cold = false;  ///< the top or right wall; else the bottom or left one
  WallHeatingOptions heating;
};

/// What probes may read: velocities, and buoyancy less that of conduction (b + z, or b - 1/2 + x/length).
enum class Sensed { u, w, b };

/// A flow some of whose heated walls are set by segments. Lengths and times in free-fall units
/// (physics/convection/problem.hpp).
struct ConvectionControlOptions {
  convection::Problem problem{1e4, 1};
  double aspect_ratio = 2;
  int cells_x = 32, cells_z = 24;
  convection::Spacing spacing_x = convection::Spacing::uniform, spacing_z = convection::Spacing::tanh;
  double strength_x = 1.2, strength = 1.2;  ///< of Spacing::tanh along x and z
  bool by_modes = false;                    ///< linear equations (make_modes_solver()); else by transforms
  convection::Start start{true, 0, 1, 0.1, 4};
  std::vector<Actuator> actuators{{}};  ///< one, or both heated walls; where x is periodic as many segments
  double interval = 1.5;                ///< time that an action stands
  int actions = 64;                     ///< of an episode
  std::vector<Sensed> sensed{Sensed::u, Sensed::w, Sensed::b};
  int probes_x = 8, probes_z = 4;             ///< points at which these are observed
  std::string reward = "-nusselt";            ///< of an action: a formula of reward_names()
  std::string reward_key = "episode.reward";  ///< names it in messages
  double cfl = 0.5, most_dt = 0.125;

  [[nodiscard]] bool periodic() const { return problem.sides == convection::Sides::periodic; }
  /// Agents that share one policy: one for each segment where x is periodic, else one for all.
  [[nodiscard]] int agents() const { return periodic() ? actuators.front().heating.segments : 1; }
  /// Numbers of an action, of all agents together: segments of all actuators.
  [[nodiscard]] int n_actions() const;
  /// Where the number of a segment lies in an action: [segment][actuator] where x is periodic, so that each
  /// agent has those of its place; else [actuator][segment].
  [[nodiscard]] int place_of(int actuator, int segment) const;
  [[nodiscard]] convection::Axis x_axis() const;
  [[nodiscard]] convection::Axis z_axis() const;
  /// "floor", "ceiling", "left side" or "right side".
  [[nodiscard]] const char* wall_of(const Actuator& actuator) const;
};

/// What a reward may depend on: means over the interval of an action (trapezoidal rule over its steps).
struct RewardTerms {
  double nusselt = 1;  ///< Nusselt number 1 + <w b>/P (heated sides: 1 + length <u b>/P)
  double energy = 0;   ///< kinetic energy <u^2 + w^2>/2
  double dissipation = 0, thermal_dissipation = 0, buoyancy_variance = 0, u_max = 0, w_max = 0;  ///< Sample's
  double nusselt_warm = 1, nusselt_cold = 1;  ///< heat through the warm and the cold wall
  double heating = 0;                         ///< root of the mean square of f along the walls that are set
  double change = 0;                          ///< root of the mean square of f - f before
};
/// Names of these in formulas.
[[nodiscard]] const std::vector<std::string>& reward_names();

/// u, w, b and p of a flow, cell by cell [n_z, n_x].
struct FlowState {
  std::vector<double> u, w, b, p;
};
/// Flows without control that episodes begin with, all on one grid.
using FlowStates = std::vector<FlowState>;

/// Flows from options.start with the noise of each seed, after a time without control. The same whatever the
/// threads.
[[nodiscard]] FlowStates developed_flows(const ConvectionControlOptions& options,
                                         const std::vector<std::uint64_t>& seeds, double time, int threads);

/// How an episode takes its start.
enum class Starts {
  drawn,  ///< one of the flows, moved along x where that is periodic and perhaps mirrored where plates are
          ///< heated, as (seed, environment, episode) say
  own     ///< the flow of the environment's number, as it is
};

/// Convection under control of its heated walls: an action is a number for each segment (WallHeating), which
/// stands for an interval; the reward is a formula of means over the interval, minus the Nusselt number
/// unless another is given. An episode is truncated after so many actions.
///
/// Observed are the fields of `sensed` at probes in the middles of probes_x by probes_z equal parts, between
/// cells linear along both axes: [probes_x][sensed][probes_z], so that a periodic flow moved by a segment is
/// observed as the numbers moved by probes_x/segments blocks.
class ConvectionControl : public Environment {
 public:
  /// Throws InputError for options that do not fit together (WallHeating; where x is periodic probes along it
  /// that are not a multiple of the segments, actuators with unlike segments), flows of another grid, no
  /// flow, or a reward that is no formula, or not finite where heat is conducted.
  ConvectionControl(const ConvectionControlOptions& options, std::shared_ptr<const FlowStates> flows,
                    Starts starts);

  [[nodiscard]] int n_observed() const override { return probes_.size(); }
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
  [[nodiscard]] double reward_of_conduction() const;
  /// f of each actuator [cells].
  [[nodiscard]] const std::vector<std::vector<double>>& profiles() const { return profiles_; }
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
  void check_options() const;
  void check_flows() const;
  /// By `time`, in steps as the flow admits; means of Nusselt number and what else the reward asks for.
  RewardTerms advance(double time);
  [[nodiscard]] RewardTerms now() const;
  [[nodiscard]] double reward_of(const RewardTerms& terms) const;
  [[nodiscard]] std::string known_text(const RewardTerms& terms) const;
  void begin(const FlowState& from, int shift, bool mirrored);
  void set_walls();
  [[nodiscard]] double mean_square(const std::vector<std::vector<double>>& profiles) const;
  void make_probes();
  [[nodiscard]] Probe probe_at(convection::Place place, double x, double z) const;

  ConvectionControlOptions options_;
  std::shared_ptr<const FlowStates> flows_;
  Starts starts_;
  std::unique_ptr<convection::Boussinesq> flow_;
  std::vector<WallHeating> heatings_;                            ///< [actuators]
  std::vector<double> weights_;                                  ///< of cells along them, mean 1
  std::vector<Probe> probes_;                                    ///< [n_observed]
  std::vector<double> offsets_;                                  ///< minus the conducting state [n_observed]
  std::vector<std::vector<double>> profiles_, profiles_before_;  ///< f [actuators][cells]
  Formula reward_;
  bool samples_ = false;  ///< whether the reward asks for more than the Nusselt number
  std::vector<double> nusselt_;
  int taken_ = 0;  ///< actions of this episode
};

}  // namespace quintet::environments
