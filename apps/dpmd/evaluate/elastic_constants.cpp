#include "apps/dpmd/evaluate/elastic_constants.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/dpmd/evaluate/elastic_strains.hpp"
#include "apps/dpmd/run/run_words.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/atoms/units.hpp"

namespace quintet::dpmd {

void describe(Schema& schema, ElasticOptions& options) {
  schema.section("system", options.system, "A perfect crystal near its minimum, periodic in all directions");
  schema.section("potential", options.potential, "The forces");
  schema.section("domain", options.domain, "Ranks and neighbour lists").on_restart(OnRestart::free);
  schema
      .number("strain", options.strain,
              "The smaller of two strains h and 2h in both directions; larger ones leave the linear regime, "
              "smaller ones lose digits")
      .above(0)
      .at_most(0.05);
  schema.flag("relax", options.relax,
              "Let the positions come to rest at each strain (FIRE 2.0); atoms that system.file holds keep "
              "their places in the cell");
  schema.flag("relax_cell", options.relax_cell, "Strain the cell first, until no stress is left");
  schema
      .quantity("force_tolerance", options.force_tolerance, "eV/angstrom",
                "Positions are at rest where no force is greater; stop (exit 3) where one remains")
      .above(0)
      .on_restart(OnRestart::free);
  schema
      .quantity("stress_tolerance", options.stress_tolerance, "eV/angstrom^3",
                "Stress that may be left by relax_cell (0.01 GPa)")
      .above(0)
      .on_restart(OnRestart::free);
  schema.integer("relax_steps", options.relax_steps, "Steps of a relaxation, at most")
      .at_least(1)
      .at_most(1000000);
}

namespace {

constexpr double gpa = units::ev_per_a3_to_gpa;

double largest_of(const Matrix6& m) {
  double largest = 0;
  for (const auto& row : m)
    for (const double value : row) largest = std::max(largest, std::abs(value));
  return largest;
}

constexpr const char* names[6] = {"xx", "yy", "zz", "yz", "xz", "xy"};

/// Refuse positions that have not come to rest.
void require_rest(const ElasticOptions& options, const StrainedCrystal& crystal) {
  if (options.relax && crystal.relaxations().unfinished > 0)
    throw NumericalError(
        fmt::format("positions have not come to rest in {} of {}: after relax_steps = {} a force is above "
                    "force_tolerance = {:g} eV/angstrom; allow more relax_steps, or raise it",
                    crystal.relaxations().unfinished, counted(crystal.relaxations().cells, "cell"),
                    counted(options.relax_steps, "step"), options.force_tolerance));
}

void warn(Context& context, const std::string& text) {
  log::warning("{}", text);
  context.report().warning(text + ".");
}

/// Tell what is doubtful: a stress that is left, energies that say otherwise, an instability.
void judge(Context& context, double strain, const ElasticConstants& found, const Spectrum6& spectrum) {
  constexpr double noticed = 0.01;
  const double largest = largest_of(found.stiffness);
  double stress = 0, energy = 0;
  for (int j = 0; j < 6; ++j) {
    stress = std::max(stress, std::abs(found.stress[j]));
    energy = std::max(energy, std::abs(found.by_energy[j] - found.stiffness[j][j]));
  }
  context.summarise("stress_largest_gpa", stress * gpa, "of the crystal that was strained");
  context.summarise("energy_difference_gpa", energy * gpa, "largest of C_jj by stress and by energy");
  context.summarise("asymmetry_gpa", found.asymmetry * gpa, "largest C_ij - C_ji before the mean");
  context.summarise("strain_error_gpa", found.step_error * gpa,
                    "largest difference to the smaller strain alone");
  if (stress > noticed * largest)
    warn(context,
         fmt::format("The crystal is under a stress of {:.3g} GPa: these are coefficients of stress and "
                     "strain there, not of the crystal at rest (relax_cell: true)",
                     stress * gpa));
  else if (energy > noticed * largest)
    warn(context,
         fmt::format("Stresses and energies say different constants, by up to {:.3g} GPa: take a larger "
                     "strain where digits are lost (single precision), a smaller one where it is beyond "
                     "the linear regime",
                     energy * gpa));
  if (found.step_error > noticed * largest)
    warn(context,
         fmt::format("Strains of h and 2h say constants that differ by up to {:.3g} GPa: take another "
                     "strain than {:g}",
                     found.step_error * gpa, strain));
  if (!has_inverse(spectrum))
    warn(context,
         "The cell does not resist a strain: there is vacuum in it, or atoms are beyond the cutoff of one "
         "another; it has no compliance and no averages then");
  else if (!(spectrum.values.front() > 0))
    warn(context,
         fmt::format("The crystal is not stable (Born): an eigenvalue of C is {:.4g} GPa; averages say "
                     "nothing then",
                     spectrum.values.front() * gpa));
}

void write(Context& context, const ElasticConstants& found, const Spectrum6& spectrum) {
  const std::vector<std::string> axes{"voigt", "voigt"};
  const auto flat = [](const Matrix6& m, double unit) {
    std::vector<double> values;
    for (const auto& row : m)
      for (const double value : row) values.push_back(value * unit);
    return values;
  };
  hdf5::Group results = context.results().root().group("elastic_constants");
  results.write<double>("stiffness", flat(found.stiffness, gpa), {6, 6},
                        {"GPa", axes, "C, xx yy zz yz xz xy, engineering shear"});
  if (has_inverse(spectrum))
    results.write<double>("compliance", flat(spectrum.inverse, 1 / gpa), {6, 6},
                          {"1/GPa", axes, "Its inverse"});
  std::vector<double> stress, energies, eigenvalues;
  for (int j = 0; j < 6; ++j) {
    stress.push_back(found.stress[j] * gpa);
    energies.push_back(found.by_energy[j] * gpa);
    eigenvalues.push_back(spectrum.values[j] * gpa);
  }
  results.write<double>("stress", stress, {6}, {"GPa", {"voigt"}, "Of the crystal that was strained"});
  results.write<double>("diagonal_by_energy", energies, {6}, {"GPa", {"voigt"}, "C_jj by energies"});
  results.write<double>("eigenvalues", eigenvalues, {6}, {"GPa", {"value"}, "Of C: all positive if stable"});
}

void report_stiffness(Context& context, const Matrix6& stiffness) {
  std::vector<std::string> heading{""};
  std::vector<std::vector<std::string>> rows;
  for (int i = 0; i < 6; ++i) {
    heading.emplace_back(names[i]);
    rows.push_back({names[i]});
    for (int j = 0; j < 6; ++j) {
      const double c = stiffness[i][j] * gpa;
      rows.back().push_back(fmt::format("{:.2f}", std::abs(c) < 0.005 ? 0 : c));
      if (j >= i) context.summarise(fmt::format("c{}{}_gpa", i + 1, j + 1), c);
    }
    log::info("C {}: {}", names[i],
              fmt::join(std::vector<std::string>(rows.back().begin() + 1, rows.back().end()), "  "));
  }
  context.report().section("Stiffness (GPa)");
  context.report().table(heading, rows);
}

void report_averages(Context& context, const ElasticModuli& m, bool is_stable) {
  Report& report = context.report();
  report.section("Averages over all directions (GPa)");
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](const char* name, const char* key, double voigt, double reuss, double hill) {
    rows.push_back({name, fmt::format("{:.2f}", voigt * gpa), fmt::format("{:.2f}", reuss * gpa),
                    fmt::format("{:.2f}", hill * gpa)});
    context.summarise(fmt::format("{}_modulus_gpa", key), hill * gpa, "Hill's mean of Voigt and Reuss");
    context.headline(fmt::format("{} modulus", key), fmt::format("{:.4g} GPa", hill * gpa));
  };
  row("bulk modulus", "bulk", m.bulk_voigt, m.bulk_reuss, m.bulk);
  row("shear modulus", "shear", m.shear_voigt, m.shear_reuss, m.shear);
  report.table({"", "Voigt", "Reuss", "Hill"}, rows);
  context.summarise("young_modulus_gpa", m.young * gpa, "of Hill's moduli");
  context.summarise("poisson_ratio", m.poisson, "of Hill's moduli");
  context.summarise("universal_anisotropy", m.anisotropy, "0: isotropic");
  report.paragraph(
      fmt::format("Young's modulus {:.4g} GPa, Poisson's ratio {:.4g}, universal anisotropy {:.4g}.",
                  m.young * gpa, m.poisson, m.anisotropy));
  log::info("Bulk modulus {:.6g} GPa, shear modulus {:.6g} GPa (Hill); {}", m.bulk * gpa, m.shear * gpa,
            is_stable ? "stable" : "not stable");
}

void report(Context& context, const ElasticConstants& found, const Spectrum6& spectrum, double n_atoms) {
  const bool is_stable = has_inverse(spectrum) && spectrum.values.front() > 0;
  context.report().title("Elastic constants", counted(static_cast<std::int64_t>(n_atoms), "atom"));
  report_stiffness(context, found.stiffness);
  if (has_inverse(spectrum))
    report_averages(context, moduli_of(found.stiffness, spectrum.inverse), is_stable);
  context.summarise("least_eigenvalue_gpa", spectrum.values.front() * gpa, "of C; positive: stable");
  context.summarise("energy_ev_per_atom", found.energy / n_atoms);
  context.summarise("volume_per_atom_angstrom3", found.volume / n_atoms);
  const auto symmetry = symmetry_along_axes(found.stiffness, 1e-3);
  context.headline("stable (Born)", is_stable ? "yes" : "no");
  if (symmetry.empty() || !has_inverse(spectrum)) return;
  context.summarise("symmetry_along_axes", symmetry, "of C, to 0.1 % of its largest");
  context.report().paragraph(fmt::format("Along the axes the constants are {}.", symmetry));
}

}  // namespace

