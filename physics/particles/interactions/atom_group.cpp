#include "physics/particles/interactions/atom_group.hpp"

#include <algorithm>

#include "physics/particles/domain/neighbour_list.hpp"

namespace quintet {

/// Rows of the group's ghosts, by way of all atoms' rows.
class AtomGroup::Rows final : public GhostRows {
 public:
  void set(const Atoms& atoms, const std::vector<int>& row) {
    atoms_ = &atoms;
    row_ = &row;
  }
  void send_rows(const Exec& exec, const Atoms& part, double* rows, int width) override {
    all_.resize(std::size_t(atoms_->n_all()) * width);
    const auto copy = [&](int first, int last, bool out) {
      for (int g = first; g < last; ++g)
        for (int l = 0; l < width; ++l) {
          double &there = all_[std::size_t((*row_)[g]) * width + l], &here = rows[std::size_t(g) * width + l];
          (out ? there : here) = out ? here : there;
        }
    };
    exec.fence();
    copy(0, part.n_local, true);
    atoms_->ghost_rows->send_rows(exec, *atoms_, all_.data(), width);
    exec.fence();
    copy(part.n_local, part.n_all(), false);
  }

 private:
  const Atoms* atoms_ = nullptr;
  const std::vector<int>* row_ = nullptr;
  std::vector<double> all_;
};

AtomGroup::AtomGroup(const std::vector<std::string>& all, const std::vector<std::string>& types,
                     const std::vector<std::string>& known)
    : is_all_(all == known && types.size() == all.size()), known_(known) {
  for (const auto& name : all) {
    const bool is_in = std::find(types.begin(), types.end(), name) != types.end();
    const auto at = std::find(known.begin(), known.end(), name);
    known_type_.push_back(is_in ? static_cast<int>(at - known.begin()) : -1);
  }
}

/// Find the group's rows, and the pairs between them.
void AtomGroup::choose(const Atoms& atoms, const NeighbourList& list, bool with_list) {
  row_.clear();
  std::vector<int> group_row(atoms.n_all(), -1);
  for (int i = 0; i < atoms.n_all(); ++i) {
    if (i == atoms.n_local) part_.n_local = row_.size();
    if (known_type_[atoms.type(i)] < 0) continue;
    group_row[i] = row_.size();
    row_.push_back(i);
  }
  const int n = row_.size();
  if (atoms.n_ghost == 0) part_.n_local = n;
  part_.n_ghost = n - part_.n_local;
  if (static_cast<int>(part_.capacity()) < n) part_.reserve(n + n / 16);
  if (const int n_parameters = atoms.n_parameters(); n_parameters > 0) {
    part_.parameters = decltype(part_.parameters)("group::parameters", part_.capacity(), n_parameters);
    for (int g = 0; g < part_.n_local; ++g)
      for (int k = 0; k < n_parameters; ++k) part_.parameters(g, k) = atoms.parameters(row_[g], k);
  }
  if (static_cast<int>(list_.built.extent(0)) < n)
    list_.built = make_view<Vectors>("group::built", n + n / 16);
  for (int g = 0; g < n; ++g) {
    part_.type(g) = known_type_[atoms.type(row_[g])];
    part_.id(g) = atoms.id(row_[g]);
    for (int k = 0; k < 3; ++k) list_.built(g, k) = list.built(row_[g], k);
  }
  part_.type_names = known_;
  part_.masses.assign(known_.size(), 1.0);  // nothing moves here
  part_.n_global = atoms.n_global;          // and nobody counts them
  list_.range = list.range;
  list_.skin = list.skin;
  list_.version = new_list_version();
  if (!with_list) return;
  // Rows are ordered by the force field's types, within a type as they were.
  std::vector<int> neighbours;
  list_.offset = make_view<Array<std::size_t>>("group::offset", part_.n_local + 1);
  list_.offset(0) = 0;
  for (int g = 0; g < part_.n_local; ++g) {
    const std::size_t begin = neighbours.size();
    for (std::size_t c = list.offset(row_[g]); c < list.offset(row_[g] + 1); ++c)
      if (const int j = group_row[list.neighbour(c)]; j >= 0) neighbours.push_back(j);
    std::stable_sort(neighbours.begin() + begin, neighbours.end(),
                     [&](int a, int b) { return part_.type(a) < part_.type(b); });
    list_.offset(g + 1) = neighbours.size();
  }
  list_.neighbour = make_view<Array<int>>("group::neighbours", neighbours.size());
  std::copy(neighbours.begin(), neighbours.end(), list_.neighbour.data());
}

/// The group as the atoms are now.
void AtomGroup::take(const Atoms& atoms, const NeighbourList& list, bool with_list) {
  if (version_ != list.version || list.version == 0) choose(atoms, list, with_list);
  version_ = list.version;
  part_.box = atoms.box;
  if (!ghost_rows_) part_.ghost_rows = ghost_rows_ = std::make_shared<Rows>();
  ghost_rows_->set(atoms, row_);
  for (int g = 0; g < part_.n_all(); ++g)
    for (int k = 0; k < 3; ++k) part_.position(g, k) = atoms.position(row_[g], k);
}

std::optional<double> AtomGroup::memory_needed(const Exec& exec, ForceField& field, const Atoms& atoms,
                                               const NeighbourList& list) {
  if (is_all_) return field.memory_needed(exec, atoms, list);
  take(atoms, list, field.needs_list());
  return field.memory_needed(exec, part_, list_);
}

Energetics AtomGroup::compute(const Exec& exec, ForceField& field, Atoms& atoms, const NeighbourList& list,
                              const ByAtom& by_atom) {
  if (is_all_) return field.compute(exec, atoms, list, by_atom);
  take(atoms, list, field.needs_list());
  const bool energies = by_atom.energy.extent(0) > 0, virials = by_atom.virial.extent(0) > 0;
  const int n = part_.n_all();
  if (energies && static_cast<int>(energy_.extent(0)) < part_.n_local)
    energy_ = Array<double>("group::energy", part_.capacity());
  if (virials && static_cast<int>(virial_.extent(0)) < n)
    virial_ = Tensors("group::virial", part_.capacity());

  const Energetics total = field.compute(
      exec, part_, list_, ByAtom(energies ? energy_ : Array<double>(), virials ? virial_ : Tensors()));
  exec.fence();
  const auto force = atoms.force;
  Kokkos::parallel_for("group::clear", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_all()), [=](int i) {
    for (int k = 0; k < 3; ++k) force(i, k) = 0;
    if (energies && i < static_cast<int>(by_atom.energy.extent(0))) by_atom.energy(i) = 0;
    for (int k = 0; virials && k < 9; ++k) by_atom.virial(i, k) = 0;
  });
  exec.fence();
  for (int g = 0; g < n; ++g) {
    for (int k = 0; k < 3; ++k) force(row_[g], k) = part_.force(g, k);
    if (energies && g < part_.n_local) by_atom.energy(row_[g]) = energy_(g);
    for (int k = 0; virials && k < 9; ++k) by_atom.virial(row_[g], k) = virial_(g, k);
  }
  return total;
}

}  // namespace quintet
