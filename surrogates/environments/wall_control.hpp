#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/formula/formula.hpp"
#include "physics/convection/boussinesq.hpp"
#include "physics/convection/statistics.hpp"
#include "surrogates/environments/convection_control_options.hpp"

namespace quintet::environments {

/// What a reward may depend on: means over the interval of an action (trapezoidal rule over its steps).
struct RewardTerms {
  double nusselt = 1;  ///< Nusselt number 1 + <w b>/P (heated sides: 1 + length <u b>/P)
  double energy = 0;   ///< kinetic energy <u^2 + w^2>/2
  double dissipation = 0, thermal_dissipation = 0, buoyancy_variance = 0, u_max = 0, w_max = 0;  ///< Sample's
  double nusselt_warm = 1, nusselt_cold = 1;  ///< heat through the warm and the cold wall
  double heating = 0;  ///< root of the mean square of what is set along the walls, each counting alike
  double change = 0;   ///< the same of what is set less what was before
};
/// Names of these in formulas.
[[nodiscard]] const std::vector<std::string>& reward_names();

/// What an agent sees of a flow, sets of its walls and is rewarded for.
///
/// Observed are the fields of `sensed` at probes in the middles of probes_x by probes_z equal parts, between
/// cells linear along both axes: [probes_x][sensed][probes_z], so that a periodic flow moved by a segment is
/// observed as the numbers moved by probes_x/segments blocks. Then [points] of each wall sensor. An action is
/// a number for each segment (WallHeating). The reward of an action is a formula of means over the time since
/// it was set.
///
/// Ranks may share the rows of a flow: then calls that take one are collective, and all ranks see and set the
/// same. It knows one flow of the grid that it was made for.
class WallControl {
 public:
  /// Throws InputError: options that do not fit together (WallHeating; two actuators of a wall, or one of no
  /// wall; where x is periodic probes along it that are not a multiple of the segments, actuators with unlike
  /// segments, sensors of walls), a reward that is no formula, or not finite where heat is conducted.
  WallControl(const ConvectionControlOptions& options, const convection::Grid& grid);

  [[nodiscard]] int n_observed() const { return probes_.size(); }
  [[nodiscard]] int n_actions() const { return options_.n_actions(); }
  /// @param observation [n_observed]
  void observe(const convection::Boussinesq& flow, std::span<float> observation) const;
  /// Walls of +-1/2, as before the first action.
  void release(convection::Boussinesq& flow);
  /// Set the walls of a flow; its rewards begin anew. Throws InputError where an action is not finite.
  /// @param action [n_actions]
  void act(convection::Boussinesq& flow, std::span<const float> action);
  /// After a step of the flow by dt.
  void add_step(const convection::Boussinesq& flow, double dt);
  /// Means over `time`, that of all steps since the action.
  [[nodiscard]] RewardTerms terms(double time) const;
  /// Reward for them. Throws NumericalError where the Nusselt number is not finite, InputError where the
  /// reward is not.
  [[nodiscard]] double reward(const RewardTerms& terms) const;
  /// The reward where heat is conducted between walls that are not set, which is kept.
  [[nodiscard]] double reward_of_conduction() const;
  /// What the formula of the reward says, whatever that is.
  [[nodiscard]] double value(const RewardTerms& terms) const;

  /// What is set by each actuator [cells]: f, or the slope of b towards a wall that insulates.
  [[nodiscard]] const std::vector<std::vector<double>>& profiles() const { return profiles_; }
  /// The same in the middle of each segment, actuator by actuator [n_actions].
  [[nodiscard]] const std::vector<double>& levels() const { return levels_; }
  /// All that has to be kept between steps, beside the action in force: numbers for a checkpoint.
  [[nodiscard]] std::vector<double> kept() const;
  /// Go on from kept() of the same action, whose walls the flow gets. Throws InputError for another number of
  /// them.
  void resume(convection::Boussinesq& flow, std::span<const float> action, std::span<const double> kept);

 private:
  /// Where a probe reads a field: value = sum of weight times number [row][cell].
  struct Probe {
    struct Part {
      int row, cell;  ///< the row of all ranks'
      double weight;
    };
    Part parts[4];
  };
  /// What a probe of b in the cells beside a wall makes of it.
  struct WallProbe {
    WallSensor sensor;
    int from = 0, to = 0;   ///< cells along the wall between which it lies
    double share = 0;       ///< of the latter
    double gap = 0;         ///< from their centres to the wall
    double distance = 1;    ///< of the heated walls
    double conducting = 0;  ///< b of conduction there
    /// @param b beside the wall, between the cells
    [[nodiscard]] double value(const convection::WallProfiles& walls, double b) const;
  };
  void check_options() const;
  void make_probes(const convection::Grid& grid);
  void make_wall_probes(const convection::Grid& grid);
  [[nodiscard]] static Probe probe_at(const convection::Grid& grid, convection::Place place, double x,
                                      double z);
  void shape_walls(convection::Boussinesq& flow, std::span<const float> action);
  [[nodiscard]] RewardTerms now(const convection::Boussinesq& flow) const;
  void begin(const convection::Boussinesq& flow);
  [[nodiscard]] double mean_square(const std::vector<std::vector<double>>& profiles) const;
  [[nodiscard]] std::string known_text(const RewardTerms& terms) const;

  ConvectionControlOptions options_;
  std::vector<WallHeating> heatings_;          ///< [actuators]
  std::vector<std::vector<double>> weights_;   ///< of cells along them, mean 1 [actuators][cells]
  std::vector<Probe> probes_;                  ///< [n_observed]
  std::vector<double> offsets_;                ///< minus the conducting state [probes of fields]
  std::vector<WallProbe> wall_probes_;         ///< of the last probes_
  std::vector<std::vector<double>> profiles_;  ///< what is set [actuators][cells]
  std::vector<double> levels_;
  Formula reward_;
  bool samples_ = false;      ///< whether the reward asks for more than the Nusselt number
  RewardTerms before_, sum_;  ///< at the end of the last step; integrals over time since the action
  double heating_ = 0, change_ = 0;
};

}  // namespace quintet::environments
