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

bool ConvectionControlOptions::is_plate(const Actuator& actuator) const {
  return (problem.heated == Heated::plates) != actuator.insulates;
}

const char* ConvectionControlOptions::wall_of(const Actuator& actuator) const {
  if (is_plate(actuator)) return actuator.cold ? "ceiling" : "floor";
  return actuator.cold ? "right side" : "left side";
}

}  // namespace quintet::environments
