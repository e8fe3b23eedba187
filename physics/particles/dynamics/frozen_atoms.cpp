#include "physics/particles/dynamics/frozen_atoms.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "physics/particles/device/resident_atoms.hpp"
#include "physics/particles/dynamics/dynamics_options.hpp"

namespace quintet {

std::vector<std::int64_t> frozen_ids(const FrozenOptions& options, const Configuration& start,
                                     const Copies& copies) {
  for (const auto& type : options.types)
    QUINTET_CHECK(std::find(start.type_names.begin(), start.type_names.end(), type) != start.type_names.end(),
                  "frozen.types: '{}' is not among the types, which are: {}{}", type,
                  name_list(start.type_names), did_you_mean(type, start.type_names));
  std::set<std::int64_t> wanted(options.ids.begin(), options.ids.end());
  const std::vector<double>* ranges[] = {&options.x, &options.y, &options.z};
  const bool region =
      std::any_of(std::begin(ranges), std::end(ranges), [](const auto* r) { return !r->empty(); });
  const auto inside = [&](const Vec3& position) {
    for (int k = 0; k < 3; ++k)
      if (!ranges[k]->empty() && (position[k] < ranges[k]->front() || position[k] > ranges[k]->back()))
        return false;
    return region;
  };
  std::vector<std::int64_t> ids;
  std::int64_t n_atoms = 0;
  for (int a = 0; a < copies[0]; ++a)
    for (int b = 0; b < copies[1]; ++b)
      for (int c = 0; c < copies[2]; ++c)
        for (std::size_t i = 0; i < start.n_atoms(); ++i) {
          ++n_atoms;
          const std::int64_t id = start.ids.empty() ? n_atoms : start.ids[i];
          const auto& type = start.type_names[start.types[i]];
          const bool of_type =
              std::find(options.types.begin(), options.types.end(), type) != options.types.end();
          const bool held = !start.held.empty() && start.held[i] != 0;
          if (wanted.erase(id) > 0 || held || of_type ||
              inside(in_copy(start.positions[i], start.box, a, b, c)))
            ids.push_back(id);
        }
  QUINTET_CHECK(wanted.empty(), "frozen.ids: there is no atom with id {}", *wanted.begin());
  QUINTET_CHECK(!ids.empty(), "the section frozen freezes no atom; check its types and region (angstrom)");
  QUINTET_CHECK(std::ssize(ids) < n_atoms,
                "the section frozen, or the file, freezes all {} atoms; nothing is left to move", ids.size());
  std::sort(ids.begin(), ids.end());
  return ids;
}

void FrozenAtoms::hold_forces(const Exec& exec, const Atoms& atoms) const {
  if (atoms.resident) return atoms.resident->hold_forces();
  hold(exec, atoms, atoms.force);
}

void FrozenAtoms::hold_velocities(const Exec& exec, const Atoms& atoms) const {
  if (atoms.resident) return atoms.resident->hold_velocities();
  hold(exec, atoms, atoms.velocity);
}

void FrozenAtoms::hold(const Exec& exec, const Atoms& atoms, const Vectors& rows) const {
  if (none()) return;
  const auto id = atoms.id;
  const std::int64_t* const first = ids_.data();
  const std::int64_t* const last = first + ids_.size();
  Kokkos::parallel_for("particles::hold_frozen", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_local),
                       [=](int i) {
                         if (!std::binary_search(first, last, id(i))) return;
                         for (int k = 0; k < 3; ++k) rows(i, k) = 0;
                       });
}

}  // namespace quintet
