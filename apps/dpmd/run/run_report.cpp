#include "apps/dpmd/run/run_report.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/application/life/context.hpp"
#include "apps/dpmd/run/run_words.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/files/number_table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/minimise.hpp"

namespace quintet::dpmd {

namespace {

/// The first two columns of a table; the name of the second may be that of one of the run's: O_O.
ReferenceCurve read_curve(const std::string& path, const std::string& label) {
  const auto table = read_number_table(path);
  QUINTET_CHECK(table.n_columns > 1 && table.n_rows() > 1, "{}: expected lines 'r, g(r)', found {} of {}",
                path, table.n_rows(), counted(table.n_columns, "column"));
  ReferenceCurve reference;
  Curve& curve = reference.curve;
  curve.label = label;
  curve.dashed = true;
  if (!table.names.empty()) reference.column = table.names[1];
  for (const std::size_t k : {0, 1}) table.require_numbers(k);
  for (std::size_t row = 0; row < table.n_rows(); ++row) {
    const double r = table.at(row, 0);
    QUINTET_CHECK(curve.x.empty() || r > curve.x.back(), "{}: r = {} does not rise", table.place(row), r);
    curve.x.push_back(r);
    curve.y.push_back(table.at(row, 1));
  }
  return reference;
}

double interpolate(const Curve& curve, double x) {
  const auto above = std::lower_bound(curve.x.begin(), curve.x.end(), x);
  if (above == curve.x.begin() || above == curve.x.end()) return std::nan("");
  const std::size_t i = above - curve.x.begin();
  const double f = (x - curve.x[i - 1]) / (curve.x[i] - curve.x[i - 1]);
  return (1 - f) * curve.y[i - 1] + f * curve.y[i];
}

/// Root-mean-square difference of two curves where both are known.
double rms_difference(const Curve& ours, const Curve& reference) {
  double sum = 0;
  int n = 0;
  for (std::size_t i = 0; i < ours.x.size(); ++i)
    if (const double y = interpolate(reference, ours.x[i]); std::isfinite(y)) {
      sum += (ours.y[i] - y) * (ours.y[i] - y);
      ++n;
    }
  return n ? std::sqrt(sum / n) : std::nan("");
}

/// The curve that the reference is of: the one of its name, else the first.
const Curve& counterpart(const Plot& plot, const ReferenceCurve& reference) {
  const auto same = std::find_if(plot.curves.begin(), plot.curves.end(),
                                 [&](const Curve& curve) { return curve.label == reference.column; });
  return same == plot.curves.end() ? plot.curves.front() : *same;
}

/// The columns of one unit and kind in one picture; coordination numbers grow where g(r) does not.
void plot_table(Context& context, const std::optional<ReferenceCurve>& reference, const Table& table,
                bool coordination) {
  const auto is_coordination = [](const Column& column) { return column.name.starts_with("coordination"); };
  const Column& axis = table.columns.front();
  Plot plot;
  plot.title = coordination          ? "Coordination number"
               : table.name == "rdf" ? "Radial distribution function"
                                     : table.description;
  plot.x_label = fmt::format("{} ({})", axis.name, axis.unit);
  std::string unit;
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    const Column& column = table.columns[c];
    // Columns of another unit would need another axis; they are in run.h5.
    if (is_coordination(column) != coordination || column.name == "wavenumber" ||
        (!unit.empty() && column.unit != unit))
      continue;
    unit = column.unit;
    plot.curves.push_back({column.name, axis.values, column.values});
  }
  if (plot.curves.empty()) return;
  plot.y_label = fmt::format("{} ({})", coordination ? "neighbours" : table.name, unit);
  if (reference && table.name == "rdf" && !coordination) {
    const Curve ours = counterpart(plot, *reference);
    context.summarise("rdf_rms_difference_to_reference", rms_difference(ours, reference->curve));
    // A pair of its own: the others may be much higher, as that of a bond is.
    if (ours.label == reference->column) {
      Plot beside = plot;
      beside.curves = {ours, reference->curve};
      context.report().plot(beside);
    } else {
      plot.curves.push_back(reference->curve);
    }
  }
  context.report().plot(plot);
}

void report_observers(Context& context, const std::optional<ReferenceCurve>& reference,
                      const Simulation& simulation) {
  hdf5::Group results = context.results().root();
  for (const auto& observer : simulation.observers()) {
    hdf5::Group group = results.group("observables/" + observer->name());
    observer->write(group);
    const auto tables = observer->tables();
    if (tables.empty()) continue;
    context.report().section(observer->name());
    for (const auto& table : tables)
      for (const bool coordination : {false, true}) plot_table(context, reference, table, coordination);
    std::vector<std::vector<std::string>> rows;
    for (const auto& scalar : observer->scalars()) {
      rows.push_back({scalar.name, fmt::format("{:.6g}", scalar.value),
                      std::isfinite(scalar.error) ? fmt::format("{:.2g}", scalar.error) : "", scalar.unit,
                      scalar.description});
      context.summarise(scalar.name, scalar.value, fmt::format("{} ({})", scalar.description, scalar.unit));
    }
    if (!rows.empty()) context.report().table({"quantity", "value", "error", "unit", ""}, rows);
  }
}

/// Tell how many atoms the model did not see whole. Collective.
void report_overflow(Context& context, const Simulation& simulation) {
  const Comm& comm = context.comm();
  const auto& here = simulation.overflow();
  const auto atoms = comm.sum(static_cast<long>(here.atoms));
  if (atoms == 0) return;
  constexpr long never = std::numeric_limits<long>::max();
  const long first = comm.minimum(static_cast<long>(here.first_step.value_or(never)));
  const int most = comm.maximum(here.most_neighbours);
  const double share = atoms / (static_cast<double>(here.looks) * simulation.atoms().n_global);
  context.summarise("sel_overflow_first_step", first,
                    "from this step on atoms had more neighbours than the model's sel holds");
  context.summarise("sel_overflow_share", share, "of all atoms, mean over the steps");
  if (most > 0) context.summarise("sel_overflow_most_neighbours", most, "within the cutoff");
  context.report().warning(
      fmt::format("From step {} on atoms had more neighbours than the model's sel holds{}: {:.2g} % of all "
                  "atoms, mean over "
                  "the steps. The farthest are left out; train with a larger sel.",
                  first, most > 0 ? fmt::format(" (up to {} within the cutoff)", most) : "", 100 * share));
}

/// Largest stress of what may relax, beside its target (bar).
double stress_of(const CellGoal& goal, const ParticleSystem& system) {
  return RelaxingCell(goal).largest_stress(system) * units::ev_per_a3_to_bar;
}

/// Tell what the cell has come to.
void report_cell(Context& context, const RelaxingCellOptions& options, const CellGoal& goal,
                 const ParticleSystem& system, const std::string& doubt) {
  const double stress = stress_of(goal, system), volume = system.atoms.box.volume();
  context.summarise("largest_stress_bar", stress, "of the components that may relax, beside their target");
  context.summarise("stress_tolerance_bar", options.stress_tolerance,
                    "integrator.minimiser.cell.stress_tolerance");
  context.headline("largest stress", fmt::format("{:.3g} bar", stress), doubt);
  context.headline("cell", cell_in_words(system.atoms.box), doubt);
  if (!options.pressure_tensor.empty()) return;
  const double enthalpy = system.total.energy + options.pressure / units::ev_per_a3_to_bar * volume;
  context.summarise("enthalpy_ev", enthalpy, "potential energy + pressure * volume");
}

}  // namespace

