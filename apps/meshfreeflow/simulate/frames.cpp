#include "apps/meshfreeflow/simulate/frames.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/wall_segments.hpp"
#include "physics/convection/centred.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr double round_off = 1e-9;
constexpr const char* file_name = "fields.h5";

FieldSeriesHeader header_of(const Simulation& simulation) {
  const auto& options = simulation.options();
  const Grid& grid = simulation.flow().grid();
  FieldSeriesHeader header;
  header.name = "rayleigh_benard";
  header.axes = {{"z", "1", grid.z.centres, false, grid.z.faces.front(), grid.z.faces.back()},
                 {"x", "1", grid.x.centres, grid.x.periodic, grid.x.faces.front(), grid.x.faces.back()}};
  header.fields = {{"p", "1", "Pressure, of zero volume mean", "pressure", -1},
                   {"b", "1", "Buoyancy", "buoyancy", -1},
                   {"w", "1", "Velocity along z", "velocity", 0},
                   {"u", "1", "Velocity along x", "velocity", 1}};
  const Problem problem = simulation.flow().problem();
  // What walls do is said in numbers, too: a model must know a flow with other walls than it has met.
  const auto flag = [](bool yes) { return yes ? 1.0 : 0.0; };
  header.parameters = {{"Ra", options.rayleigh},
                       {"Pr", options.prandtl},
                       {"slip_bottom", flag(problem.bottom == Wall::free_slip)},
                       {"slip_top", flag(problem.top == Wall::free_slip)},
                       {"slip_sides", flag(problem.sides == Sides::free_slip)},
                       {"heated_sides", flag(problem.heated == Heated::sides)}};
  if (sets_walls(options)) header.parameters["walls_set"] = 1;
  header.n_samples = options.seeds.size();
  header.seeds = options.seeds;
  return header;
}

/// The frames that belong to the run so far: those that its checkpoint counts, or up to its time, and whole.
std::uint64_t frames_to_keep(const Context& context, const FieldSeriesWriter& writer,
                             const Simulation& simulation) {
  const auto& times = writer.times();
  std::uint64_t kept =
      std::upper_bound(times.begin(), times.end(), simulation.time() * (1 + round_off)) - times.begin();
  for (std::uint64_t sample = 0; sample < simulation.options().seeds.size(); ++sample)
    kept = std::min(kept, writer.n_frames(sample));
  return std::min(kept, context.recorded_rows(file_name).value_or(kept));
}

/// The file of a run that begins, or goes on with the frames up to its time.
FieldSeriesWriter open_writer(Context& context, const Simulation& simulation) {
  const auto path = context.path(file_name);
  if (!goes_on_with(context, file_name))
    return FieldSeriesWriter::create(context.comm(), path, header_of(simulation), context.provenance());
  auto writer = FieldSeriesWriter::reopen(context.comm(), path, header_of(simulation));
  if (!writer.altered().empty())
    context.lose(file_name, fmt::format("{}: damaged, and kept as it is", writer.altered()));
  writer.truncate(frames_to_keep(context, writer, simulation));
  return writer;
}

}  // namespace

Frames::Frames(Context& context, const Simulation& simulation)
    : interval_(simulation.options().output.frame_interval.value_or(0)),
      from_(simulation.options().output.from),
      writer_(open_writer(context, simulation)),
      count_(context, file_name, writer_.times().size()) {}

Schedule Frames::schedule() const {
  if (interval_ <= 0) return at_start() | at_end();
  return Schedule([interval = interval_, from = from_](const Instant& now) {
    if (now.time < from * (1 - round_off)) return false;
    if (now.start) return true;
    return std::floor(now.time / interval + round_off) > std::floor(now.time_before / interval + round_off);
  });
}

void Frames::write(const Simulation& simulation) {
  const double time = simulation.time();
  if (!writer_.times().empty() && writer_.times().back() >= time) return;
  const Grid& grid = simulation.flow().grid();
  const std::uint64_t rows = grid.rows_here(), n = grid.x.n();
  const hdf5::Box box{{static_cast<std::uint64_t>(grid.first_row()), 0}, {rows, n}};
  for (int m = 0; m < simulation.flow().n_members(); ++m) {
    const Centred values = centred(Exec(), simulation.flow(), m);
    writer_.append<double>(static_cast<std::uint64_t>(m), time, {values.p, values.b, values.w, values.u},
                           box);
  }
  count_.set(writer_.times().size());
}

}  // namespace quintet::meshfreeflow
