#include "apps/meshfreeflow/evaluate/case_walls.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "io/files/reading.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/flow/evaluation/truth_check.hpp"

namespace quintet::meshfreeflow {
namespace {

class Walls {
 public:
  Walls(const CaseData& data, const std::vector<FieldWallValue>& known)
      : data_(data),
        known_(known),
        fields_{&data.grid, data.truth.axes[0].coordinates, data.truth.values},
        walls_(data.fields.size(), flow::FieldWalls(2)) {}

  void give(const WallValueOptions& wall) {
    const int field = field_of(data_.fields, wall.field, "flow.walls");
    const auto dot = wall.at.find('.');
    const std::string axis = wall.at.substr(0, dot),
                      end = dot == std::string::npos ? "" : wall.at.substr(dot + 1);
    const auto& axes = data_.grid.axes();
    const auto found =
        std::find_if(axes.begin(), axes.end(), [&](const auto& one) { return one.name == axis; });
    QUINTET_CHECK(found != axes.end() && (end == "lower" || end == "upper"),
                  "flow.walls: '{}' is no wall; AXIS.lower or AXIS.upper with axis {} or {} is expected",
                  wall.at, axes[0].name, axes[1].name);
    if (found->periodic) return;
    const int d = found - axes.begin(), e = end == "upper" ? 1 : 0;
    const auto value = flow::wall_value(fields_, field, d, e);
    QUINTET_CHECK(
        !value.contradicts(wall.value),
        "flow.walls: {} is given as {} at {}, but in {} it is {:.4g} there (it varies by {:.2g} along "
        "the wall and in time, by {:.2g} over the flow): give what it is, or leave flow.walls out",
        wall.field, wall.value, wall.at, data_.text, value.mean, value.deviation, value.scale);
    walls_[field][d][e] = wall.value;
  }

  /// Nothing passes a wall, and nothing moves along it, where the data do not say otherwise.
  void find_velocity() {
    const auto stated = [&](const char* name) {
      const auto found = data_.parameters.find(name);
      return found != data_.parameters.end() && found->second != 0;
    };
    const bool slips[2][2] = {{stated("slip_bottom"), stated("slip_top")},
                              {stated("slip_sides"), stated("slip_sides")}};
    each_end([&](int axis, int end) {
      for (const int along : {axis, 1 - axis}) {
        const int field = data_.meaning->roles.velocity[along];
        if (along != axis && slips[axis][end]) continue;
        const auto value = flow::wall_value(fields_, field, axis, end);
        if (value.contradicts(0))
          reading_.assume(fmt::format("{} is not 0 at {} (rms {:.3g}): nothing is known of it there",
                                      data_.fields[field], name(axis, end),
                                      std::hypot(value.mean, value.deviation)));
        else
          walls_[field][axis][end] = 0;
      }
    });
  }

  void find_scalar() {
    const int field = data_.meaning->roles.scalar;
    if (field < 0) return;
    each_end([&](int axis, int end) {
      const auto value = flow::wall_value(fields_, field, axis, end);
      const auto stated = known_value(field, axis, end);
      if (stated && !value.contradicts(*stated)) {
        walls_[field][axis][end] = *stated;
        return;
      }
      // Of a file that says what its walls hold, those that it does not name insulate.
      if (!value.is_constant() || (!stated && !known_.empty())) return;
      walls_[field][axis][end] = value.mean;
      reading_.assume(fmt::format("{} = {:.6g} at {} by the data{} (flow.walls changes it)",
                                  data_.fields[field], value.mean, name(axis, end),
                                  stated ? fmt::format(", not {} as such files have it", *stated) : ""));
    });
  }

  [[nodiscard]] std::vector<flow::FieldWalls> take() {
    if (!reading_.empty()) log::info("{}: {}", data_.text, reading_.text());
    return std::move(walls_);
  }

 private:
  template <class Action>
  void each_end(const Action& action) const {
    for (const int axis : {0, 1})
      for (const int end : {0, 1})
        if (!data_.grid.axes()[axis].periodic) action(axis, end);
  }

  [[nodiscard]] std::string name(int axis, int end) const {
    return data_.grid.axes()[axis].name + (end == 0 ? ".lower" : ".upper");
  }

  [[nodiscard]] std::optional<double> known_value(int field, int axis, int end) const {
    for (const auto& one : known_)
      if (one.field == data_.fields[field] && one.axis == data_.grid.axes()[axis].name &&
          one.upper == (end == 1))
        return one.value;
    return std::nullopt;
  }

  const CaseData& data_;
  const std::vector<FieldWallValue>& known_;
  flow::FieldsOverTime fields_;
  std::vector<flow::FieldWalls> walls_;
  Reading reading_;
};

}  // namespace

std::vector<flow::FieldWalls> walls_of(const FlowOptions& options, const CaseData& data,
                                       const std::vector<FieldWallValue>& known) {
  Walls walls(data, known);
  for (const auto& wall : options.walls) walls.give(wall);
  if (options.walls.empty()) {
    walls.find_velocity();
    walls.find_scalar();
  }
  return walls.take();
}

}  // namespace quintet::meshfreeflow
