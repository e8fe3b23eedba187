#include "apps/dpmd/evaluate/evaluate.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "apps/dpmd/setup/placed_frame.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/config/suggest.hpp"
#include "io/files/output_file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/rank_texts.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace {

namespace fs = std::filesystem;

/// A frame's results, on rank 0.
struct Evaluation {
  Configuration configuration;        ///< with energy, forces and virial filled in
  std::vector<double> atom_energies;  ///< [n_atoms] (eV)
  std::vector<double> atom_virials;   ///< [n_atoms, 9] (eV) or empty
  std::vector<std::string> warnings;  ///< of the ranks
  std::string refusal = {};           ///< why there are no results (on all ranks alike), or ""
  std::string expert = {};            ///< who computed it, where a router has chosen
};

Evaluation evaluate_frame(const Comm& comm, ForceField& field, Configuration frame, bool with_virials) {
  std::optional<PlacedFrame> placed;
  try {
    placed.emplace(comm, frame, field.cutoff());
  } catch (const Error& error) {  // of the cell and its grid of ranks: all ranks throw it
    return {std::move(frame), {}, {}, {}, error.what()};
  }
  const Atoms& atoms = placed->atoms;
  const Array<double> energies("dpmd::atom_energies", atoms.n_local);
  const Tensors virials("dpmd::atom_virials", with_virials ? static_cast<std::size_t>(atoms.n_all()) : 0);
  const Energetics total = placed->compute(field, {energies, virials});

  if (!std::isfinite(total.energy))
    return {
        std::move(frame), {}, {}, {}, fmt::format("the energy is {} eV; are atoms too close?", total.energy)};

  struct AtomRow {
    std::int64_t id;
    double energy, force[3], virial[9];
  };
  std::vector<AtomRow> own;
  for (int i = 0; i < atoms.n_local; ++i) {
    own.push_back({atoms.id(i), energies(i), {atoms.force(i, 0), atoms.force(i, 1), atoms.force(i, 2)}, {}});
    for (int k = 0; with_virials && k < 9; ++k) own.back().virial[k] = virials(i, k);
  }
  auto all = comm.gather(std::span<const AtomRow>(own));
  std::sort(all.begin(), all.end(), [](const AtomRow& a, const AtomRow& b) { return a.id < b.id; });

  Evaluation result{std::move(frame), {}, {}, words_of_ranks(comm, total.warning)};
  result.configuration.energy = total.energy;
  result.configuration.virial = total.virial;
  result.configuration.forces.clear();
  for (const auto& atom : all) {
    result.configuration.forces.push_back({atom.force[0], atom.force[1], atom.force[2]});
    result.atom_energies.push_back(atom.energy);
    if (with_virials) result.atom_virials.insert(result.atom_virials.end(), atom.virial, atom.virial + 9);
  }
  return result;
}

Tree number_list(std::span<const double> values) {
  Tree list = Tree::list();
  for (double value : values) list.append(Tree::number(value));
  return list;
}

Tree to_tree(const std::string& file, std::size_t frame, const Evaluation& evaluation) {
  const auto& configuration = evaluation.configuration;
  Tree tree;
  tree.set("file", Tree::text(file));
  tree.set("frame", Tree::integer(frame));
  if (!evaluation.expert.empty()) tree.set("expert", Tree::text(evaluation.expert));
  tree.set("atoms", Tree::integer(configuration.n_atoms()));
  tree.set("energy_ev", Tree::number(*configuration.energy));
  tree.set("virial_ev", number_list(*configuration.virial));
  tree.set("forces_ev_per_angstrom",
           number_list({configuration.forces.front().data(), 3 * configuration.n_atoms()}));
  tree.set("atom_energies_ev", number_list(evaluation.atom_energies));
  if (!evaluation.atom_virials.empty()) tree.set("atom_virials_ev", number_list(evaluation.atom_virials));
  return tree;
}

/// Say how far labels that came with the frame are from ours.
void compare(const std::string& name, const Configuration& labels, const Evaluation& ours) {
  if (labels.energy)
    log::info("{}: energy {:.6f} eV, {:+.3f} meV per atom from its label", name, *ours.configuration.energy,
              (*ours.configuration.energy - *labels.energy) * 1e3 / labels.n_atoms());
  if (labels.forces.empty()) return;
  double sum = 0;
  for (std::size_t i = 0; i < labels.forces.size(); ++i)
    for (int k = 0; k < 3; ++k) sum += std::pow(ours.configuration.forces[i][k] - labels.forces[i][k], 2);
  log::info("{}: force rmse to its labels {:.4g} eV/angstrom", name,
            std::sqrt(sum / (3.0 * labels.n_atoms())));
}

}  // namespace

