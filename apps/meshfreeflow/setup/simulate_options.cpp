#include "apps/meshfreeflow/setup/simulate_options.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/meshfreeflow/setup/wall_segments.hpp"
#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "surrogates/environments/wall_heating.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

const std::vector<std::pair<std::string, Wall>> walls{{"no_slip", Wall::no_slip},
                                                      {"free_slip", Wall::free_slip}};

/// Says what no run comes to the end of.
std::optional<std::string> never_ending(const SimulateOptions& options) {
  constexpr double most_steps = 1e12, most_frames = 1e6;
  const auto& time = options.time;
  const double dt = std::min(time.most_dt, time.dt.value_or(time.most_dt)), steps = time.end / dt;
  if (steps > most_steps && !time.steps)
    return fmt::format("time.end {:g} is {:.1e} steps of {:g} away; no run has more than {:g}", time.end,
                       steps, dt, most_steps);
  const double frames = options.output.frame_interval ? time.end / *options.output.frame_interval : 0;
  if (frames > most_frames)
    return fmt::format("output.frame_interval {:g} makes {:.1e} frames until {:g}; no run has more than {:g}",
                       *options.output.frame_interval, frames, time.end, most_frames);
  return std::nullopt;
}

/// The first of some walls that an earlier one names, too: its number and that of the earlier one.
template <class Items>
std::optional<std::pair<std::size_t, std::size_t>> twice(const Items& items) {
  for (std::size_t k = 0; k < items.size(); ++k)
    for (std::size_t l = 0; l < k; ++l)
      if (items[k].wall == items[l].wall) return std::pair{k, l};
  return std::nullopt;
}

/// Says which actuator is on no wall, on that of another, or sets more than its wall may; or which sensor.
std::optional<std::string> wrong_wall(const SimulateOptions& options) {
  using environments::most_buoyancy_set;
  if (!options.control) return std::nullopt;
  const auto& actuators = options.control->actuators;
  for (std::size_t k = 0; k < actuators.size(); ++k) {
    const auto& [wall, segments, amplitude, blend] = actuators[k];
    if (options.walls.sides == Sides::periodic && (wall == WallName::left || wall == WallName::right))
      return fmt::format(
          "control.actuators.{}.wall: x is periodic and has no sides; expected bottom or top, or "
          "walls.sides: "
          "no_slip",
          k);
    if (amplitude > most_buoyancy_set && !insulates(options, wall))
      return fmt::format(
          "control.actuators.{}.amplitude: {:g}; expected at most {:g} of a heated wall: beyond, the warm "
          "wall "
          "could be colder than the cold one",
          k, amplitude, most_buoyancy_set);
  }
  if (const auto both = twice(actuators))
    return fmt::format("control.actuators.{}.wall: that of actuator {}; expected another wall", both->first,
                       both->second);
  const auto& sensors = options.control->sensors.walls;
  if (!sensors.empty() && options.walls.sides == Sides::periodic)
    return "control.sensors.walls.0: x is periodic, where one policy decides at all places by its probes; "
           "leave walls out, or give walls.sides: no_slip";
  if (const auto both = twice(sensors))
    return fmt::format("control.sensors.walls.{}.wall: that of sensor {}; expected another wall", both->first,
                       both->second);
  return std::nullopt;
}

}  // namespace

std::vector<std::pair<std::string, WallName>> wall_names() {
  return {{"bottom", WallName::bottom},
          {"top", WallName::top},
          {"left", WallName::left},
          {"right", WallName::right}};
}

void describe(Schema& schema, WallOptions& options) {
  schema.choice("bottom", options.bottom, walls, "What the flow does at the lower plate, z = -1/2");
  schema.choice("top", options.top, walls, "The same at the upper plate, z = 1/2");
  schema.choice("sides", options.sides,
                {{"periodic", Sides::periodic}, {"no_slip", Sides::no_slip}, {"free_slip", Sides::free_slip}},
                "The ends of x: periodic, or walls");
  schema.choice("heated", options.heated, {{"plates", Heated::plates}, {"sides", Heated::sides}},
                "Which walls hold b = 1/2 (bottom, left) and -1/2 (top, right); the other two insulate");
  schema.sections(
      "segments", options.segments,
      "Parts of walls that are held at another buoyancy, or let heat in where they insulate; where "
      "they overlap they add");
  schema.check(AnyOrder{"segments"});
  schema.check([&options]() -> std::optional<std::string> {
    if (options.heated == Heated::sides && options.sides == Sides::periodic)
      return "heated: sides needs walls there (sides: no_slip or free_slip)";
    return std::nullopt;
  });
}

