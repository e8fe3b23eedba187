#include "surrogates/potential/exported/exported_potential.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "io/config/suggest.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/read_configuration_elements.hpp"
#include "surrogates/potential/exported/compiled_package.hpp"
#include "surrogates/potential/exported/exported_file.hpp"

#ifdef LATE_QUINTET_EXPORTED_LIBRARY
#include "io/runtime/late_library.hpp"
#include "io/runtime/library_threads.hpp"
#include "surrogates/potential/exported/library/exported_library.hpp"
#else
#include "io/runtime/with_torch.hpp"
#endif

namespace quintet::potential {

namespace {
constexpr const char* instead_of_atom_virials = "leave out --atom-virials and observables.heat_current";
}

ExportedPotential::ExportedPotential(std::string path, std::unique_ptr<ExportedModel> model,
                                     bool atom_virials)
    : path_(std::move(path)),
      model_(std::move(model)),
      facts_(model_->facts()),
      reaches_as_messages_(facts_.takes_rows_of_ghosts && (atom_virials || Comm::world().size() > 1)),
      rows_(facts_) {
  for (const int number : facts_.atomic_numbers) facts_.type_names.push_back(element_of_number(number));
}

std::string ExportedPotential::description() const {
  std::string reach = fmt::format("local, at most {} atoms at a time", most_centres);
  if (facts_.passes_messages) reach = "atoms pass messages";
  if (facts_.passes_messages && facts_.takes_rows_of_ghosts)
    reach += fmt::format(" over {}", counted(facts_.layers, "row"));
  return fmt::format("{} through LibTorch, cutoff {:g} angstrom, types {}; {}", facts_.origin, facts_.cutoff,
                     name_list(facts_.type_names), reach);
}

/// Number in the system of the atom that each of its atoms is, or is an image of. False if one is elsewhere.
bool ExportedPotential::find_owners(const Atoms& atoms) {
  std::unordered_map<std::int64_t, int> centre_of;
  for (int i = 0; i < system_.n_centres; ++i) centre_of.emplace(atoms.id(rows_.rows()[i]), i);
  system_.owner.clear();
  for (const int row : rows_.rows()) {
    const auto owner = centre_of.find(atoms.id(row));
    if (owner == centre_of.end()) return false;
    system_.owner.push_back(owner->second);
  }
  return true;
}

/// Where all atoms are on one rank, ghosts show features of their owners and need not be there for the rows
/// of others, unless virials by atom are wanted.
double ExportedPotential::cutoff() const {
  return (reaches_as_messages_ ? facts_.layers : 1) * facts_.cutoff;
}

/// A list that has rows of ghosts, too, of where the atoms were when `list` was made.
const NeighbourList& ExportedPotential::list_of_all(const Exec& exec, const Atoms& atoms,
                                                    const NeighbourList& list) {
  if (list.version != listed_ || listed_ == 0) {
    Atoms all = atoms;
    all.n_local = atoms.n_all();
    all.n_ghost = 0;
    all.position = list.built;
    builder_.build(exec, all, facts_.cutoff + list.skin, list_of_all_);
    exec.fence();
    listed_ = list.version;
  }
  return list_of_all_;
}

void ExportedPotential::fill_with_messages(const Exec& exec, const Atoms& atoms, const NeighbourList& list,
                                           bool virials) {
  rows_.fill(atoms, list, 0, atoms.n_local, 1, system_);
  if (find_owners(atoms)) {
    if (!virials || !sees_images()) return;
    require_rows_of_images();
  }
  QUINTET_CHECK(
      facts_.takes_rows_of_ghosts,
      "{}: atoms of this model pass messages to each other, and a neighbour of an atom of this rank "
      "lives on another rank; run it on one rank",
      path_);
  system_.owner.clear();
  (void)rows_.take_overflow();  // these rows are counted again
  rows_.fill(atoms, list_of_all(exec, atoms, list), 0, atoms.n_local, facts_.layers, system_);
}

/// Throws InputError where an atom sees an image that has no row of its own. A message that an image brings
/// began at its owner's neighbours, which the model takes to be where the owner is and not where the image
/// is. The virials by atom then are wrong by cell vectors, and depend on where the cell begins; their sum is
/// right.
void ExportedPotential::require_rows_of_images() const {
  QUINTET_CHECK(reaches_as_messages_,
                "{}: atoms of this model pass messages to each other, also through periodic images, which "
                "makes its virials by atom wrong (their sum is right); {}",
                path_, instead_of_atom_virials);
}

/// Add the last result, of centres that begin at local atom `begin`.
void ExportedPotential::add(const ByAtom& by_atom, int begin, Atoms& atoms, Energetics& total) {
  total.energy += result_.energy;
  for (int k = 0; k < 9; ++k) total.virial[k] += result_.virial[k];
  const auto& rows = rows_.rows();
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (int k = 0; k < 3; ++k) atoms.force(rows[a], k) += result_.force[3 * a + k];
    if (by_atom.virial.extent(0) > 0)
      for (int k = 0; k < 9; ++k) by_atom.virial(rows[a], k) += result_.atom_virial[9 * a + k];
  }
  if (by_atom.energy.extent(0) > 0)
    for (int i = 0; i < system_.n_centres; ++i) by_atom.energy(begin + i) = result_.atom_energy[i];
}

