#include "physics/particles/dynamics/dynamics_options.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/particles/dynamics/thermostats/thermostats.hpp"

namespace quintet {

void describe(Schema& schema, TimeOptions& options) {
  schema.quantity("dt", options.dt, "ps", "Time step").above(0).example("0.5 fs");
  schema.integer("steps", options.steps, "Number of steps (of a minimisation: at most)")
      .required()
      .at_least(0)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, BarostatOptions& options) {
  schema.quantity("pressure", options.pressure, "bar", "Target pressure");
  schema.quantity("pressure_end", options.pressure_end, "bar", "Target at the last step; linear in between");
  schema
      .quantity(
          "relaxation_time", options.relaxation_time, "ps",
          "Time in which the volume relaxes if the compressibility is right; mtk: tau in the cell's mass, "
          "(N_f + 3) "
          "kT tau^2 / 3: in a stiff solid the cell swings faster, by sqrt(N kT / (bulk modulus * volume))")
      .above(0);
  schema
      .quantity("compressibility", options.compressibility, "1/bar",
                "Isothermal compressibility, roughly (default: water); a wrong one only changes the "
                "relaxation time")
      .above(0);
  schema.choice("coupling", options.coupling, choices_of(cell_couplings),
                "Scale all directions alike, x, y and z each by its own pressure, or the angles too (mtk)");
  schema.choice(
      "thermostat", options.thermostat, choices_of(thermostats()),
      "What keeps the temperature of npt, of the atoms and (mtk) of the cell: what integrator.ensemble names "
      "for constant volume, with the same friction, relaxation_time and chain_length; of the cell: a chain "
      "of "
      "its own with nose_hoover, else friction and noise");
  schema.choice(
      "method", options.method, choices_of(barostat_methods),
      "Stochastic cell rescaling, or a cell with inertia (Martyna, Tobias and Klein; Parrinello and Rahman); "
      "auto: cell_rescaling for npt where it can do what is asked for, else mtk, and mtk with nose_hoover, "
      "so that all is deterministic");
  schema
      .quantities(
          "pressure_tensor", options.pressure_tensor, "bar",
          "Target of each component in place of pressure: xx, yy, zz and, triclinic, xy, xz, yz (mtk)")
      .length(0, 6)
      .example("1000 0 0 bar");
  schema
      .texts("axes", options.axes,
             "Directions that move, the others stay (mtk); a direction that is open must stay")
      .length(1, 3);
}

void describe(Schema& schema, RelaxingCellOptions& options) {
  schema.quantity("pressure", options.pressure, "bar", "Pressure that the cell relaxes to");
  schema
      .quantities("pressure_tensor", options.pressure_tensor, "bar",
                  "Target of each component in place of pressure: xx, yy, zz and, triclinic, xy, xz, yz")
      .length(0, 6)
      .example("1000 0 0 bar");
  schema.choice("coupling", options.coupling, choices_of(cell_couplings),
                "What relaxes: all directions alike, x, y and z each by its own pressure, or the angles too");
  schema
      .texts("axes", options.axes,
             "Directions that relax, the others stay; a direction that is open must stay")
      .length(1, 3);
  schema
      .quantity("stress_tolerance", options.stress_tolerance, "bar",
                "Stop when no component of the pressure tensor that may relax is farther from its target")
      .above(0);
}

void describe(Schema& schema, MinimiserOptions& options) {
  schema
      .quantity("force_tolerance", options.force_tolerance, "eV/angstrom",
                "Stop when no atom's force is longer than this")
      .above(0);
  schema
      .quantity("max_displacement", options.max_displacement, "angstrom", "Farthest an atom moves in a step")
      .above(0);
  schema.number("dt_max_factor", options.dt_max_factor, "Longest step, in units of time.dt").at_least(1);
  schema.section(
      "cell", options.cell,
      "The cell relaxes with the atoms to a pressure: the enthalpy is minimised; absent: it stays");
}

namespace {

/// True if cell rescaling cannot do what the section asks for.
bool needs_mtk(const BarostatOptions& b) {
  return b.coupling == CellCoupling::triclinic || !b.pressure_tensor.empty() || b.axes.size() < 3;
}

/// Objection to what a cell is asked to do; `section`: of integrator, where it says so.
template <class CellOptions>
std::optional<std::string> cell_problem(const char* section, const CellOptions& cell) {
  for (const auto& axis : cell.axes)
    if ((axis != "x" && axis != "y" && axis != "z") ||
        std::count(cell.axes.begin(), cell.axes.end(), axis) > 1)
      return fmt::format("{}.axes: '{}' is not one of x, y, z, each at most once", section, axis);
  if (cell.pressure_tensor.empty()) return std::nullopt;
  const std::size_t wanted = cell.coupling == CellCoupling::triclinic ? 6 : 3;
  if (cell.coupling == CellCoupling::isotropic)
    return fmt::format(
        "{}.pressure_tensor needs coupling anisotropic or triclinic: one length has one pressure", section);
  if (cell.pressure_tensor.size() != wanted)
    return fmt::format("{}.pressure_tensor has {} components; this coupling has {}", section,
                       cell.pressure_tensor.size(), wanted);
  return std::nullopt;
}

std::optional<std::string> barostat_problem(const IntegratorOptions& options) {
  const auto& b = options.barostat;
  if (b.method == BarostatMethod::cell_rescaling && options.ensemble.kind == Ensemble::nph)
    return "barostat.method cell_rescaling keeps a temperature; nph needs 'method: mtk'";
  if (b.method == BarostatMethod::cell_rescaling && needs_mtk(b))
    return "barostat: a triclinic cell, pressure_tensor and axes need 'method: mtk'";
  if (auto problem = cell_problem("barostat", b)) return problem;
  if (b.pressure_end && !b.pressure_tensor.empty())
    return "barostat.pressure_end is a ramp of pressure; pressure_tensor has none";
  return std::nullopt;
}

}  // namespace

std::string ensemble_name(const NamedEnsemble& ensemble) {
  if (ensemble.kind == Ensemble::nvt) return std::string(row_of(thermostats(), ensemble.thermostat).name);
  return std::string(row_of(ensembles, ensemble.kind).name);
}

std::optional<Thermostat> thermostat_of(const IntegratorOptions& options) {
  if (options.ensemble.kind == Ensemble::nvt) return options.ensemble.thermostat;
  if (options.ensemble.kind == Ensemble::npt) return options.barostat.thermostat;
  return std::nullopt;
}

bool is_at_constant_pressure(const NamedEnsemble& ensemble) {
  return row_of(ensembles, ensemble.kind).moves_cell;
}

bool uses_mtk(const IntegratorOptions& options) {
  if (!is_at_constant_pressure(options.ensemble)) return false;
  switch (options.barostat.method) {
    case BarostatMethod::cell_rescaling:
      return false;
    case BarostatMethod::mtk:
      return true;
    case BarostatMethod::automatic:
      const auto thermostat = thermostat_of(options);
      return !thermostat || needs_mtk(options.barostat) ||
             row_of(thermostats(), *thermostat).is_deterministic;
  }
  throw InternalError("a method of barostats that is none");
}

std::optional<std::string> problem_of(const IntegratorOptions& options) {
  const bool needed = row_of(ensembles, options.ensemble.kind).keeps_temperature;
  if (needed && !options.temperature) return "this ensemble needs a temperature: add 'temperature: 300 K'";
  if (!needed && options.temperature_end)
    return "temperature_end has no meaning for ensembles nve, nph and minimise";
  if (is_at_constant_pressure(options.ensemble)) return barostat_problem(options);
  if (options.ensemble == Ensemble::minimise && options.minimiser.cell)
    return cell_problem("minimiser.cell", *options.minimiser.cell);
  return std::nullopt;
}

std::optional<std::string> problem_of(const IntegratorOptions& options, const TimeOptions& time) {
  // A chain of mass N kT tau^2 swings with a period of about 2 pi tau, which steps must resolve: at tau = dt
  // velocities overflow within a few steps, at 2 dt the conserved energy drifts by meV per atom and 100
  // steps.
  constexpr double least_steps = 2;
  if (thermostat_of(options) != Thermostat::nose_hoover) return std::nullopt;
  if (options.relaxation_time >= least_steps * time.dt) return std::nullopt;
  return fmt::format(
      "integrator.relaxation_time of {:g} ps is below {:g} time steps (time.dt: {:g} ps): the Nose-Hoover "
      "chain would swing faster than the steps follow; take 50 to 500 time steps, such as {:g} ps, or a "
      "shorter "
      "time.dt, such as {:g} fs",
      options.relaxation_time, least_steps, time.dt, 50 * time.dt, 1000 * options.relaxation_time / 50);
}

void describe(Schema& schema, FrozenOptions& options) {
  schema.texts("types", options.types, "Atoms of these types");
  schema
      .integers("ids", options.ids,
                "Atoms with these ids (from 1, in the order of the file; behind replicate)")
      .at_least(1);
  const auto range = [&](const char* key, std::vector<double>& value, const char* doc) {
    schema.quantities(key, value, "angstrom", doc).length(0, 2).example("[0 angstrom, 5 angstrom]");
  };
  range("x", options.x, "Atoms whose x at the start lies between; with y and z: all of them");
  range("y", options.y, "Likewise y");
  range("z", options.z, "Likewise z");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.types.empty() && options.ids.empty() && options.x.empty() && options.y.empty() &&
        options.z.empty())
      return "name types, ids or a region (x, y, z) to freeze";
    for (const auto* range : {&options.x, &options.y, &options.z})
      if (!range->empty() && (range->size() != 2 || range->front() >= range->back()))
        return "a region is from and to, such as 'z: [0 angstrom, 5 angstrom]', the first below the second";
    return std::nullopt;
  });
}