std::optional<ReferenceCurve> read_reference(const ReferenceOptions& options) {
  if (!options.rdf) return std::nullopt;
  return read_curve(*options.rdf, options.label);
}

std::string report_convergence(Context& context, const RunOptions& options, const Simulation& simulation) {
  if (options.integrator.ensemble != Ensemble::minimise) return "";
  const auto& system = simulation.system();
  const double force = largest_force(Exec(), system);
  const double wanted = options.integrator.minimiser.force_tolerance;
  const auto goal = relaxing_cell(options.integrator, system);
  const bool converged = force <= wanted && (!goal || RelaxingCell(*goal).is_at_rest(system));
  context.summarise("converged", std::int64_t{converged},
                    "1: no force is longer than the tolerance, and a cell that relaxes is at rest; 0: else");
  context.summarise("largest_force_ev_per_angstrom", force, "on an atom, at the end");
  context.summarise("force_tolerance_ev_per_angstrom", wanted, "integrator.minimiser.force_tolerance");
  const std::string text = fmt::format(
      "the largest force is {:.3g} eV/angstrom{} after {}, {:g}{} asked for", force,
      goal ? fmt::format(" and the largest stress {:.3g} bar", stress_of(*goal, system)) : "",
      counted(simulation.step(), "step"), wanted,
      goal ? fmt::format(" and {:g} were", options.integrator.minimiser.cell->stress_tolerance) : " was");
  const std::string doubt =
      converged ? "" : fmt::format("Not converged: {}; go on with more time.steps and --restart auto", text);
  context.headline("largest force", fmt::format("{:.3g} eV/Å", force), doubt);
  context.headline("potential energy",
                   fmt::format("{:.6f} eV/atom", system.total.energy / simulation.atoms().n_global));
  if (goal) report_cell(context, *options.integrator.minimiser.cell, *goal, system, doubt);
  if (converged) log::info("Converged: {}", text);
  return doubt;
}

void report_run(Context& context, const RunOptions& options, const std::optional<ReferenceCurve>& reference,
                const Simulation& simulation, std::int64_t steps, double seconds) {
  const auto& atoms = simulation.atoms();
  const double n_atoms = atoms.n_global;
  context.report().title("dpmd run", fmt::format("{}, {} of {:g} fs", counted(atoms.n_global, "atom"),
                                                 counted(simulation.step(), "step"), options.time.dt * 1e3));
  context.summarise("atoms", atoms.n_global);
  for (std::size_t t = 0; t < atoms.type_names.size(); ++t)
    for (const auto& [name, mass] : options.system.masses)
      if (atoms.type_names[t] == name) context.summarise(fmt::format("mass_{}_amu", name), atoms.masses[t]);
  if (steps > 0 && seconds > 0) {
    const double speed = steps * options.time.dt * 1e-3 / seconds * 86400;
    if (options.integrator.ensemble != Ensemble::minimise)
      context.headline("speed", fmt::format("{:.3g} ns/day", speed));
    context.summarise("speed_ns_per_day", speed);
    context.summarise("wall_us_per_atom_step", seconds * 1e6 / (steps * n_atoms));
  }
  const auto& times = simulation.system().times;
  const Comm& comm = context.comm();
  context.summarise("forces_s", comm.maximum(times.forces), "of the slowest rank, the start included");
  context.summarise("neighbours_s", comm.maximum(times.neighbours), "likewise");
  context.summarise("communication_s", comm.maximum(times.communication), "likewise");
  context.summarise("neighbour_list_rebuilds", simulation.domain().rebuilds());
  report_overflow(context, simulation);
  report_observers(context, reference, simulation);
}

}  // namespace quintet::dpmd
