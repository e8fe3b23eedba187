#pragma once

#include <string>
#include <vector>

#include "physics/convection/initial.hpp"
#include "surrogates/environments/wall_heating.hpp"

namespace quintet::environments {

/// A wall that actions set: buoyancy of a heated one, heat of one that insulates.
struct Actuator {
  bool cold = false;  ///< the top or right wall; else the bottom or left one
  WallHeatingOptions heating;
  bool insulates = false;  ///< of the pair that insulates where nothing acts
};

/// Points at a wall, in the middles of equal parts, that show heat of a heated wall (the Nusselt number there
/// less 1), or b of one that insulates, less that of conduction.
struct WallSensor {
  bool cold = false;  ///< the top or right wall
  bool insulates = false;
  int points = 4;
};

/// What probes may read: velocities, and buoyancy less that of conduction (b + z, or b - 1/2 + x/length).
enum class Sensed { u, w, b };

/// A flow some of whose walls are set by segments. Lengths and times in free-fall units
/// (physics/convection/problem.hpp).
struct ConvectionControlOptions {
  convection::Problem problem{1e4, 1};
  double aspect_ratio = 2;
  int cells_x = 32, cells_z = 24;
  convection::Spacing spacing_x = convection::Spacing::uniform, spacing_z = convection::Spacing::tanh;
  double strength_x = 1.2, strength = 1.2;  ///< of Spacing::tanh along x and z
  bool by_modes = false;                    ///< linear equations (make_modes_solver()); else by transforms
  convection::Start start{true, 0, 1, 0.1, 4};
  std::vector<Actuator> actuators{{}};  ///< of different walls; where x is periodic as many segments
  double interval = 1.5;                ///< time that an action stands
  int actions = 64;                     ///< of an episode
  std::vector<Sensed> sensed{Sensed::u, Sensed::w, Sensed::b};
  int probes_x = 8, probes_z = 4;             ///< points at which these are observed
  std::vector<WallSensor> wall_sensors;       ///< seen besides, where x is not periodic
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
  /// Numbers that are observed.
  [[nodiscard]] int n_observed() const;
  /// Whether a wall of an actuator or sensor is the floor or the ceiling, along x; else a side, along z.
  [[nodiscard]] bool is_plate(bool insulates) const;
  [[nodiscard]] bool is_plate(const Actuator& actuator) const { return is_plate(actuator.insulates); }
  /// "floor", "ceiling", "left side" or "right side".
  [[nodiscard]] const char* wall_of(bool cold, bool insulates) const;
  [[nodiscard]] const char* wall_of(const Actuator& actuator) const {
    return wall_of(actuator.cold, actuator.insulates);
  }
};

}  // namespace quintet::environments