void describe(Schema& schema, EvaluateOptions& options) {
  schema.text(
      "model", options.model,
      "Deep Potential model (.dp, or .pth, .pt and .pt2: docs/exported.md), or registry.h5:ID; or leave it "
      "to --experts");
  schema.text("output", options.output, "Name of the files written, new ones: NAME.json and NAME.xyz");
  describe_evaluation(schema, options.evaluation);
  describe(schema, options.naming);
  schema.flag("atom_virials", options.atom_virials, "Also the virial of each atom, in NAME.json");
  describe(schema, options.experts);
  schema
      .texts("systems", options.systems,
             "Extended XYZ, LAMMPS data, DeePMD folder, H5MD or POSCAR; all frames")
      .required();
}

namespace {

/// What became of all frames of all systems, on rank 0, in their order.
class Outcome {
 public:
  explicit Outcome(std::string name) : name_(std::move(name)) {}

  void add(const std::string& file, std::size_t frame, const Configuration& labels,
           const Evaluation& evaluation) {
    const std::string where = frame_name(file, frame);
    for (const auto& warning : evaluation.warnings) log::warning("{}: {}", where, warning);
    compare(where, labels, evaluation);
    results_.append(to_tree(file, frame, evaluation));
    if (n_evaluated_ == 0) make_new_file(unfinished());
    write_extended_xyz(unfinished(), evaluation.configuration, {n_evaluated_ > 0, evaluation.atom_energies});
    ++n_evaluated_;
  }
  /// Warn of and note a frame, or a whole file, that could not be evaluated; the rest goes on.
  void refuse(const std::string& file, std::optional<std::size_t> frame, const std::string& message) {
    log::error("{}", message);
    Tree tree;
    tree.set("file", Tree::text(file));
    if (frame) tree.set("frame", Tree::integer(*frame));
    tree.set("error", Tree::text(message));
    results_.append(tree);
    refused_.push_back(frame ? frame_name(file, *frame) : file);
  }
  /// Write what there is. Throws InputError if anything was refused, after the others' results are there.
  void finish() const {
    if (n_evaluated_ > 0) {
      write_text_file(name_ + ".json", to_json(results_));
      fs::rename(unfinished(), name_ + ".xyz");
      log::info("{}: {}.json, {}.xyz", counted(n_evaluated_, "configuration"), name_, name_);
    }
    QUINTET_CHECK(refused_.empty(), "{} of {} refused, see above: {}", refused_.size(),
                  results_.items().size(), name_list(refused_));
  }

  [[nodiscard]] static std::string frame_name(const std::string& file, std::size_t frame) {
    return fmt::format("{}: frame {}", file, frame);
  }

 private:
  [[nodiscard]] std::string unfinished() const { return name_ + ".xyz.unfinished"; }

