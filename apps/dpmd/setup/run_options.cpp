#include "apps/dpmd/setup/run_options.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/dpmd/setup/observable_checks.hpp"
#include "apps/dpmd/setup/sel_rules.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "physics/particles/interactions/dispersion_table.hpp"

namespace quintet::potential {

void describe(Schema& schema, AtomParameters& options) {
  schema.texts("types", options.types, "Types whose atoms have them").required().length(1).example("[O]");
  schema.check(AnyOrder{"types"});
  schema.numbers("values", options.values, "As many as the model was trained with")
      .required()
      .length(1)
      .example("[0.3]");
}

}  // namespace quintet::potential

namespace quintet::dpmd {

void describe_masses(Schema& schema, NamedMasses& masses) {
  schema
      .named_quantities(
          "masses", masses, "amu",
          "Masses of types by name, such as isotopes, in place of the file's and of the standard "
          "ones of elements")
      .above(0)
      .example("{H: 2.014 u}");
  schema.check([&masses] { return unlikely_mass(masses); });
}

std::optional<std::string> problem_of_periodic(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  for (const auto& word : words)
    if (word != "true" && word != "false")
      return fmt::format("periodic has '{}'; expected true or false for each of x, y, z", word);
  if (words.size() != 3)
    return fmt::format("periodic has {}; expected 3, for x, y and z", counted(words.size(), "value"));
  return std::nullopt;
}

std::optional<std::array<bool, 3>> periodic_of(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  return std::array<bool, 3>{words[0] == "true", words[1] == "true", words[2] == "true"};
}

void describe(Schema& schema, SystemOptions& options) {
  schema
      .text("file", options.file,
            "Atoms: extended XYZ, LAMMPS data or dump, a DeePMD folder, an H5MD trajectory, POSCAR, OUTCAR, "
            "XDATCAR, "
            "vasprun.xml, CIF or a checkpoint")
      .required()
      .existing_file();
  schema.integer("frame", options.frame, "Frame to take, from 0; negative ones count from the end");
  schema.texts("types", options.types,
               "Names of the types of files that number them and do not name them: [O, H]. They must agree "
               "with labels and "
               "maps of the file; comments of LAMMPS data give way");
  schema
      .texts("periodic", options.periodic,
             "Which of x, y, z are periodic, where the file does not say (LAMMPS data, POSCAR, a Lattice "
             "without "
             "pbc); absent: all")
      .length(0, 3)
      .example("[true, true, false]");
  schema.check([&options]() -> std::optional<std::string> { return problem_of_periodic(options.periodic); });
  schema.flag("selective_dynamics", options.selective_dynamics,
              "Atoms that the file holds (F F F of VASP's selective dynamics) do not move; false: they do");
  describe_masses(schema, options.masses);
  schema.integers("replicate", options.replicate, "Copies along the cell's rows")
      .length(3, 3)
      .at_least(1)
      .at_most(1000000);
}

void describe(Schema& schema, RepulsionSection& options) {
  schema.choice(
      "kind", options.kind, {{"zbl", RepulsionSection::Kind::zbl}},
      "Universal screened repulsion of the nuclei (Ziegler, Biersack, Littmark), added to the model");
  schema.quantity("inner", options.range.inner, "angstrom", "Whole up to this distance").above(0);
  schema
      .quantity("outer", options.range.outer, "angstrom",
                "Switched off smoothly up to this distance; below the closest pairs of the training data, as "
                "it is added to the model")
      .above(0);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.range.inner < options.range.outer) return std::nullopt;
    return fmt::format("inner = {:g} is not below outer = {:g} angstrom", options.range.inner,
                       options.range.outer);
  });
}