void elastic_constants(Context& context, const ElasticOptions& options) {
  const auto field = make_force_field(options.potential);
  const System system = read_system(context.comm(), options.system, field->type_names(), field->cutoff(),
                                    field->list_cutoff(), field->n_atom_parameters());
  Configuration start;
  on_root(context.comm(), [&] { start = replicated(system.cell, system.copies); });
  start.box = system.box;
  QUINTET_CHECK(start.box.fully_periodic(),
                "{}: elastic constants need a crystal that is periodic in all directions",
                options.system.file);
  context.describe_run("system", fmt::format("{} from {}; cell {}", counted(system.n_atoms, "atom"),
                                             std::filesystem::path(options.system.file).filename().string(),
                                             cell_in_words(start.box)));
  context.describe_run("model", models_in_words(options.potential, field->description()));
  context.describe_run("method",
                       fmt::format("six strains of {:g} and {:g} in both directions{}", options.strain,
                                   2 * options.strain, options.relax ? ", positions relaxed" : ""));
  if (!context.go_ahead()) return;
  StrainedCrystal crystal(context.comm(),
                          {.relax = options.relax,
                           .force_tolerance = options.force_tolerance,
                           .most_steps = options.relax_steps,
                           .ranks = grid_of(options.domain),
                           .interrupt = interrupt_of(context)},
                          *field, start);
  // A cell that is not at rest yet: constants first, by which it comes to rest.
  const bool moves =
      options.relax_cell && largest_stress(crystal.become(scaling(1))) > options.stress_tolerance;
  auto steps = context.steps(1, (moves ? 2 : 1) * elastic_strains);
  auto at = steps.begin();
  std::int64_t done = 0;
  const auto next = [&] {
    if (done++ > 0) ++at;
    return at != steps.end();
  };
  auto found = elastic_constants(crystal, options.strain, next);
  if (found && moves) {
    require_rest(options, crystal);
    relax_cell(crystal, found->stiffness, options.stress_tolerance);
    found = elastic_constants(crystal, options.strain, next);
  }
  if (!found) return;
  static_cast<void>(next());  // the loop is at its end
  require_rest(options, crystal);
  const Spectrum6 spectrum = spectrum_of(found->stiffness);
  judge(context, options.strain, *found, spectrum);
  write(context, *found, spectrum);
  report(context, *found, spectrum, system.n_atoms);
}

}  // namespace quintet::dpmd
