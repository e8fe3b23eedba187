#include "surrogates/environments/convection_control_options.hpp"

namespace quintet::environments {

using namespace convection;

int ConvectionControlOptions::n_actions() const {
  int n = 0;
  for (const Actuator& actuator : actuators) n += actuator.heating.segments;
  return n;
}

int ConvectionControlOptions::place_of(int actuator, int segment) const {
  if (periodic()) return segment * static_cast<int>(actuators.size()) + actuator;
  for (int before = 0; before < actuator; ++before) segment += actuators[before].heating.segments;
  return segment;
}

Axis ConvectionControlOptions::x_axis() const {
  return make_axis(0, aspect_ratio, cells_x, spacing_x, strength_x, periodic());
}

Axis ConvectionControlOptions::z_axis() const {
  return make_axis(-0.5, 0.5, cells_z, spacing_z, strength, false);
}

int ConvectionControlOptions::n_observed() const {
  int n = static_cast<int>(sensed.size()) * probes_x * probes_z;
  for (const WallSensor& sensor : wall_sensors) n += sensor.points;
  return n;
}

bool ConvectionControlOptions::is_plate(bool insulates) const {
  return (problem.heated == Heated::plates) != insulates;
}

const char* ConvectionControlOptions::wall_of(bool cold, bool insulates) const {
  if (is_plate(insulates)) return cold ? "ceiling" : "floor";
  return cold ? "right side" : "left side";
}

}  // namespace quintet::environments