void describe_evaluation(Schema& schema, potential::DeepPotentialOptions& options) {
  using namespace potential;
  schema.choice(
      "precision", options.precision,
      {{"model", Precision::model},
       {"double", Precision::fp64},
       {"mixed", Precision::mixed},
       {"bf16", Precision::bf16}},
      "Arithmetic of the networks: as the model says, float64, or float32 (sums and forces stay float64); "
      "bf16: mixed, but the fitting networks' products are of numbers rounded to bfloat16, about the first "
      "frame's mean descriptors. Only for 'dpmd run' on cores; refused where forces differ from float64's by "
      "more than 1 % of their rms");
  schema.choice("compress", options.compression,
                {{"auto", Compression::automatic}, {"off", Compression::off}, {"file", Compression::file}},
                "Embedding: piecewise polynomials made at the start (their error is printed), the networks "
                "themselves, or "
                "the table of a compressed model");
  schema.choice("sel_overflow", options.sel_rule, choices_of(sel_rules),
                "Which neighbours stay when there are more than sel holds: the nearest of each type (LAMMPS, "
                "TensorFlow) or "
                "first the nearest of all (PyTorch)");
  schema.numbers(
      "frame_parameters", options.frame_parameters,
      "Frame parameters (fparam) of a model that reads them, such as an electronic temperature, as it "
      "was trained with; absent: the model's default, if it has one");
}

void describe(Schema& schema, DispersionSection& options) {
  schema
      .text("functional", options.functional,
            fmt::format("Density functional that the model was trained with, for s6, s8, a1 and a2: {}",
                        fmt::join(functional_names(), ", ")))
      .example("pbe");
  schema.number("s6", options.s6, "Weight of -C6/r^6, where no functional is named; absent: 1").at_least(0);
  schema.number("s8", options.s8, "Weight of -C8/r^8, where no functional is named");
  schema.number("a1", options.a1, "Damping length a1 sqrt(C8/C6) + a2, where no functional is named");
  schema.quantity("a2", options.a2, "angstrom", "Its constant part").example("4.4407 bohr");
  schema
      .number("s9", options.s9,
              "Weight of triples (Axilrod, Teller, Muto); their cost is the square of the pairs': 0 or 1")
      .at_least(0);
  schema
      .text("table", options.table,
            "Reference C6 and radii: dftd3_params.npz of the Python package torch-dftd (docs/dispersion.md "
            "says "
            "how to get it)")
      .existing_file();
  schema.texts("types", options.types, "Types it acts on, named after elements; absent: all");
  schema.check(AnyOrder{"types"});
  schema.quantity("cutoff", options.reach.pairs, "angstrom", "Of pairs (60 bohr, as in the authors' program)")
      .above(0);
  schema.quantity("triple_cutoff", options.reach.triples, "angstrom", "Of each side of a triple (40 bohr)")
      .above(0);
  schema
      .quantity("coordination_cutoff", options.reach.coordination, "angstrom",
                "Of neighbours that C6 depends on (40 bohr)")
      .above(0);
  schema
      .quantity(
          "switch", options.reach.switch_width, "angstrom",
          "Pairs and triples fade to nothing over this before their cutoff; 0: they are cut, which long "
          "cutoffs forgive")
      .at_least(0);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.table.empty()) return fmt::format("has no table: {}", dispersion_table_cure);
    const bool by_hand = options.s6 || options.s8 || options.a1 || options.a2;
    if (options.functional && by_hand) return "functional has s6, s8, a1 and a2 of its own: leave either out";
    if (!options.functional && !(options.s8 && options.a1 && options.a2))
      return "names no functional: give one, or s8, a1 and a2";
    const auto names = functional_names();
    if (options.functional && std::find(names.begin(), names.end(), *options.functional) == names.end())
      return fmt::format("functional '{}' is not known, those of {} are{}; give s8, a1 and a2 of others",
                         *options.functional, name_list(names), did_you_mean(*options.functional, names));
    const double shortest = std::min(options.reach.pairs, options.s9 == 0 ? INFINITY : options.reach.triples);
    if (options.reach.switch_width >= shortest)
      return fmt::format("switch = {:g} is not below the shortest cutoff, {:g} angstrom",
                         options.reach.switch_width, shortest);
    return std::nullopt;
  });
}

DispersionDamping damping_of(const DispersionSection& options) {
  if (options.functional) return quintet::damping_of(*options.functional, options.s9);
  constexpr double bohr = 0.529177210903;  // (angstrom) CODATA 2018
  return {options.s6.value_or(1), *options.s8, options.s9, *options.a1, *options.a2 / bohr};
}

