#include "apps/dpmd/setup/run_options.hpp"

#include <fmt/format.h>

#include "apps/dpmd/setup/sel_rules.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"

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

void describe(Schema& schema, PotentialOptions& options) {
  schema
      .texts("model", options.models,
             "Deep Potential model in DeePMD-kit's native format (.dp), or several: the first drives, the "
             "others "
             "tell where it can be trusted (section deviation)")
      .required()
      .existing_file()
      .length(1);
  describe_evaluation(schema, options.evaluation);
  schema.section("repulsion", options.repulsion, "Short-range repulsion; absent: none");
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
  schema.quantity("temperature", options.temperature, "K", "Stop (exit 3) above this temperature").above(0);
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
      return "potential.precision: bf16 is for device: cpu; a device knows model, double and mixed";
    if (options.selection && !options.deviation)
      return "selection goes by the deviation: add 'deviation: {}' and several models";
    return problem_of(options.integrator, options.time);
  });
}

}  // namespace quintet::dpmd