namespace {

/// The names that integrator.ensemble knows: the thermostats in place of nvt.
std::vector<std::pair<std::string, NamedEnsemble>> ensemble_choices() {
  std::vector<std::pair<std::string, NamedEnsemble>> choices;
  for (const auto& [name, ensemble] : choices_of(ensembles)) {
    if (ensemble != Ensemble::nvt)
      choices.emplace_back(name, ensemble);
    else
      for (const auto& [its_name, thermostat] : choices_of(thermostats()))
        choices.emplace_back(its_name, thermostat);
  }
  return choices;
}

std::string ensemble_doc() {
  std::vector<std::string> names;
  for (const auto& row : thermostats()) names.push_back(fmt::format("{}: {}", row.name, row.doc));
  return fmt::format(
      "nve: velocity Verlet; at constant temperature (NVT) by the thermostat that is named ({}); npt: at "
      "constant pressure too, see barostat.thermostat; nph: at constant pressure and enthalpy; minimise: "
      "FIRE "
      "2.0",
      fmt::join(names, ", "));
}

}  // namespace

void describe(Schema& schema, IntegratorOptions& options) {
  schema.choice("ensemble", options.ensemble, ensemble_choices(), ensemble_doc());
  schema
      .quantity("temperature", options.temperature, "K",
                "Target temperature (all but nve, nph and minimise; nph: of the cell's mass alone, 300 K "
                "unless given)")
      .at_least(0)
      .example("300 K");
  schema
      .quantity("temperature_end", options.temperature_end, "K", "Target at the last step; linear in between")
      .at_least(0);
  schema.quantity("friction", options.friction, "1/ps", "Langevin friction").above(0);
  schema
      .quantity("relaxation_time", options.relaxation_time, "ps",
                "Relaxation time of velocity_rescaling and nose_hoover")
      .above(0);
  schema.integer("chain_length", options.chain_length, "Thermostats in the Nose-Hoover chain")
      .at_least(1)
      .at_most(20);
  schema.section("barostat", options.barostat, "Constant pressure, for ensembles npt and nph");
  schema.section("minimiser", options.minimiser, "For ensemble minimise");
  const auto its_thermostats =
      fmt::format("the thermostat is named in its place: {}", name_list(names_of(thermostats())));
  schema.check(OtherWord{"ensemble", "nvt", its_thermostats});
  schema.check(OtherWord{"ensemble", "thermostat", its_thermostats});
  schema.check([&options] { return problem_of(options); });
}

void describe(Schema& schema, VelocityOptions& options) {
  schema
      .quantity("temperature", options.temperature, "K",
                "Draw velocities at this temperature (default: keep the input's; if it has none, "
                "integrator.temperature)")
      .at_least(0);
  schema.flag("remove_momentum", options.remove_momentum, "Start with the centre of mass at rest");
}

}  // namespace quintet