void describe(Schema& schema, PairSection& options) {
  PairParameters& pair = options.parameters;
  std::string formulas;
  for (const auto& row : pair_formulas())
    formulas += fmt::format("{}{}: {}", formulas.empty() ? "" : "; ", row.name, row.doc);
  schema.choice("formula", pair.formula, choices_of(pair_formulas()), formulas);
  schema.texts("types", pair.types, "The two types").required().length(2, 2).example("[O, H]");
  schema.check(AnyOrder{"types"});
  schema.quantity("depth", pair.depth, "eV", "Of the well").above(0);
  schema
      .quantity("length", pair.length, "angstrom", "sigma of lennard_jones, distance of the minimum of morse")
      .above(0);
  schema.quantity("stiffness", pair.stiffness, "1/angstrom", "Of morse").above(0);
  schema.quantity("cutoff", pair.cutoff, "angstrom", "Nothing beyond").above(0);
  schema
      .quantity("switch", pair.switch_width, "angstrom",
                "Fades to nothing over this before the cutoff; 0: cut")
      .at_least(0);
  schema.check([&pair]() -> std::optional<std::string> {
    const std::string problem = problem_of(pair);
    return problem.empty() ? std::nullopt : std::optional(problem);
  });
}

void describe(Schema& schema, FurtherModel& options) {
  schema.text("model", options.model, "Model of either kind, evaluated as the first one")
      .required()
      .existing_file();
  schema.texts("types", options.types, "Types it acts on: it sees no other atoms; absent: all that it knows");
  schema.check(AnyOrder{"types"});
}

void describe(Schema& schema, PotentialOptions& options) {
  schema
      .texts("model", options.models,
             "Deep Potential model in DeePMD-kit's native format (.dp), or a model exported for LibTorch "
             "(.pth, .pt, .pt2: docs/exported.md), or several: the first drives, the others tell where it "
             "can be trusted "
             "(section deviation)")
      .required()
      .existing_file()
      .length(1);
  describe_evaluation(schema, options.evaluation);
  schema.sections(
      "atom_parameters", options.evaluation.atom_parameters,
      "Parameters of atoms (aparam: a spin, a temperature) of a model that reads them, by type, of all "
      "types it knows; absent: each atom's own, the column aparam of system.file");
  schema.check(AnyOrder{"atom_parameters"});
  schema.section("repulsion", options.repulsion, "Short-range repulsion; absent: none");
  schema.texts(
      "types", options.types,
      "Types that the model acts on, where others are for `also`, `pairs` and `dispersion`: it sees no "
      "other atoms; absent: all that it knows");
  schema.check(AnyOrder{"types"});
  schema.sections("also", options.also, "Further models, whose energies are added");
  schema.sections("pairs", options.pairs, "Pair potentials, whose energies are added");
  schema.section("dispersion", options.dispersion,
                 "Dispersion after Grimme (D3 with the damping of Becke and Johnson), added; absent: none");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.is_sum() && options.evaluation.precision == potential::Precision::bf16)
      return "precision: bf16 is for a model alone; with types, also, pairs or dispersion use mixed";
    return std::nullopt;
  });
}

void describe(Schema& schema, DomainSection& options) {
  schema.quantity("skin", options.skin, "angstrom", "Neighbour lists reach this much beyond the cutoff")
      .above(0)
      .on_restart(OnRestart::free);
  schema.integers("ranks", options.ranks, "Grid of ranks along the cell's rows; 0: chosen")
      .length(3, 3)
      .at_least(0)
      .at_most(1000000)
      .on_restart(OnRestart::free);
}

std::array<int, 3> grid_of(const DomainSection& options) {
  const auto& n = options.ranks;
  return {static_cast<int>(n[0]), static_cast<int>(n[1]), static_cast<int>(n[2])};
}

void describe(Schema& schema, TrajectoryOptions& options) {
  schema
      .choice("format", options.format,
              {{"h5md", TrajectoryFormat::h5md},
               {"xyz", TrajectoryFormat::xyz},
               {"both", TrajectoryFormat::both}},
              "trajectory.h5 (H5MD, all ranks write; forces in eV/angstrom), trajectory.xyz "
              "(extended XYZ, 17 digits, one rank writes; angstrom, angstrom/ps, eV, eV/angstrom), or both")
      .on_restart(OnRestart::free);
  schema.integer("interval", options.interval, "Steps between frames")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema.flag("velocities", options.velocities, "Write velocities").on_restart(OnRestart::fixed);
  schema.flag("forces", options.forces, "Write forces").on_restart(OnRestart::fixed);
  schema.flag("single_precision", options.single_precision, "trajectory.h5 in float32: half the size")
      .on_restart(OnRestart::fixed);
  schema
      .flag("unwrapped", options.unwrapped,
            "Positions of trajectory.xyz without periodic jumps; false: in the cell. trajectory.h5 has the "
            "cell's "
            "and, beside them, the crossings")
      .on_restart(OnRestart::fixed);
}

