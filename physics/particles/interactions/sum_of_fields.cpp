#include "physics/particles/interactions/sum_of_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/atom_parameters.hpp"
#include "physics/particles/domain/neighbour_list.hpp"
#include "physics/particles/interactions/atom_group.hpp"

namespace quintet {

namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

template <class View>
void add_rows(const Exec& exec, const View& from, const View& to, int n, int width) {
  const double* const in = from.data();
  double* const out = to.data();
  Kokkos::parallel_for("sum::add_rows", Kokkos::RangePolicy<Exec>(exec, 0, std::size_t(n) * width),
                       [=](std::size_t k) { out[k] += in[k]; });
}

}  // namespace

struct SumOfFields::Part {
  std::unique_ptr<ForceField> field;
  std::vector<std::string> types;
  AtomGroup group;
  // What it gave last, if another sum shares it, for which list and where.
  std::uint64_t version = 0;
  std::vector<double> positions, forces;
  Energetics total;

  /// Whether it was evaluated last for this list and these positions. The list's version tells which atoms
  /// there are, positions where they and their images are.
  [[nodiscard]] bool knows(const Atoms& atoms, const NeighbourList& list) const {
    const std::size_t n = 3 * static_cast<std::size_t>(atoms.n_all());
    return version == list.version && version != 0 && positions.size() == n &&
           std::equal(positions.begin(), positions.end(), atoms.position.data());
  }
  Energetics take(Atoms& atoms) const {
    std::copy(forces.begin(), forces.end(), atoms.force.data());
    return total;
  }
  Energetics compute_and_keep(const Exec& exec, Atoms& atoms, const NeighbourList& list) {
    total = group.compute(exec, *field, atoms, list, ByAtom());
    exec.fence();
    const std::size_t n = 3 * static_cast<std::size_t>(atoms.n_all());
    version = list.version;
    positions.assign(atoms.position.data(), atoms.position.data() + n);
    forces.assign(atoms.force.data(), atoms.force.data() + n);
    return total;
  }
};

SumOfFields::SumOfFields(std::vector<FieldTerm> terms) {
  for (auto& term : terms) add(std::move(term));
}

void SumOfFields::add(FieldTerm term) {
  const auto& known = term.field->type_names();
  for (const auto& name : term.types)
    QUINTET_CHECK(contains(known, name), "a term of the potential is to act on type '{}', but knows {}{}",
                  name, name_list(known), did_you_mean(name, known));
  require_same_parameters(n_atom_parameters(), term.field->n_atom_parameters());
  auto part = std::make_shared<Part>();
  part->types = term.types.empty() ? known : std::move(term.types);
  part->field = std::move(term.field);
  for (const auto& name : part->types)
    if (!contains(type_names_, name)) type_names_.push_back(name);
  parts_.insert(parts_.begin() + static_cast<std::ptrdiff_t>(n_own_++), std::move(part));
  for (auto& each : parts_) each->group = AtomGroup(type_names_, each->types, each->field->type_names());
}

bool SumOfFields::share_terms(const SumOfFields& other, const Comm& comm) {
  auto types = type_names_;
  for (std::size_t k = 1; k < other.parts_.size(); ++k)
    for (const auto& name : other.parts_[k]->types)
      if (!contains(types, name)) types.push_back(name);
  if (types != other.type_names_) return false;
  type_names_ = std::move(types);
  parts_.insert(parts_.end(), other.parts_.begin() + 1, other.parts_.end());
  comm_ = std::make_shared<const Comm>(comm);
  for (auto& each : parts_) each->group = AtomGroup(type_names_, each->types, each->field->type_names());
  return true;
}

SumOfFields::~SumOfFields() = default;

double SumOfFields::cutoff() const {
  double most = 0;
  for (const auto& part : parts_) most = std::max(most, part->field->cutoff());
  return most;
}

int SumOfFields::n_atom_parameters() const {
  int most = 0;
  for (const auto& part : parts_) most = std::max(most, part->field->n_atom_parameters());
  return most;
}

