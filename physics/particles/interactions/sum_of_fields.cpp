#include "physics/particles/interactions/sum_of_fields.hpp"

#include <algorithm>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
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
};

SumOfFields::SumOfFields(std::vector<FieldTerm> terms) {
  for (auto& term : terms) add(std::move(term));
}

void SumOfFields::add(FieldTerm term) {
  const auto& known = term.field->type_names();
  for (const auto& name : term.types)
    QUINTET_CHECK(contains(known, name), "a term of the potential is to act on type '{}', but knows {}{}",
                  name, name_list(known), did_you_mean(name, known));
  auto part = std::make_unique<Part>();
  part->types = term.types.empty() ? known : std::move(term.types);
  part->field = std::move(term.field);
  for (const auto& name : part->types)
    if (!contains(type_names_, name)) type_names_.push_back(name);
  parts_.push_back(std::move(part));
  for (auto& each : parts_) each->group = AtomGroup(type_names_, each->types, each->field->type_names());
}

SumOfFields::~SumOfFields() = default;

double SumOfFields::cutoff() const {
  double most = 0;
  for (const auto& part : parts_) most = std::max(most, part->field->cutoff());
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
  for (auto& part : parts_) {
    const Energetics term = part->group.compute(exec, *part->field, atoms, list, own);
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
