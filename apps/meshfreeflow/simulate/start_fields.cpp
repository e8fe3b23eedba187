#include "apps/meshfreeflow/simulate/start_fields.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "io/fields/field_series.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/linear/linear_means.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr double time_slack = 1e-9;

FieldSeriesReader open_fields(const std::string& path) {
  FieldSeriesOptions wanted;
  wanted.axes = {"z", "x"};
  wanted.fields = {"b", "u", "w"};
  return FieldSeriesReader::open(Comm::self(), path, wanted);
}

/// Frames at start.from, start.from + start.every, ...; without start.every all from start.from on.
std::vector<std::uint64_t> chosen_frames(const StartOptions& start, const FieldSeriesReader& reader) {
  std::uint64_t n = reader.times().size();
  for (std::uint64_t sample = 0; sample < reader.n_samples(); ++sample)
    n = std::min(n, reader.n_frames(sample));
  std::vector<std::uint64_t> frames;
  for (std::uint64_t k = 0; k < n; ++k) {
    const double since = reader.times()[k] - start.from;
    if (since < -time_slack * std::max(1.0, std::abs(start.from))) continue;
    const double every = start.every.value_or(0);
    const double miss = every > 0 ? since - std::round(since / every) * every : 0;
    // A part of the interval, but of the time where that is shorter: a long interval chooses one frame, not
    // all.
    if (std::abs(miss) <= 1e-6 * std::min(every, std::max(1.0, std::abs(reader.times()[k]))))
      frames.push_back(k);
  }
  QUINTET_CHECK(
      !frames.empty(),
      "start.fields: {} has {} from {:g} to {:g}, none of which start.from = {:g} chooses; expected "
      "a time among them",
      *start.fields, counted(n, "frame"), n > 0 ? reader.times()[0] : 0.0,
      n > 0 ? reader.times()[n - 1] : 0.0, start.from);
  return frames;
}

KnownPoints points_of(const FieldAxis& axis, const Axis& mine, const std::string& path) {
  const double slack = 1e-6 * mine.length();
  QUINTET_CHECK(
      axis.periodic == mine.periodic && std::abs(axis.lower - mine.faces.front()) <= slack &&
          std::abs(axis.upper - mine.faces.back()) <= slack,
      "start.fields: {} has {} from {:g} to {:g}, {}periodic; the flow here goes from {:g} to {:g}, "
      "{}periodic. Change aspect_ratio or walls.sides, or choose another file",
      path, axis.name, axis.lower, axis.upper, axis.periodic ? "" : "not ", mine.faces.front(),
      mine.faces.back(), mine.periodic ? "" : "not ");
  return {axis.coordinates, axis.lower, axis.upper, axis.periodic};
}

using Intervals = std::vector<std::pair<double, double>>;

Intervals cells_of(const Axis& axis) {
  Intervals cells;
  for (int i = 0; i < axis.n(); ++i) cells.emplace_back(axis.faces[i], axis.faces[i + 1]);
  return cells;
}

/// Control volumes of faces 0 ... n - 1, from centre to centre; that of a wall is not used.
Intervals faces_of(const Axis& axis) {
  Intervals volumes;
  for (int i = 0; i < axis.n(); ++i) {
    const double before = i > 0           ? axis.centres[i - 1]
                          : axis.periodic ? axis.centres[axis.n() - 1] - axis.length()
                                          : axis.faces[0];
    volumes.emplace_back(before, axis.centres[i]);
  }
  return volumes;
}

/// Values that the walls of the axes hold of a field, as equations have them.
struct WallsOf {
  LinearMeans::Wall low_x, high_x, low_z, high_z;
};

WallsOf walls_of(const Problem& problem, const std::string& field) {
  const LinearMeans::Wall none, zero{true, 0}, warm{true, wall_buoyancy}, cold{true, -wall_buoyancy};
  const bool plates = problem.heated == Heated::plates;
  if (field == "b") return plates ? WallsOf{none, none, warm, cold} : WallsOf{warm, cold, none, none};
  const auto at = [&](Wall wall) { return wall == Wall::no_slip ? zero : none; };
  const auto side = problem.sides == Sides::no_slip ? zero : none;
  if (field == "u") return {zero, zero, at(problem.bottom), at(problem.top)};
  return {side, side, zero, zero};
}

