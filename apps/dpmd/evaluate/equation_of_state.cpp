#include "apps/dpmd/evaluate/equation_of_state.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <functional>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/dpmd/evaluate/strained_crystal.hpp"
#include "apps/dpmd/run/run_words.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/atoms/units.hpp"

namespace quintet::dpmd {

void describe(Schema& schema, EquationReference& options) {
  schema.text("label", options.label, "What the reference is");
  schema.quantity(
      "lattice_constant", options.lattice_constant, "angstrom",
      "Its lattice constant: cube root of the input cell's volume at the minimum, divided by the repeats");
  schema.quantity("bulk_modulus", options.bulk_modulus, "GPa", "Its bulk modulus");
  schema.quantity("energy", options.energy, "eV", "Its energy per atom at the minimum");
}

void describe(Schema& schema, EquationOptions& options) {
  schema.section("system", options.system, "A perfect crystal cell near its minimum");
  schema.section("potential", options.potential, "The forces");
  schema.section("domain", options.domain, "Ranks and neighbour lists").on_restart(OnRestart::free);
  schema.number("range", options.range, "Largest linear strain about the minimum").above(0).at_most(0.2);
  schema.integer("points", options.points, "Volumes in the fit").at_least(5).at_most(1001);
  schema
      .quantity(
          "force_tolerance", options.force_tolerance, "eV/angstrom",
          "Stop (exit 3) where an atom feels a greater force at the minimum or, relaxed, at any volume: "
          "its positions are not the crystal's")
      .above(0)
      .on_restart(OnRestart::free);
  schema.flag("relax", options.relax,
              "Relax the positions at each volume (FIRE 2.0) until no force exceeds a twentieth of "
              "force_tolerance; atoms that system.file holds keep their places in the cell");
  schema.integer("relax_steps", options.relax_steps, "Steps of a relaxation, at most")
      .at_least(1)
      .at_most(1000000);
  schema.section("reference", options.reference, "Values to print beside ours").on_restart(OnRestart::free);
}

namespace {

/// Scale of least energy by golden section on [0.8, 1.25].
double minimum(StrainedCrystal& crystal) {
  const auto energy = [&](double scale) { return crystal.loads(scaling(scale)).energy; };
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double a = 0.8, b = 1.25, c = b - ratio * (b - a), d = a + ratio * (b - a), at_c = energy(c),
         at_d = energy(d);
  while (b - a > 1e-5) {
    if (at_c < at_d) {
      b = d;
      d = c;
      at_d = at_c;
      c = b - ratio * (b - a);
      at_c = energy(c);
    } else {
      a = c;
      c = d;
      at_c = at_d;
      d = a + ratio * (b - a);
      at_d = energy(d);
    }
  }
  QUINTET_CHECK(a > 0.81 && b < 1.24,
                "the energy has no minimum between 0.8 and 1.25 times the input's size: give a cell nearer "
                "to equilibrium");
  return 0.5 * (a + b);
}

/// The fit's parameters. E is a cubic in y = V^(-2/3), so that least squares are linear.
struct Fit {
  double volume, energy, bulk_modulus, bulk_modulus_slope;  ///< (angstrom^3), (eV), (eV/angstrom^3), (1)
  std::array<double, 4> cubic;
  double centre, width;
  [[nodiscard]] double operator()(double v) const {
    const double y = (std::pow(v, -2.0 / 3.0) - centre) / width;
    return cubic[0] + y * (cubic[1] + y * (cubic[2] + y * cubic[3]));
  }
};

std::array<double, 4> solve4(std::array<std::array<double, 5>, 4> m) {
  for (int p = 0; p < 4; ++p) {
    int best = p;
    for (int r = p + 1; r < 4; ++r)
      if (std::abs(m[r][p]) > std::abs(m[best][p])) best = r;
    std::swap(m[p], m[best]);
    for (int r = 0; r < 4; ++r) {
      if (r == p) continue;
      const double f = m[r][p] / m[p][p];
      for (int c = p; c < 5; ++c) m[r][c] -= f * m[p][c];
    }
  }
  return {m[0][4] / m[0][0], m[1][4] / m[1][1], m[2][4] / m[2][2], m[3][4] / m[3][3]};
}

Fit birch_murnaghan(const std::vector<double>& volumes, const std::vector<double>& energies) {
  Fit fit{};
  const auto y_of = [](double v) { return std::pow(v, -2.0 / 3.0); };
  fit.centre = 0.5 * (y_of(volumes.front()) + y_of(volumes.back()));
  fit.width = 0.5 * std::abs(y_of(volumes.front()) - y_of(volumes.back()));
  std::array<std::array<double, 5>, 4> normal{};
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const double y = (y_of(volumes[i]) - fit.centre) / fit.width;
    const std::array<double, 4> powers{1, y, y * y, y * y * y};
    for (int r = 0; r < 4; ++r) {
      for (int c = 0; c < 4; ++c) normal[r][c] += powers[r] * powers[c];
      normal[r][4] += powers[r] * (energies[i] - energies.front());
    }
  }
  fit.cubic = solve4(normal);
  fit.cubic[0] += energies.front();
  // The minimum: dE/dy = 0 with d2E/dy2 > 0.
  const auto& c = fit.cubic;
  const double root = std::sqrt(std::max(0.0, c[2] * c[2] - 3 * c[1] * c[3]));
  const double y = std::abs(c[3]) < 1e-14 * std::abs(c[2]) ? -c[1] / (2 * c[2]) : (-c[2] + root) / (3 * c[3]);
  const double y0 = fit.centre + fit.width * y;
  fit.volume = std::pow(y0, -1.5);
  fit.energy = fit(fit.volume);
  // With E'(y) = 0: B = V d2E/dV2 = V E''(y) (dy/dV)^2, dy/dV = -2/3 y/V.
  const double second = (2 * c[2] + 6 * c[3] * y) / (fit.width * fit.width),
               third = 6 * c[3] / std::pow(fit.width, 3);
  fit.bulk_modulus = 4.0 / 9.0 * y0 * y0 * second / fit.volume;
  // From d3E/dV3 with d2y/dV2 = 10/9 y/V^2: B' = -1 - V^2 E'''(V) / B.
  const double dy = -2.0 / 3.0 * y0 / fit.volume, d2y = 10.0 / 9.0 * y0 / (fit.volume * fit.volume);
  fit.bulk_modulus_slope =
      -1 - fit.volume * fit.volume * (third * dy * dy * dy + 3 * second * dy * d2y) / fit.bulk_modulus;
  return fit;
}

/// The input's cell: that of all copies, divided.
Mat3 cell_of(const Box& box, const std::vector<std::int64_t>& copies) {
  Mat3 cell = box.rows();
  for (std::size_t k = 0; k < 9; ++k) cell[k] /= copies[k / 3];
  return cell;
}

/// Whether three cell vectors are equally long and at right angles.
bool is_cubic(const Mat3& cell) {
  const auto dot = [&](int a, int b) {
    return cell[3 * a] * cell[3 * b] + cell[3 * a + 1] * cell[3 * b + 1] + cell[3 * a + 2] * cell[3 * b + 2];
  };
  constexpr double tolerance = 1e-6;
  const double square = dot(0, 0);
  for (int a = 0; a < 3; ++a)
    for (int b = 0; b < 3; ++b)
      if (std::abs(dot(a, b) - (a == b ? square : 0)) > tolerance * square) return false;
  return true;
}

/// Refuse a volume at which the positions have not come to rest.
void require_rest(const EquationOptions& options, const Loads& loads, double volume) {
  if (loads.force > options.force_tolerance)
    throw NumericalError(fmt::format(
        "at {:.6g} angstrom^3 per atom the largest force is still {:.3g} eV/angstrom after relax_steps = {}, "
        "more than force_tolerance = {:g} eV/angstrom; allow more relax_steps",
        volume, loads.force, counted(options.relax_steps, "step"), options.force_tolerance));
}

/// Refuse a curve that is no well: energies that differ by rounding, or a bulk modulus that is not positive.
void require_curve(const EquationOptions& options, const std::vector<double>& energies, const Fit& fit) {
  constexpr double rounding = 1e-12;  // of the energy per atom
  const auto [least, most] = std::minmax_element(energies.begin(), energies.end());
  if (*most - *least < rounding * std::abs(*least))
    throw NumericalError(fmt::format(
        "energies of volumes within range = {:g} differ by {:.2g} eV per atom, which is rounding: take "
        "a larger range (0.01 is usual)",
        options.range, *most - *least));
  if (!(fit.bulk_modulus > 0))
    throw NumericalError(fmt::format(
        "the bulk modulus at the minimum would be {:.4g} GPa; expected a positive one: take another "
        "range (it is {:g}; 0.01 is usual), or a cell nearer to equilibrium",
        fit.bulk_modulus * units::ev_per_a3_to_gpa, options.range));
}

/// Tell how far the relaxation went; warn where it did not reach its own tolerance.
void report_relaxation(Context& context, const StrainedCrystal& crystal, double energy, double n_atoms) {
  const auto& relaxations = crystal.relaxations();
  const double gain = energy - relaxations.first_energy / n_atoms;
  context.summarise("relaxation_ev_per_atom", gain, "energy at the minimum, less that without relaxation");
  context.summarise("relaxation_steps", relaxations.steps, "of all volumes");
  context.summarise("relaxations_unfinished", relaxations.unfinished,
                    "volumes at which relax_steps ended before a twentieth of force_tolerance");
  context.headline("relaxation", fmt::format("{:+.3g} meV/atom", 1e3 * gain));
  log::info("Relaxed in {} at {}: {:+.4g} meV per atom at the minimum", counted(relaxations.steps, "step"),
            counted(relaxations.cells, "volume"), 1e3 * gain);
  if (relaxations.unfinished == 0) return;
  const auto text = fmt::format(
      "At {} of {} relax_steps ended before forces were below a twentieth of force_tolerance: E(V) is less "
      "smooth there",
      relaxations.unfinished, counted(relaxations.cells, "volume"));
  log::warning("{}", text);
  context.report().warning(text + ".");
}

/// Refuse a fit to atoms that are not at rest; tell of a shape that is not.
void judge_rest(Context& context, const EquationOptions& options, const Loads& loads, double bulk_modulus) {
  const double deviator = loads.deviator() * units::ev_per_a3_to_gpa;
  context.summarise("force_max_ev_per_angstrom", loads.force, "on an atom at the minimum");
  context.summarise("stress_deviator_gpa", deviator, "largest component at the minimum");
  if (loads.force > options.force_tolerance)
    throw NumericalError(fmt::format(
        "at the volume of least energy an atom feels a force of {:.3g} eV/angstrom, more than "
        "force_tolerance = {:g} eV/angstrom: {}",
        loads.force, options.force_tolerance,
        options.relax ? "more relax_steps may let the positions come to rest"
                      : "E(V) of positions that only scale is not that of the crystal; set relax: true"));
  constexpr double noticed = 0.01;  // of the bulk modulus
  if (loads.deviator() <= noticed * std::abs(bulk_modulus)) return;
  const auto text = fmt::format(
      "At the minimum the stress differs between directions by up to {:.3g} GPa: another shape of the cell "
      "has less energy; volume and bulk modulus are those of this fixed shape",
      deviator);
  log::warning("{}", text);
  context.report().warning(text + ".");
}

/// Let the positions come to rest at the scale of least energy, and find that of these positions, in turn.
double relaxed_minimum(StrainedCrystal& crystal, double range) {
  constexpr int most_rounds = 20;
  double best = minimum(crystal);
  for (int round = 0; round < most_rounds; ++round) {
    crystal.begin_from_rest(scaling(best));
    const double next = minimum(crystal);
    const bool settled = std::abs(next - best) < 0.05 * range;  // the fit finds the rest
    best = next;
    if (settled) break;
  }
  return best;
}

/// Farthest distance of the points from the fit (eV).
double misfit(const Fit& fit, const std::vector<double>& volumes, const std::vector<double>& energies) {
  double worst = 0;
  for (std::size_t i = 0; i < volumes.size(); ++i)
    worst = std::max(worst, std::abs(fit(volumes[i]) - energies[i]));
  return worst;
}

}  // namespace