void describe(Schema& schema, LimitOptions& options) {
  schema
      .quantity(
          "energy_drift", options.energy_drift, "eV",
          "Stop (exit 3) when the conserved energy has drifted by more per atom (not in a minimisation)")
      .above(0);
  schema
      .quantity("temperature", options.temperature, "K",
                "Stop (exit 3) above this temperature (not in a minimisation)")
      .above(0);
}

void describe(Schema& schema, ReferenceOptions& options) {
  schema
      .text("rdf", options.rdf,
            "CSV file of r (angstrom) and g(r) to draw beside this run's, of all atoms or, where the second "
            "column's name is a pair as O_O, of that pair; needs observables.rdf")
      .existing_file();
  schema.text("label", options.label, "What the reference is, for legends");
}

void describe(Schema& schema, RunOptions& options) {
  schema.section("system", options.system, "The atoms").on_restart(OnRestart::fixed);
  schema.section("potential", options.potential, "The forces");
  const bool ramps = options.integrator.temperature_end || options.integrator.barostat.pressure_end;
  schema.section("time", options.time, "The steps")
      .on_restart("steps", ramps ? OnRestart::physics : OnRestart::free);
  schema.section("integrator", options.integrator, "The ensemble");
  schema.section("velocities", options.velocities, "Initial velocities").on_restart(OnRestart::fixed);
  schema
      .section("frozen", options.frozen,
               "Atoms that do not move: no forces, velocities or degrees of freedom; absent: none. Not at "
               "constant "
               "pressure; the pressure of other ensembles counts all forces, the frozen atoms' too")
      .on_restart(OnRestart::fixed);
  schema.section("domain", options.domain, "Ranks and neighbour lists");
  schema.integer("thermo_interval", options.thermo_interval, "Steps between rows of the thermo table")
      .at_least(1)
      .on_restart(OnRestart::free);
  schema.section("trajectory", options.trajectory, "Frames of the run; absent: none")
      .on_restart(OnRestart::free);
  schema.section("observables", options.observables, "Averages over the run");
  schema
      .section("deviation", options.deviation,
               "Disagreement of the models (model_devi.out); absent: not computed")
      .on_restart(OnRestart::free);
  schema.section("selection", options.selection,
                 "Frames worth a label: candidates.h5, and a choice of them in selected.xyz; absent: none");
  schema.section("observe", options.observe, "Frequencies of what the run does; absent: none")
      .on_restart(OnRestart::fixed);
  describe(schema, options.checkpoints);
  schema.section("limits", options.limits, "When to stop with exit code 3").on_restart(OnRestart::free);
  schema.section("reference", options.reference, "Results to set beside this run's")
      .on_restart(OnRestart::free);
  schema.integer("seed", options.seed, "Seed of all random numbers").at_least(0);
  describe_device(schema, options.device);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.reference.rdf && !options.observables.rdf)
      return "reference.rdf needs 'observables: {rdf: {}}'";
    if (options.deviation && options.potential.models.size() < 2)
      return "deviation needs at least two models, such as 'potential: {model: [a.dp, b.dp]}'; there is one";
    if (options.potential.evaluation.precision == potential::Precision::bf16 && options.device != Device::cpu)
      return "potential.precision: bf16 is for device: cpu; on a device take precision: mixed";
    if (options.potential.is_sum() && options.device != Device::cpu)
      return "potential.types, also, pairs and dispersion are for device: cpu; a device evaluates a model "
             "alone";
    if (options.selection && !options.deviation)
      return "selection goes by the deviation: add 'deviation: {}' and several models";
    if (auto problem = problem_of_observables(options)) return problem;
    return problem_of(options.integrator, options.time);
  });
}

}  // namespace quintet::dpmd