/// Means along x and z of a frame's field at the control volumes of the grid.
class Resampling {
 public:
  Resampling(const Boussinesq& flow, const FieldSeriesReader& reader, const std::string& field)
      : grid_(flow.grid()),
        n_source_x_(reader.header().axes[1].size()),
        number_(reader.header().field(field)),
        walls_(walls_of(flow.problem(), field)),
        along_x_(points_of(reader.header().axes[1], grid_.x, reader.path()), walls_.low_x, walls_.high_x,
                 field == "u" ? faces_of(grid_.x) : cells_of(grid_.x)),
        along_z_(points_of(reader.header().axes[0], grid_.z, reader.path()), walls_.low_z, walls_.high_z,
                 field == "w" ? faces_of(grid_.z) : cells_of(grid_.z)),
        first_x_(field == "u" && !grid_.x.periodic ? 1 : 0),
        first_z_(field == "w" ? 1 : 0) {}

  /// Faces on walls stay 0.
  void set(const FieldSeriesReader& reader, std::uint64_t sample, std::uint64_t frame,
           const Field& result) const {
    const auto values = reader.read<double>(number_, sample, {frame, 1, {}});
    std::vector<double> row(n_source_x_);
    for (int j = 0; j < grid_.rows_here(); ++j) {
      const int k = grid_.first_row() + j;
      if (k < first_z_) continue;
      for (int i = 0; i < n_source_x_; ++i)
        row[i] = along_z_.mean(k, [&](int r) { return values[std::int64_t{r} * n_source_x_ + i]; });
      for (int i = first_x_; i < grid_.x.n(); ++i)
        result.row(j)[i] = along_x_.mean(i, [&](int r) { return row[r]; });
    }
  }

 private:
  const Grid& grid_;
  int n_source_x_, number_;
  WallsOf walls_;
  LinearMeans along_x_, along_z_;
  int first_x_, first_z_;
};

}  // namespace

SimulateOptions with_start_fields(const SimulateOptions& options) {
  if (!options.start.fields) return options;
  QUINTET_CHECK(options.seeds == SimulateOptions{}.seeds,
                "seeds: flows begin as start.fields has them, one for each of its samples and chosen frames; "
                "leave seeds out, or start.fields");
  const auto reader = open_fields(*options.start.fields);
  SimulateOptions result = options;
  result.seeds.resize(chosen_frames(options.start, reader).size() * reader.n_samples());
  std::iota(result.seeds.begin(), result.seeds.end(), 1);
  constexpr std::size_t most = 10000;
  QUINTET_CHECK(result.seeds.size() <= most,
                "start.fields: {} flows, from {} with {}; expected at most {}: a longer start.every chooses "
                "fewer",
                result.seeds.size(), counted(reader.n_samples(), "sample"),
                counted(result.seeds.size() / reader.n_samples(), "frame"), most);
  return result;
}

void fill_from_fields(const SimulateOptions& options, Boussinesq& flow) {
  const auto reader = open_fields(*options.start.fields);
  const auto frames = chosen_frames(options.start, reader);
  const Resampling u(flow, reader, "u"), w(flow, reader, "w"), b(flow, reader, "b");
  int member = 0;
  for (std::uint64_t sample = 0; sample < reader.n_samples(); ++sample)
    for (const std::uint64_t frame : frames) {
      if (member == flow.n_members()) return;
      BoussinesqState& state = flow.state(member++);
      for (const Field* field : {&state.u, &state.w, &state.p}) Kokkos::deep_copy(field->values, 0.0);
      u.set(reader, sample, frame, state.u);
      w.set(reader, sample, frame, state.w);
      b.set(reader, sample, frame, state.b);
    }
}

}  // namespace quintet::meshfreeflow