void equation_of_state(Context& context, const EquationOptions& options) {
  const auto field = make_force_field(options.potential);
  const System system = read_system(context.comm(), options.system, field->type_names(), field->cutoff(),
                                    field->list_cutoff(), field->n_atom_parameters());
  const double n_atoms = system.n_atoms;
  Configuration start;
  on_root(context.comm(), [&] { start = replicated(system.cell, system.copies); });
  start.box = system.box;
  const auto& periodic = start.box.periodic();
  QUINTET_CHECK(periodic[0] && periodic[1] && periodic[2],
                "{}: an equation of state needs a crystal that is periodic in all directions",
                options.system.file);
  const bool cubic = is_cubic(cell_of(start.box, options.system.replicate));
  QUINTET_CHECK(
      cubic || !options.reference.lattice_constant,
      "reference.lattice_constant: {} is no cubic cell, which alone has one lattice constant; leave "
      "it out, or give the conventional cell",
      options.system.file);
  context.describe_run(
      "system",
      fmt::format("{} from {}; cell {}", counted(static_cast<std::int64_t>(n_atoms), "atom"),
                  std::filesystem::path(options.system.file).filename().string(), cell_in_words(start.box)));
  context.describe_run("model", models_in_words(options.potential, field->description()));
  context.describe_run("method",
                       fmt::format("{} within {:g} % of the minimum in length{}; Birch-Murnaghan fit",
                                   counted(options.points, "volume"), 100 * options.range,
                                   options.relax ? ", positions relaxed at each" : ""));
  if (!context.go_ahead()) return;
  StrainedCrystal crystal(context.comm(),
                          {.relax = options.relax,
                           .force_tolerance = options.force_tolerance / 20,
                           .most_steps = options.relax_steps,
                           .ranks = grid_of(options.domain),
                           .interrupt = interrupt_of(context)},
                          *field, start);
  const double best = options.relax ? relaxed_minimum(crystal, options.range) : minimum(crystal);

  std::vector<double> volumes, energies, forces;
  for ([[maybe_unused]] const std::int64_t i : context.steps(1, options.points)) {
    const double scale = best * (1 + options.range * (2.0 * (i - 1) / (options.points - 1) - 1));
    volumes.push_back(start.box.volume() * scale * scale * scale / n_atoms);
    const Loads loads = crystal.at_rest(scaling(scale));
    energies.push_back(loads.energy / n_atoms);
    forces.push_back(loads.force);
    if (options.relax) require_rest(options, loads, volumes.back());
  }
  if (context.stopped_early()) return;
  const Fit fit = birch_murnaghan(volumes, energies);
  require_curve(options, energies, fit);
  const double at_minimum = std::cbrt(fit.volume * n_atoms / start.box.volume());
  judge_rest(context, options, crystal.at_rest(scaling(at_minimum)), fit.bulk_modulus);
  if (options.relax) report_relaxation(context, crystal, fit.energy, n_atoms);

  const auto& copies = options.system.replicate;
  const double cells = copies[0] * copies[1] * copies[2];
  const double lattice = std::cbrt(fit.volume * n_atoms / cells),
               modulus = fit.bulk_modulus * units::ev_per_a3_to_gpa;
  if (cubic) context.headline("lattice constant", fmt::format("{:.5g} Å", lattice));
  context.headline("volume per atom", fmt::format("{:.5g} Å³", fit.volume));
  context.headline("bulk modulus", fmt::format("{:.4g} GPa", modulus));
  context.headline("energy at the minimum", fmt::format("{:.6g} eV/atom", fit.energy));
  context.headline("worst distance of the fit",
                   fmt::format("{:.2g} meV/atom", 1e3 * misfit(fit, volumes, energies)));
  context.summarise("atoms", static_cast<std::int64_t>(n_atoms));
  if (cubic)
    context.summarise("lattice_constant_angstrom", lattice, "cube root of the cell's volume at the minimum");
  context.summarise("volume_per_atom_angstrom3", fit.volume, "at the minimum");
  context.summarise("bulk_modulus_gpa", modulus);
  context.summarise("energy_ev_per_atom", fit.energy, "at the minimum");
  context.summarise("bulk_modulus_pressure_derivative", fit.bulk_modulus_slope);

  std::vector<std::vector<std::string>> rows;
  const auto compare = [&](const char* name, const char* unit, double ours, std::optional<double> theirs,
                           const char* key) {
    rows.push_back({name, fmt::format("{:.6g}", ours), theirs ? fmt::format("{:.6g}", *theirs) : "",
                    theirs ? fmt::format("{:+.2f} %", 100 * (ours / *theirs - 1)) : "", unit});
    log::info("{}: {:.6g} {}{}", name, ours, unit,
              theirs ? fmt::format(" ({} {:.6g})", options.reference.label, *theirs) : "");
    if (theirs) context.summarise(std::string(key) + "_relative_difference_to_reference", ours / *theirs - 1);
  };
  if (cubic)
    compare("lattice constant", "angstrom", lattice, options.reference.lattice_constant, "lattice_constant");
  else
    compare("volume per atom", "angstrom^3", fit.volume, std::nullopt, "volume_per_atom");
  compare("bulk modulus", "GPa", modulus, options.reference.bulk_modulus, "bulk_modulus");
  compare("energy per atom", "eV", fit.energy, options.reference.energy, "energy");

  hdf5::Group results = context.results().root().group("equation_of_state");
  results.write<double>("volume", volumes, {volumes.size()}, {"angstrom^3", {"point"}, "Volume per atom"});
  results.write<double>("energy", energies, {energies.size()}, {"eV", {"point"}, "Energy per atom"});
  results.write<double>("largest_force", forces, {forces.size()},
                        {"eV/angstrom", {"point"}, "Largest force on an atom"});
  std::vector<double> fitted;
  for (double v : volumes) fitted.push_back(fit(v));
  Report& report = context.report();
  report.title("Equation of state", fmt::format("{}, {}", counted(static_cast<std::int64_t>(n_atoms), "atom"),
                                                counted(volumes.size(), "volume")));
  report.section("Energy and volume");
  report.plot({"Equation of state",
               "volume (angstrom^3/atom)",
               "energy (eV/atom)",
               {{"Deep Potential", volumes, energies, true}, {"Birch-Murnaghan fit", volumes, fitted}},
               false,
               false,
               "The fit should go through the points."});
  report.table({"quantity", "Deep Potential", options.reference.label, "difference", "unit"}, rows);
}

}  // namespace quintet::dpmd