void describe(Schema& schema, AxisOptions& options) {
  schema.choice(
      "spacing", options.spacing,
      {{"uniform", Spacing::uniform}, {"tanh", Spacing::tanh}, {"cosine", Spacing::cosine}},
      "Equal cells; faces at tanh(s (2 q - 1))/tanh(s), q = 0 ... 1 in equal steps; or at -cos(pi q)");
  schema
      .number("strength", options.strength,
              "s of tanh: the cells at both ends are s/(sinh(s) cosh(s)) of the mean width")
      .above(0)
      .at_most(10);
}

void describe(Schema& schema, GridOptions& options) {
  schema.integers("cells", options.cells, "Cells along x and z")
      .required()
      .length(2, 2)
      .at_least(4)
      .at_most(100000)
      .example("[128, 64]");
  schema.section("x", options.x, "Along x; unequal cells need walls at the sides");
  schema.section("z", options.z, "Along z, from plate to plate");
}

void describe(Schema& schema, StartOptions& options) {
  schema.choice("profile", options.conducting, {{"conducting", true}, {"none", false}},
                "b of heat conduction; or 0: walls are heated at time 0, their layers grow from nothing");
  schema.number("roll", options.roll,
                "Amplitude of cos(2 pi n x/length) cos(pi z) in b (between sides cos(pi n x/length))");
  schema.integer("roll_pairs", options.roll_pairs, "n of it").at_least(1);
  schema.number("noise", options.noise, "Amplitude of the noise in b, different for each seed").at_least(0);
  schema
      .integer("noise_modes", options.noise_modes,
               "0: N(0, 1) (1/2 - z)(z + 1/2) of each cell; n: the lowest n by n waves, the same field on "
               "every grid")
      .at_least(0)
      .at_most(1000);
  schema
      .text("fields", options.fields,
            "Begin with frames of this file, such as fields.h5 of another run, in place of profile, roll and "
            "noise: a flow for each sample and frame, on any grid")
      .existing_file();
  schema.number("from", options.from, "fields: time of the first frame to begin with");
  schema.number("every", options.every, "fields: time between these frames; absent: all frames").above(0);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.fields || (options.from == 0 && !options.every)) return std::nullopt;
    return fmt::format(
        "{}: chooses frames of start.fields, which is absent; name its file, or leave this out",
        options.every ? "every" : "from");
  });
}

void describe(Schema& schema, TimeOptions& options) {
  schema.number("end", options.end, "Time at which the run ends")
      .required()
      .above(0)
      .at_most(1e9)
      .on_restart(OnRestart::free);
  schema.number("cfl", options.cfl, "dt = cfl/max(|u|/dx + |w|/dz), stable up to about 1")
      .above(0)
      .at_most(100);
  schema.number("most_dt", options.most_dt, "The longest step").above(0).at_most(1);
  schema.number("dt", options.dt, "A fixed step; absent: as long as cfl and most_dt admit")
      .above(0)
      .at_most(1);
  schema.integer("steps", options.steps, "At most so many steps; absent: any number")
      .at_least(0)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, SolverOptions& options) {
  schema.choice("kind", options.kind,
                {{"automatic", SolverKind::automatic},
                 {"transform", SolverKind::transform},
                 {"modes", SolverKind::modes},
                 {"multigrid", SolverKind::multigrid}},
                "transform: Fourier, cosine or sine transforms along x (equal cells); modes: products with "
                "the eigenvectors of the differences along x, as direct, for any cells; multigrid: conjugate "
                "gradients with PETSc's algebraic multigrid, for any cells, on a device with a geometric one "
                "of ours; automatic: transform where it can, else modes, but multigrid beyond 1024 cells "
                "along x");
  schema.number("tolerance", options.tolerance, "multigrid: of the residual, relative to the right-hand side")
      .above(0)
      .at_most(1e-3);
}

void describe(Schema& schema, OutputOptions& options) {
  schema
      .number("frame_interval", options.frame_interval,
              "Time between frames; steps are cut so that one ends at each multiple; absent: start and end")
      .above(0)
      .on_restart(OnRestart::free);
  schema.number("from", options.from, "Time of the first frame, where there is an interval")
      .at_least(0)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, StatisticsOptions& options) {
  schema.number("from", options.from, "Time from which means and spectra are taken").at_least(0);
}