double SumOfFields::list_cutoff() const {
  double most = 0;
  for (const auto& part : parts_)
    if (part->field->needs_list()) most = std::max(most, part->field->list_cutoff());
  return most;
}

bool SumOfFields::needs_list() const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [](const auto& part) { return part->field->needs_list(); });
}

std::string SumOfFields::description() const {
  std::string text;
  for (const auto& part : parts_) {
    text += (text.empty() ? "" : ", plus ") + part->field->description();
    if (!part->group.is_all()) text += " (of " + name_list(part->types) + ")";
  }
  return text;
}

/// Of the term that needs most: they are evaluated one after another.
std::optional<double> SumOfFields::memory_needed(const Exec& exec, const Atoms& atoms,
                                                 const NeighbourList& list) {
  std::optional<double> most;
  for (auto& part : parts_)
    if (const auto bytes = part->group.memory_needed(exec, *part->field, atoms, list))
      most = std::max(most.value_or(0), *bytes);
  return most;
}

/// ForceField::compute() of part k. What a part of another sum gave is taken where all ranks have it: a term
/// may send messages.
Energetics SumOfFields::compute(const Exec& exec, std::size_t k, Atoms& atoms, const NeighbourList& list,
                                const ByAtom& by_atom) {
  Part& part = *parts_[k];
  const bool is_by_atom = by_atom.energy.extent(0) > 0 || by_atom.virial.extent(0) > 0;
  const bool is_shared = parts_[k].use_count() > 1;
  if (is_shared && k >= n_own_ && !comm_->any(is_by_atom || !part.knows(atoms, list)))
    return part.take(atoms);
  if (is_shared && !is_by_atom) return part.compute_and_keep(exec, atoms, list);
  return part.group.compute(exec, *part.field, atoms, list, by_atom);
}

Energetics SumOfFields::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                const ByAtom& by_atom) {
  const int n = atoms.n_all();
  const bool energies = by_atom.energy.extent(0) > 0, virials = by_atom.virial.extent(0) > 0;
  if (static_cast<int>(force_.extent(0)) < n) force_ = make_view<Vectors>("sum::force", n + n / 16);
  if (energies && energy_.extent(0) < by_atom.energy.extent(0))
    energy_ = Array<double>("sum::energy", by_atom.energy.extent(0));
  if (virials && virial_.extent(0) < by_atom.virial.extent(0))
    virial_ = Tensors("sum::virial", by_atom.virial.extent(0));
  Kokkos::deep_copy(exec, force_, 0.0);
  if (energies) Kokkos::deep_copy(exec, by_atom.energy, 0.0);
  if (virials) Kokkos::deep_copy(exec, by_atom.virial, 0.0);
  exec.fence();

  // Each term overwrites what it is given: in arrays of this sum, which are then added up.
  const ByAtom own(energies ? energy_ : Array<double>(), virials ? virial_ : Tensors());
  Energetics total;
  for (std::size_t k = 0; k < parts_.size(); ++k) {
    const Energetics term = compute(exec, k, atoms, list, own);
    exec.fence();
    add_rows(exec, atoms.force, force_, n, 3);
    if (energies) add_rows(exec, energy_, by_atom.energy, atoms.n_local, 1);
    if (virials) add_rows(exec, virial_, by_atom.virial, n, 9);
    exec.fence();
    total.energy += term.energy;
    for (int k = 0; k < 9; ++k) total.virial[k] += term.virial[k];
    if (total.warning.empty()) total.warning = term.warning;
    total.overflowing += term.overflowing;
    total.most_neighbours = std::max(total.most_neighbours, term.most_neighbours);
  }
  Kokkos::parallel_for("sum::take", Kokkos::RangePolicy<Exec>(exec, 0, n), [&](int i) {
    for (int k = 0; k < 3; ++k) atoms.force(i, k) = force_(i, k);
  });
  exec.fence();
  return total;
}

}  // namespace quintet