  std::string name_;
  Tree results_ = Tree::list();
  std::size_t n_evaluated_ = 0;
  std::vector<std::string> refused_;
};

/// A frame with the model's types, checked; nothing, and a note in `outcome`, if it is refused.
std::optional<Configuration> usable_frame(Configuration frame, const std::vector<std::string>& model_types,
                                          const std::string& file, std::size_t index, Outcome& outcome) {
  const std::string where = Outcome::frame_name(file, index);
  try {
    frame = with_types(std::move(frame), model_types, where);
    validate(frame, closest_start);
    return frame;
  } catch (const Error& error) {
    const std::string message = error.what();
    outcome.refuse(file, index, message.starts_with(where) ? message : where + ": " + message);
    return std::nullopt;
  }
}

/// The frames of a file that can be evaluated, their numbers and models; on rank 0.
struct Frames {
  std::vector<Configuration> frames;
  std::vector<std::size_t> numbers;
  std::vector<int> models;
};

/// Put a frame among the usable ones with the types of its model, or note in `outcome` why it is not.
void sort_in(Configuration frame, const FrameFields& fields, const std::string& file, std::size_t index,
             Frames& usable, Outcome& outcome) {
  int model = 0;
  try {
    model = fields.choose(frame, Outcome::frame_name(file, index)).model;
  } catch (const InputError& error) {
    return outcome.refuse(file, index, error.what());
  }
  auto checked = usable_frame(std::move(frame), fields.type_names(model), file, index, outcome);
  if (!checked) return;
  usable.frames.push_back(std::move(*checked));
  usable.numbers.push_back(index);
  usable.models.push_back(model);
}

Frames usable_frames(const std::string& file, const ReadOptions& read, const FrameFields& fields,
                     Outcome& outcome) {
  Frames usable;
  try {
    auto all = read_configurations(file, read);
    tell_reading(file, all);
    for (std::size_t i = 0; i < all.size(); ++i) sort_in(std::move(all[i]), fields, file, i, usable, outcome);
  } catch (const InputError& error) {
    outcome.refuse(file, std::nullopt, error.what());
  }
  return usable;
}

/// Throws InputError for what experts are not asked: how to evaluate.
void require_usual_evaluation(const potential::DeepPotentialOptions& evaluation) {
  const potential::DeepPotentialOptions usual;
  struct FlagRow {
    const char *name, *usual;
    bool differs;
  };
  for (const auto& flag : {FlagRow{"--precision", "model", evaluation.precision != usual.precision},
                           FlagRow{"--compress", "auto", evaluation.compression != usual.compression},
                           FlagRow{"--sel-overflow", "lammps", evaluation.sel_rule != usual.sel_rule}})
    QUINTET_CHECK(!flag.differs,
                  "{} is for --model; experts are evaluated as their registry measured them ({})", flag.name,
                  flag.usual);
}

FrameFields fields_of(const EvaluateOptions& options) {
  const bool by_name = options.model.has_value();
  QUINTET_CHECK(by_name != options.experts.experts.has_value(), "{}",
                by_name ? "give --model or --experts, not both"
                        : "no model: name one with --model, or a registry with --experts");
  const auto surplus = surplus_flag(options.experts);
  QUINTET_CHECK(!by_name || surplus.empty(), "{} is for --experts", surplus);
  if (by_name) {
    auto evaluation = options.evaluation;
    evaluation.atom_virials = options.atom_virials;
    return {make_force_field({.models = {*options.model}, .evaluation = evaluation, .repulsion = {}}),
            options.experts};
  }
  require_usual_evaluation(options.evaluation);
  return {nullptr, options.experts};
}

/// Evaluate the frames of a file, those of one model together, and tell in the order of the file.
void evaluate_frames(const Comm& comm, FrameFields& fields, const std::string& path, Frames& usable,
                     bool with_virials, Outcome& outcome) {
  const auto n = comm.broadcast(usable.frames.size());
  usable.frames.resize(n);
  usable.models.resize(n);
  comm.broadcast(std::span<int>(usable.models));
  const auto order = fields.order(usable.models);
  std::vector<std::optional<Evaluation>> done(n);
  std::size_t told = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = order[k];
    const int here = usable.models[i];
    const auto next =
        std::find_if(order.begin() + k, order.end(), [&](int j) { return usable.models[j] != here; });
    ForceField& field = fields.use(here, next == order.end() ? -1 : usable.models[*next]);
    broadcast_box(comm, usable.frames[i]);
    done[i] = evaluate_frame(comm, field, usable.frames[i], with_virials);
    done[i]->expert = fields.id(here);
    for (; told < n && done[told]; ++told)
      on_root(comm, [&] {
        const auto& evaluation = *done[told];
        const auto number = usable.numbers[told];
        if (evaluation.refusal.empty())
          outcome.add(path, number, usable.frames[told], evaluation);
        else
          outcome.refuse(path, number, Outcome::frame_name(path, number) + ": " + evaluation.refusal);
        done[told].emplace();
      });
  }
}

}  // namespace

void evaluate(const Comm& comm, const EvaluateOptions& options) {
  const std::string& name = options.output;
  on_root(comm, [&] {
    for (const char* ending : {".json", ".xyz"})
      QUINTET_CHECK(!fs::exists(name + ending),
                    "{}{} is there; nothing was written over. Remove it, or name another file with --output",
                    name, ending);
  });
  FrameFields fields = fields_of(options);
  ReadOptions read = read_options_of(options.naming);
  read.labels.use = LabelSource::Use::compare;
  read.n_atom_parameters = fields.n_atom_parameters();
  require_known(read.masses, fields.all_types(), "--masses");
  Outcome outcome(name);
  for (const auto& path : options.systems) {
    Frames usable;
    on_root(comm, [&] { usable = usable_frames(path, read, fields, outcome); });
    evaluate_frames(comm, fields, path, usable, options.atom_virials, outcome);
  }
  fields.report();
  on_root(comm, [&] { outcome.finish(); });
}

}  // namespace quintet::dpmd