void describe(Schema& schema, PointSpectrogramOptions& options) {
  using Signal = PointSpectrogramOptions::Signal;
  schema.choice("signal", options.signal, {{"u", Signal::u}, {"w", Signal::w}, {"b", Signal::b}},
                "Velocity along x or z, or buoyancy, of the flow of the first seed");
  schema.numbers("at", options.at, "Point, x and z; between the places of the field linear in each")
      .required()
      .length(2, 2)
      .example("[0.5, 0.25]");
  describe(schema, options.frames);
  schema.number("lowest", options.lowest, lowest_text).above(0);
  schema.number("corner", options.corner, corner_text).above(0);
  schema.check([&options] {
    return misses_frequency(options.frames, options.lowest.has_value(), options.corner.has_value());
  });
}

void describe(Schema& schema, ObserveOptions& options) {
  describe_spectra(schema, options.spectrogram, options.spectrum, "a field at a point");
}

void describe(Schema& schema, LimitOptions& options) {
  schema
      .number("judged_from", options.judged_from,
              "Time from which resolution is judged: layers that a start makes are thinner than any grid")
      .at_least(0);
  schema
      .number("shrunk_dt", options.shrunk_dt,
              "Stop (exit 3) when the step falls below this part of time.most_dt")
      .at_least(0)
      .below(1);
  schema
      .number("layer_cells", options.layer_cells,
              "Stop when the thermal boundary layer 1/(2 Nu) holds fewer cells, Nu the mean of the last 10 "
              "units of time; "
              "twice as many warn")
      .at_least(0);
  schema
      .number("kolmogorov_lengths", options.kolmogorov_lengths,
              "Stop when the widest cell is so many times (R^3/eps)^(1/4) (of Batchelor where Pr > 1), eps "
              "likewise the mean; half of it warns")
      .above(0);
  schema
      .number("spectrum_tail", options.spectrum_tail,
              "Stop when the upper third of wavenumbers holds this part of the variance of b about its mean "
              "over x; a tenth of it warns")
      .above(0);
  schema
      .number("overshoot", options.overshoot,
              "Stop when b leaves the range of the walls by more; a tenth of it warns")
      .above(0);
  schema
      .number("budget", options.budget,
              "Stop when kinetic energy leaves its budget (what buoyancy works, less dissipation) by this "
              "part of the work over the last 10 units of time; a tenth of it warns")
      .above(0);
  schema
      .number("divergence", options.divergence, "Stop when a cell's divergence times time.most_dt is greater")
      .above(0);
}

void describe(Schema& schema, SimulateOptions& options) {
  schema.number("rayleigh", options.rayleigh, "Ra = (buoyancy difference) height^3/(viscosity diffusivity)")
      .required()
      .above(0)
      .at_most(1e15);
  schema.number("prandtl", options.prandtl, "Pr = viscosity/diffusivity").above(0).at_most(1e6);
  schema.number("aspect_ratio", options.aspect_ratio, "Length of x in heights").above(0).at_most(1e4);
  schema.section("walls", options.walls, "Boundary conditions").on_restart(OnRestart::fixed);
  schema.section("grid", options.grid, "Cells").on_restart(OnRestart::fixed);
  schema.section("start", options.start, "The state at time 0, at rest").on_restart(OnRestart::fixed);
  schema.integers("seeds", options.seeds, "Of the noise: one flow for each, all with the same steps")
      .length(1, 10000)
      .at_least(0)
      .on_restart(OnRestart::fixed);
  schema.section("time", options.time, "The steps");
  schema.section("solver", options.solver, "How the linear equations of a step are solved");
  describe_device(schema, options.device);
  schema.section("output", options.output, "Fields over time, in fields.h5");
  schema.section("statistics", options.statistics, "Means over time").on_restart(OnRestart::free);
  schema.section("observe", options.observe, "What else is looked at; absent: nothing")
      .on_restart(OnRestart::fixed);
  schema.integer("history_interval", options.history_interval, "Steps between rows of the history")
      .at_least(1)
      .on_restart(OnRestart::free);
  describe(schema, options.checkpoints);
  schema.section("limits", options.limits, "When to stop with exit code 3").on_restart(OnRestart::free);
  schema
      .section("control", options.control,
               "What an agent of `meshfreeflow control` sets, sees and is rewarded for; with a policy "
               "`simulate` plays it")
      .on_restart(OnRestart::free);
  schema.check([&options] { return never_ending(options); });
  schema.check([&options] { return wrong_segment(options); });
  schema.check([&options] { return wrong_wall(options); });
}

}  // namespace quintet::meshfreeflow
