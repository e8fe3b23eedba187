#include "apps/meshfreeflow/setup/wall_segments.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/config/schema.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

bool is_side(WallName wall) { return wall == WallName::left || wall == WallName::right; }

/// Part of each cell of an axis that lies between two places.
void add_segment(const Axis& along, double from, double to, double value, std::vector<double>& profile) {
  profile.resize(along.n());
  for (int i = 0; i < along.n(); ++i) {
    const double covered = std::min(to, along.faces[i + 1]) - std::max(from, along.faces[i]);
    profile[i] += value * std::max(covered, 0.0) / along.widths[i];
  }
}

}  // namespace

void describe(Schema& schema, WallSegmentOptions& options) {
  schema.choice("wall", options.wall, wall_names(), "The wall; left and right where x is not periodic")
      .required();
  schema.number("from", options.from, "Where it begins: x of plates, z of sides; absent: at the corner");
  schema.number("to", options.to, "Where it ends, above from; absent: at the corner");
  schema.number("buoyancy", options.buoyancy, "Of a heated wall: b there, besides its 1/2 or -1/2")
      .at_least(-1000)
      .at_most(1000);
  schema
      .number(
          "heat", options.heat,
          "Of a wall that insulates: slope of b towards the wall, which is the heat that it lets in over P "
          "= (Ra Pr)^-1/2; below 0 it takes heat out. 1: as much as is conducted over one height")
      .at_least(-1000)
      .at_most(1000);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.buoyancy.has_value() == options.heat.has_value())
      return "give buoyancy (of a heated wall) or heat (of one that insulates), one of the two";
    return std::nullopt;
  });
}

std::optional<std::string> wrong_segment(const SimulateOptions& options) {
  const auto& segments = options.walls.segments;
  for (std::size_t k = 0; k < segments.size(); ++k) {
    const auto& [wall, from, to, buoyancy, heat] = segments[k];
    const bool side = is_side(wall), is_insulating = insulates(options, wall);
    const auto key = fmt::format("walls.segments.{}", k);
    if (side && options.walls.sides == Sides::periodic)
      return fmt::format(
          "{}.wall: x is periodic and has no sides; expected walls.sides: no_slip, or bottom "
          "or top",
          key);
    if (heat && !is_insulating)
      return fmt::format("{}.heat: this wall is held at its b, since walls.heated says {}; give buoyancy",
                         key, side ? "sides" : "plates");
    if (buoyancy && is_insulating)
      return fmt::format(
          "{}.buoyancy: this wall insulates, since walls.heated says {}, and what solves the equations of b "
          "takes one kind of condition along a wall; give heat, or walls.heated: {}",
          key, side ? "plates" : "sides", side ? "sides" : "plates");
    const double first = side ? -0.5 : 0, last = side ? 0.5 : options.aspect_ratio;
    const double begin = from.value_or(first), end = to.value_or(last);
    if (!(begin >= first && begin < end && end <= last))
      return fmt::format("{}: from {:g} to {:g}; expected a part of {:g} to {:g} along {}", key, begin, end,
                         first, last, side ? "z" : "x");
  }
  if (!segments.empty() && options.control)
    return "walls.segments: an agent sets the walls of section control, which begin at +-1/2 and insulating; "
           "leave walls.segments out, or control";
  return std::nullopt;
}

bool insulates(const SimulateOptions& options, WallName wall) {
  return is_side(wall) != (options.walls.heated == Heated::sides);
}

bool sets_walls(const SimulateOptions& options) {
  return !options.walls.segments.empty() || (options.control && options.control->policy);
}

bool sets_heat(const SimulateOptions& options) {
  const auto has_heat = [](const WallSegmentOptions& segment) { return segment.heat.has_value(); };
  const auto acts = [&](const ActuatorOptions& actuator) { return insulates(options, actuator.wall); };
  const auto& segments = options.walls.segments;
  return std::any_of(segments.begin(), segments.end(), has_heat) ||
         (options.control && options.control->policy &&
          std::any_of(options.control->actuators.begin(), options.control->actuators.end(), acts));
}

SegmentedWalls segmented_walls(const SimulateOptions& options, const Grid& grid) {
  SegmentedWalls walls;
  for (const auto& [wall, from, to, buoyancy, heat] : options.walls.segments) {
    const bool first = wall == WallName::bottom || wall == WallName::left;
    const Axis& along = is_side(wall) ? grid.z : grid.x;
    auto& profile = heat ? (first ? walls.first_heat : walls.last_heat) : first ? walls.warm : walls.cold;
    add_segment(along, from.value_or(along.faces.front()), to.value_or(along.faces.back()),
                heat ? *heat : *buoyancy, profile);
  }
  return walls;
}

}  // namespace quintet::meshfreeflow
