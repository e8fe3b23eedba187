#include "apps/dpmd/ipi/serve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <thread>

#include "apps/dpmd/setup/placed_frame.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/mailbox.hpp"
#include "io/parallel/rank_texts.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/signals.hpp"
#include "physics/particles/domain/validate_configuration.hpp"
#include "physics/particles/dynamics/dynamics.hpp"
#include "physics/particles/files/read_configuration.hpp"

namespace quintet::dpmd {

namespace {

/// JSON that i-PI reads as further properties: how far the models are apart, by DeePMD-kit's names (eV,
/// eV/angstrom).
std::string text_of(const potential::Deviation& deviation) {
  Tree tree;
  tree.set("max_devi_v", Tree::number(deviation.max_virial));
  tree.set("min_devi_v", Tree::number(deviation.min_virial));
  tree.set("avg_devi_v", Tree::number(deviation.mean_virial));
  tree.set("max_devi_f", Tree::number(deviation.max_force));
  tree.set("min_devi_f", Tree::number(deviation.min_force));
  tree.set("avg_devi_f", Tree::number(deviation.mean_force));
  tree.set("devi_e", Tree::number(deviation.energy));
  return to_json(tree);
}

/// The models, asked for one configuration after another.
class Models {
 public:
  Models(const Comm& comm, const PotentialOptions& options)
      : comm_(comm), driving_(make_force_field(options)), cutoff_(driving_->cutoff()) {
    QUINTET_CHECK(driving_->n_atom_parameters() == 0,
                  "{}: the model reads {} of each atom (aparam), which i-PI's protocol does not carry",
                  options.models.front(), counted(driving_->n_atom_parameters(), "number"));
    if (options.models.size() == 1) return;
    ensemble_.emplace(make_ensemble(comm, options, *driving_, {}));
    cutoff_ = ensemble_->widened(domain_of(*driving_)).cutoff;
  }
  [[nodiscard]] const std::vector<std::string>& type_names() const { return driving_->type_names(); }

  /// Energy, forces and virial of rank 0's configuration, there. Collective. Throws InputError for atoms that
  /// are where none can be.
  ipi::Forces evaluate(Configuration frame) {
    on_root(comm_, [&] { validate(frame, closest_start); });
    broadcast_box(comm_, frame);
    PlacedFrame placed(comm_, frame, cutoff_);
    const Energetics total = placed.compute(*driving_);
    if (!std::isfinite(total.energy))
      throw NumericalError(fmt::format("the energy is {} eV; are atoms too close?", total.energy));
    ipi::Forces found{total.energy, gather_forces(placed.atoms), total.virial, ""};
    if (ensemble_) found.extra = text_of(ensemble_->measure(Exec(), placed.atoms, placed.domain, total));
    warn_once(total.warning);
    return found;
  }

 private:
  /// [n_atoms, 3] in the order of the configuration, on rank 0.
  [[nodiscard]] std::vector<Vec3> gather_forces(const Atoms& atoms) const {
    struct OwnForce {
      std::int64_t id;
      Vec3 force;
    };
    std::vector<OwnForce> own;
    for (int i = 0; i < atoms.n_local; ++i)
      own.push_back({atoms.id(i), {atoms.force(i, 0), atoms.force(i, 1), atoms.force(i, 2)}});
    const auto all = comm_.gather(std::span<const OwnForce>(own));
    std::vector<Vec3> forces(all.size());
    for (const auto& row : all) forces[row.id - 1] = row.force;
    return forces;
  }

  void warn_once(const std::string& warning) {
    if (warned_) return;
    for (const auto& words : words_of_ranks(comm_, warning)) log::warning("{}", words);
    warned_ = comm_.any(!warning.empty());
  }

  const Comm& comm_;
  std::unique_ptr<ForceField> driving_;
  double cutoff_;  ///< of the model that looks farthest (angstrom)
  std::optional<potential::ModelEnsemble> ensemble_;
  bool warned_ = false;
};

/// What the files say of types and boundaries; on rank 0.
ipi::Structures structures_of(const ServeCommandOptions& options,
                              const std::vector<std::string>& model_types) {
  const ReadOptions read = read_options_of(options.naming);
  require_known(read.masses, model_types, "--masses");
  ipi::Structures structures;
  for (const auto& path : options.structures) {
    auto frames = read_configurations(path, read);
    tell_reading(path, frames);
    for (auto& frame : frames) frame = with_types(std::move(frame), model_types, path);
    for (auto& frame : frames) frame.ids.clear();
    structures.add(frames, path);
  }
  return structures;
}

/// Ranks wait for the first one's word in their sleep: a server may take its time, and the cores are its own.
class Turnstile {
 public:
  explicit Turnstile(const Comm& comm) : comm_(comm), mail_(comm) {}
  /// On the first rank: all go on. On others: wait for that.
  void pass() {
    constexpr std::byte go{1};
    if (comm_.is_root())
      for (int rank = 1; rank < comm_.size(); ++rank) mail_.send(std::span(&go, 1), rank);
    else
      for (auto nap = shortest; !mail_.receive(); nap = std::min(2 * nap, longest))
        std::this_thread::sleep_for(nap);
  }

 private:
  static constexpr std::chrono::microseconds shortest{20}, longest{1000};
  const Comm& comm_;
  Mailbox mail_;
};

/// Where the time of a driver goes.
class Times {
 public:
  using Clock = std::chrono::steady_clock;
  void add(Clock::time_point begin) {
    ++n_;
    spent_ += Clock::now() - begin;
  }
  void tell() const {
    const double seconds = std::chrono::duration<double>(spent_).count();
    log::info("{}{}", counted(n_, "evaluation"),
              n_ > 0 ? fmt::format(", {:.3g} ms each", 1e3 * seconds / double(n_)) : "");
  }

 private:
  std::size_t n_ = 0;
  Clock::duration spent_{};
};

}  // namespace

void describe(Schema& schema, ServeCommandOptions& options) {
  schema
      .texts(
          "model", options.models,
          "Deep Potential model (.dp, or .pth, .pt and .pt2: docs/exported.md); repeated: the first answers, "
          "the others tell how far they differ")
      .required();
  describe_evaluation(schema, options.evaluation);
  describe(schema, options.serving);
  describe(schema, options.naming);
  schema
      .texts("structures", options.structures,
             "Files with the server's atoms in its order (XYZ, LAMMPS data, POSCAR, ...), for types and "
             "boundaries; several: by their number of atoms")
      .required();
}

void serve(const Comm& comm, const ServeCommandOptions& options) {
  remember_stop_signals();
  (void)ipi::address_of(options.serving);
  Models models(comm, {.models = options.models, .evaluation = options.evaluation, .repulsion = {}});
  std::optional<ipi::Structures> structures;
  std::optional<ipi::Conversation> conversation;
  on_root(comm, [&] {
    structures = structures_of(options, models.type_names());
    conversation.emplace(options.serving, *structures);
  });
  Times times;
  Turnstile turnstile(comm);
  for (;;) {
    std::optional<Configuration> asked;
    std::exception_ptr wrong;
    try {
      if (conversation) asked = conversation->next();
    } catch (...) {
      wrong = std::current_exception();
    }
    turnstile.pass();
    throw_lowest(comm, wrong);
    if (!comm.broadcast(asked.has_value())) break;
    const auto begin = Times::Clock::now();
    ipi::Forces found = models.evaluate(asked ? std::move(*asked) : Configuration{});
    times.add(begin);
    if (conversation) conversation->answer(std::move(found));
  }
  times.tell();
}

}  // namespace quintet::dpmd
