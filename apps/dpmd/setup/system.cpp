#include "apps/dpmd/setup/system.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>

#include "apps/dpmd/setup/checkpoint_configuration.hpp"
#include "io/config/suggest.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "physics/particles/atoms/atom_parameters.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "physics/particles/interactions/dispersion.hpp"
#include "physics/particles/interactions/pair_potential.hpp"
#include "physics/particles/interactions/sum_of_fields.hpp"
#include "surrogates/potential/device/device_force_field.hpp"
#include "surrogates/potential/exported/exported_file.hpp"
#include "surrogates/potential/exported/exported_potential.hpp"

namespace quintet::dpmd {

namespace {

/// A sum whose terms another one shares, on these ranks; null: none.
struct Shared {
  const SumOfFields* sum = nullptr;
  const Comm* comm = nullptr;
};

/// The model and what is added to it, the same for all models of an ensemble: the terms of `shared` where its
/// types are the same.
std::unique_ptr<ForceField> with_terms(const PotentialOptions& options, std::unique_ptr<ForceField> model,
                                       const Shared& shared) {
  std::vector<FieldTerm> terms;
  terms.push_back({std::move(model), options.types});
  auto sum = std::make_unique<SumOfFields>(std::move(terms));
  if (shared.sum != nullptr && sum->share_terms(*shared.sum, *shared.comm)) return sum;
  for (const auto& further : options.also)
    sum->add({potential::make_potential(further.model, options.evaluation), further.types});
  if (!options.pairs.empty()) {
    std::vector<PairParameters> pairs;
    for (const auto& pair : options.pairs) pairs.push_back(pair.parameters);
    sum->add({std::make_unique<PairPotential>(pairs)});
  }
  if (!options.dispersion) return sum;
  const auto& dispersion = *options.dispersion;
  const auto types = dispersion.types.empty() ? sum->type_names() : dispersion.types;
  sum->add({std::make_unique<Dispersion>(types, read_dispersion_table(dispersion.table, types),
                                         DispersionOptions{damping_of(dispersion), dispersion.reach})});
  return sum;
}

/// What the options add to a model on the cores; logs what it is.
std::unique_ptr<ForceField> completed(const PotentialOptions& options, const std::string& path,
                                      std::unique_ptr<ForceField> model, const Shared& shared = {}) {
  if (options.repulsion)
    model = std::make_unique<potential::Repulsion>(std::move(model), options.repulsion->range);
  if (options.is_sum()) model = with_terms(options, std::move(model), shared);
  log::info("{}: {}", path, model->description());
  return model;
}

/// The driving model of a file. Throws InputError for parameters that it does not read.
potential::Model read_driving(const PotentialOptions& options, const std::string& path) {
  potential::Model model = potential::read_dp(path);
  QUINTET_CHECK(options.evaluation.atom_parameters.empty() || model.atom_parameters.count() > 0,
                "{}: the model reads no parameters of atoms (aparam); remove potential.atom_parameters",
                path);
  return model;
}

CheckedField make_on_cores(const PotentialOptions& options, const std::string& path) {
  if (potential::is_exported(path)) {
    QUINTET_CHECK(options.evaluation.atom_parameters.empty(),
                  "{}: potential.atom_parameters is for models of .dp files; remove it", path);
    return {completed(options, path, potential::make_exported_potential(path, options.evaluation)), nullptr};
  }
  auto model = std::make_unique<potential::DeepPotential>(read_driving(options, path), options.evaluation);
  std::unique_ptr<potential::PrecisionCheck> check;
  if (model->rounds()) check = std::make_unique<potential::PrecisionCheck>(*model, options.evaluation);
  return {completed(options, path, std::move(model)), std::move(check)};
}

std::unique_ptr<ForceField> make_on_device(const PotentialOptions& options, const std::string& path,
                                           const DeviceSession& session) {
  QUINTET_CHECK(!potential::is_exported(path),
                "{}: models of other programs are evaluated on the cores: device: cpu", path);
  std::optional<potential::RepulsionOptions> repulsion;
  if (options.repulsion) repulsion = options.repulsion->range;
  auto field = std::make_unique<potential::DeviceForceField>(
      read_driving(options, path), options.evaluation, repulsion,
      session.factory("quintet_make_device_potential", &quintet_make_device_potential),
      [session](double bytes, const std::string& what) { session.require_bytes(bytes, what); });
  log::info("{}: {}", path, field->description());
  return field;
}

/// A companion that sees atoms of the driving model's types, in whatever order it has them itself. Throws
/// InputError where it lacks one.
std::unique_ptr<ForceField> alongside(const ForceField& driving, const std::string& driving_path,
                                      std::unique_ptr<ForceField> field, const std::string& path) {
  const auto &known = field->type_names(), &types = driving.type_names();
  std::vector<std::string> missing;
  for (const auto& name : types)
    if (std::find(known.begin(), known.end(), name) == known.end()) missing.push_back(name);
  QUINTET_CHECK(missing.empty(),
                "{}: knows the types {}, but not {}, which {} knows; the models of an ensemble must know all "
                "types of the first: name another model first, whose types all of them know",
                path, name_list(known), name_list(missing), driving_path);
  if (known == types) return field;
  log::info("{}: its types {} are taken by name, in the order of {}", path, name_list(known), driving_path);
  std::vector<FieldTerm> terms;
  terms.push_back({std::move(field), types});
  return std::make_unique<SumOfFields>(std::move(terms));
}

}  // namespace

std::unique_ptr<ForceField> make_force_field(const PotentialOptions& options) {
  QUINTET_CHECK(
      options.evaluation.precision != potential::Precision::bf16,
      "precision bf16 is for 'dpmd run', which takes its products about the first frame; use double "
      "or mixed here");
  return make_on_cores(options, options.models.front()).field;
}

CheckedField make_checked_field(const PotentialOptions& options, const DeviceSession& session) {
  const std::string& path = options.models.front();
  if (session.is_cpu()) return make_on_cores(options, path);
  return {make_on_device(options, path, session), nullptr};
}

namespace {

/// Parameters of atoms by type for a model that knows other types than the first one: those of types that it
/// does not know are left out; of types that the first model lacks there are no atoms.
std::vector<potential::AtomParameters> parameters_for(const potential::Model& model,
                                                      std::vector<potential::AtomParameters> given,
                                                      const std::vector<std::string>& first_types) {
  if (given.empty()) return given;
  const auto knows = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (auto& some : given)
    std::erase_if(some.types, [&](const auto& name) {
      return knows(first_types, name) && !knows(model.type_names, name);
    });
  for (const auto& name : model.type_names)
    if (!knows(first_types, name))
      given.push_back({{name}, std::vector<double>(model.atom_parameters.count(), 0.0)});
  return given;
}

}  // namespace

potential::ModelEnsemble make_ensemble(const Comm& comm, const PotentialOptions& options,
                                       const ForceField& driving, const potential::DeviationMeasure& measure,
                                       std::optional<potential::Precision> precision) {
  PotentialOptions theirs = options;
  if (precision) theirs.evaluation.precision = *precision;
  if (theirs.evaluation.precision == potential::Precision::bf16)
    theirs.evaluation.precision = potential::Precision::mixed;  // they are looked at now and then: no need
  auto as_exported = theirs.evaluation;  // such a model knows one precision, whatever the others are to have
  as_exported.precision = potential::Precision::model;
  const std::vector<std::string> paths(options.models.begin() + 1, options.models.end());
  std::vector<std::unique_ptr<potential::DeepPotential>> deep(paths.size());
  for (std::size_t m = 0; m < paths.size(); ++m)
    if (!potential::is_exported(paths[m])) {
      auto model = potential::read_dp(paths[m]);
      auto its = theirs.evaluation;
      its.atom_parameters = parameters_for(model, std::move(its.atom_parameters), driving.type_names());
      deep[m] = std::make_unique<potential::DeepPotential>(std::move(model), its);
    }
  auto fields = potential::with_shared_neighbours(std::move(deep));
  // Whose further terms are theirs, too; models among these have the precision that is asked for.
  const bool as_driving = options.also.empty() || theirs.evaluation.precision == options.evaluation.precision;
  Shared shared{as_driving ? dynamic_cast<const SumOfFields*>(&driving) : nullptr, &comm};
  for (std::size_t m = 0; m < paths.size(); ++m) {
    if (!fields[m]) fields[m] = potential::make_exported_potential(paths[m], as_exported);
    fields[m] = completed(theirs, paths[m], std::move(fields[m]), shared);
    if (shared.sum == nullptr) shared.sum = dynamic_cast<const SumOfFields*>(fields[m].get());
    const int n_read = fields[m]->n_atom_parameters();
    QUINTET_CHECK(n_read == 0 || n_read == driving.n_atom_parameters(),
                  "{}: reads {} of each atom (aparam), but {} reads {}; expected the same number, or none",
                  paths[m], counted(n_read, "number"), options.models.front(), driving.n_atom_parameters());
    fields[m] = alongside(driving, options.models.front(), std::move(fields[m]), paths[m]);
  }
  return {std::move(fields), measure};
}

Configuration with_types(Configuration configuration, const std::vector<std::string>& model_types,
                         const std::string& file) {
  std::vector<int> to_model;
  std::vector<double> masses(model_types.size(), 0.0);
  std::vector<bool> used(configuration.type_names.size(), false);
  for (int type : configuration.types) used.at(type) = true;
  for (std::size_t t = 0; t < configuration.type_names.size(); ++t) {
    const auto& name = configuration.type_names[t];
    const auto at = std::find(model_types.begin(), model_types.end(), name);
    QUINTET_CHECK(at != model_types.end() || !used[t], "{}: type '{}' is not in the model, which knows: {}{}",
                  file, name, name_list(model_types), did_you_mean(name, model_types));
    to_model.push_back(at == model_types.end() ? -1 : at - model_types.begin());
    if (!used[t]) continue;
    double& mass = masses[to_model[t]];
    const double own = configuration.masses.empty() ? atomic_mass(name) : configuration.masses[t];
    QUINTET_CHECK(
        mass == 0 || mass == own,
        "{}: two of its types are called '{}' and weigh {:g} and {:g} amu; one type of the model has one "
        "mass: give it with masses {{{}: ... u}}",
        file, name, mass, own, name);
    mass = own;
  }
  for (int& type : configuration.types) type = to_model[type];
  // A type without atoms needs no mass; 1 keeps divisions finite.
  for (double& mass : masses) mass = mass == 0 ? 1.0 : mass;
  configuration.type_names = model_types;
  configuration.masses = masses;
  return configuration;
}

void require_known(const NamedMasses& masses, const std::vector<std::string>& model_types,
                   const std::string& key) {
  for (const auto& [name, mass] : masses)
    QUINTET_CHECK(std::find(model_types.begin(), model_types.end(), name) != model_types.end(),
                  "{}: the model has no type '{}', it knows: {}{}", key, name, name_list(model_types),
                  did_you_mean(name, model_types));
}

namespace {

/// Take or drop what the file holds. Throws InputError for an atom that may move along some directions only.
void keep_held(Configuration& configuration, const SystemOptions& options) {
  constexpr std::uint8_t whole = 7;
  if (!options.selective_dynamics) configuration.held.clear();
  for (std::size_t i = 0; i < configuration.held.size(); ++i) {
    const auto bits = configuration.held[i];
    QUINTET_CHECK(
        bits == 0 || bits == whole,
        "{}: atom {} may move along some directions only ({} {} {}); expected T T T or F F F. To let all "
        "atoms move: system.selective_dynamics: false",
        options.file, i + 1, "TF"[bits & 1], "TF"[bits >> 1 & 1], "TF"[bits >> 2 & 1]);
  }
}

/// The file of the options, its types and masses as it and they say.
Configuration read_named(const SystemOptions& options, int n_atom_parameters) {
  ReadOptions read;
  read.frame = options.frame;
  read.type_names = options.types;
  read.masses = options.masses;
  read.periodic = periodic_of(options.periodic);
  read.labels.use = LabelSource::Use::none;
  read.n_atom_parameters = n_atom_parameters;
  if (!is_checkpoint(options.file)) {
    Configuration configuration = read_configuration(options.file, read);
    tell_reading(options.file, std::span(&configuration, 1));
    keep_held(configuration, options);
    return configuration;
  }
  Configuration configuration = read_checkpoint(options.file);
  check_given_names(options.file, configuration, options.types);
  set_masses(configuration, options.masses);
  take_atom_parameters(configuration, n_atom_parameters, options.file);
  return configuration;
}

}  // namespace

double memory_of(double n_atoms, double volume, int n_ranks, double range, double list_range) {
  // Rows of Atoms, of the list's positions and of the cell list; an atom on its way to another rank, to a
  // frame and a checkpoint, and its share of lists that grow; work arrays of the model. Measured:
  // docs/measured.md, tests/bench/potential/dpmd_scale.
  constexpr double row_bytes = 96 + 24 + 40, atom_bytes = 130 + 390, program_bytes = 18e6;
  const double n = n_atoms / n_ranks, v = volume / n_ranks;
  const double neighbours = 4.0 / 3.0 * std::numbers::pi * std::pow(list_range, 3) * n / v;
  const double ghosts = n * (std::pow(1 + 2 * range / std::cbrt(v), 3) - 1);
  // Rows of Dispersion, and of its sum with a model: positions, forces, virials, weights of references.
  const double row_extra = range > list_range ? 330 : 0;
  return program_bytes + n * (atom_bytes + 4 * neighbours) + 1.0625 * (n + ghosts) * (row_bytes + row_extra);
}

System read_system(const Comm& comm, const SystemOptions& options,
                   const std::vector<std::string>& model_types, double range, double list_range,
                   int n_atom_parameters) {
  System system;
  for (int k = 0; k < 3; ++k) system.copies[k] = options.replicate[k];
  on_root(comm, [&] {
    require_known(options.masses, model_types, "system.masses");
    system.cell = with_types(read_named(options, n_atom_parameters), model_types, options.file);
    validate(system.cell, closest_start);
    system.cell.ids.clear();
  });
  broadcast_box(comm, system.cell);
  system.has_velocities = comm.any(!system.cell.velocities.empty());
  system.box = replicated(system.cell.box, system.copies);
  const auto n_cell = comm.broadcast(static_cast<std::int64_t>(system.cell.n_atoms()));
  const auto& n = system.copies;
  const double n_atoms = double(n_cell) * n[0] * n[1] * n[2];
  constexpr double most_atoms = 1e15;  // ids and counts of atoms are exact in float64 too
  QUINTET_CHECK(n_atoms < most_atoms,
                "system.replicate: [{}, {}, {}] makes {:.3g} atoms of {}; expected fewer than {:.3g}", n[0],
                n[1], n[2], n_atoms, n_cell, most_atoms);
  require_memory(comm, memory_of(n_atoms, system.box.volume(), comm.size(), range, list_range),
                 fmt::format("{:.3g} atoms", n_atoms));
  system.n_atoms = n_cell * n[0] * n[1] * n[2];
  return system;
}

void broadcast_box(const Comm& comm, Configuration& configuration) {
  struct Shape {
    Mat3 rows;
    Vec3 origin;
    std::array<bool, 3> periodic;
  };
  const auto& box = configuration.box;
  const Shape shape = comm.broadcast(Shape{box.rows(), box.origin(), box.periodic()});
  configuration.box = Box(shape.rows, shape.periodic, shape.origin);
}

}  // namespace quintet::dpmd