void ExportedPotential::tell_overflow(Energetics& total) {
  const auto [overflowing, most] = rows_.take_overflow();
  total.overflowing = overflowing;
  total.most_neighbours = most;
  if (overflowing > 0)
    total.warning = fmt::format(
        "{} more neighbours than the model's sel holds (up to {} within the cutoff): the model leaves some "
        "out, "
        "and the energy jumps when others take their places (train with a larger sel)",
        counted(overflowing, "atom has", "atoms have"), most);
}

std::optional<double> ExportedPotential::memory_needed(const Exec& exec, const Atoms& atoms,
                                                       const NeighbourList& list) {
  if (!facts_.passes_messages) return {};
  if (atoms.n_local == 0) return 0;
  fill_with_messages(exec, atoms, list, reaches_as_messages_);
  (void)rows_.take_overflow();  // compute() counts them
  if (system_.n_rows < 2 * EvaluationBytes::most_sampled) return 0;
  if (!bytes_ || !bytes_->holds_for(system_)) bytes_.emplace(*model_, system_);
  constexpr double as_large = 1.05;  // what another step may take of the same atoms
  const double bytes = bytes_->of(system_);
  return bytes > as_large * evaluated_ ? bytes : 0;
}

Energetics ExportedPotential::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                      const ByAtom& by_atom) {
  const bool virials = by_atom.virial.extent(0) > 0;
  QUINTET_CHECK(!virials || facts_.gives_atom_virials, "{}: this model gives no virials by atom; {}", path_,
                instead_of_atom_virials);
  Kokkos::deep_copy(exec, atoms.force, 0.0);
  if (virials) Kokkos::deep_copy(exec, by_atom.virial, 0.0);
  exec.fence();
  Energetics total;
  const int step = facts_.passes_messages ? std::max(atoms.n_local, 1) : most_centres;
  for (int begin = 0; begin < atoms.n_local; begin += step) {
    if (facts_.passes_messages) {
      fill_with_messages(exec, atoms, list, virials);
    } else {
      rows_.fill(atoms, list, begin, std::min(begin + step, atoms.n_local), 1, system_);
    }
    model_->evaluate(system_, virials, result_);
    if (bytes_) evaluated_ = std::max(evaluated_, bytes_->of(system_));
    add(by_atom, begin, atoms, total);
  }
  tell_overflow(total);
  return total;
}

std::unique_ptr<ExportedModel> open_exported_model(const std::string& path,
                                                   const DeepPotentialOptions& options) {
  const ExportedKind kind = exported_kind(path);
  QUINTET_CHECK(options.precision == Precision::model,
                "{}: an exported model computes with the numbers it was exported in: precision: model", path);
  QUINTET_CHECK(options.compression == Compression::automatic,
                "{}: an exported model is compressed, or not, before it is exported: compress: auto", path);
#ifdef LATE_QUINTET_EXPORTED_LIBRARY
  if (kind == ExportedKind::compiled) {
    const auto package = read_compiled_package(path, options.frame_parameters);
    auto* const open = reinterpret_cast<decltype(&quintet_open_compiled_model)>(
        late_function(LATE_QUINTET_EXPORTED_LIBRARY, "quintet_open_compiled_model"));
    return std::unique_ptr<ExportedModel>(open(package, library_threads()));
  }
  auto* const open = reinterpret_cast<decltype(&quintet_open_exported_model)>(
      late_function(LATE_QUINTET_EXPORTED_LIBRARY, "quintet_open_exported_model"));
  return std::unique_ptr<ExportedModel>(open(path, options.frame_parameters, library_threads()));
#else
  (void)kind;
  throw InputError(
      fmt::format("{}: exported models need LibTorch, without which this program was built; expected a model "
                  "in DeePMD-kit's native format (.dp), or a build with {}",
                  path, with_torch));
#endif
}

std::unique_ptr<ForceField> make_exported_potential(const std::string& path,
                                                    const DeepPotentialOptions& options) {
  return std::make_unique<ExportedPotential>(path, open_exported_model(path, options), options.atom_virials);
}

std::unique_ptr<ForceField> make_potential(const std::string& path, const DeepPotentialOptions& options) {
  if (is_exported(path)) return make_exported_potential(path, options);
  return std::make_unique<DeepPotential>(read_dp(path), options);
}

}  // namespace quintet::potential
