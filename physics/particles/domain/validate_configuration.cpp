#include "physics/particles/domain/validate_configuration.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/domain/domain.hpp"

namespace quintet {
namespace {

bool is_usable(const Vec3& v, double most) {
  return std::all_of(v.begin(), v.end(), [&](double c) { return std::abs(c) <= most; });  // false for NaN
}

std::string text(const Vec3& x) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", x[0] + 0.0, x[1] + 0.0, x[2] + 0.0);  // no -0
}

/// "5 (Cu)": how messages name an atom, by its id.
std::string name_of(const Configuration& c, std::size_t i) {
  return fmt::format("{} ({})", c.ids.empty() ? static_cast<std::int64_t>(i) + 1 : c.ids[i],
                     c.type_names[c.types[i]]);
}

void validate_sizes(const Configuration& c) {
  const std::size_t n = c.n_atoms();
  QUINTET_CHECK(n > 0, "the configuration has no atoms; expected at least one");
  const auto check = [&](std::size_t size, bool optional, const char* what) {
    QUINTET_CHECK(size == n || (optional && size == 0),
                  "the configuration has {} {} for {} positions; expected one an atom", size, what, n);
  };
  check(c.types.size(), false, "types");
  check(c.ids.size(), true, "ids");
  check(c.velocities.size(), true, "velocities");
  check(c.forces.size(), true, "forces");
  QUINTET_CHECK(c.masses.empty() || c.masses.size() == c.type_names.size(),
                "the configuration has {} masses for {} types; expected one a type", c.masses.size(),
                c.type_names.size());
  for (std::size_t t = 0; t < c.masses.size(); ++t)
    QUINTET_CHECK(c.masses[t] > 0 && std::isfinite(c.masses[t]),
                  "the mass of type {} is {} amu; expected a positive number", c.type_names[t], c.masses[t]);
}

void validate_atoms(const Configuration& c) {
  constexpr double farthest = 1e7, fastest = 1e7;  // a millimetre; 3 % of the speed of light
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    QUINTET_CHECK(c.types[i] >= 0 && c.types[i] < std::ssize(c.type_names),
                  "atom {} has type index {}; expected one of {} types, from 0", i + 1, c.types[i],
                  c.type_names.size());
    QUINTET_CHECK(is_usable(c.positions[i], farthest),
                  "the position of atom {} is {} A; expected finite numbers of at most {:g} A", name_of(c, i),
                  text(c.positions[i]), farthest);
    QUINTET_CHECK(c.velocities.empty() || is_usable(c.velocities[i], fastest),
                  "the velocity of atom {} is {} A/ps; expected finite numbers of at most {:g} A/ps",
                  name_of(c, i), text(c.velocities[i]), fastest);
  }
}

void validate_ids(const Configuration& c) {
  auto ids = c.ids;
  std::sort(ids.begin(), ids.end());
  QUINTET_CHECK(ids.empty() || ids.front() >= 1, "an atom has the id {}; expected ids from 1", ids.front());
  const auto twice = std::adjacent_find(ids.begin(), ids.end());
  QUINTET_CHECK(twice == ids.end(), "two atoms have the id {}; expected unique ids", *twice);
}

void validate_distances(const Configuration& c, double least) {
  Configuration plain;  // ids are places here, masses do not matter
  plain.box = c.box;
  plain.type_names = c.type_names;
  plain.types = c.types;
  plain.positions = c.positions;
  plain.masses.assign(c.type_names.size(), 1.0);
  const Exec exec;
  Domain domain(Comm::self(), {.cutoff = least, .skin = 0.0}, c.box);
  Atoms atoms = domain.distribute(plain);
  domain.rebuild(exec, atoms);
  const auto& list = domain.list();
  for (int i = 0; i < atoms.n_local; ++i)
    for (std::size_t p = list.offset(i); p < list.offset(i + 1); ++p) {
      const int j = list.neighbour(p);
      const double distance =
          std::hypot(atoms.position(j, 0) - atoms.position(i, 0), atoms.position(j, 1) - atoms.position(i, 1),
                     atoms.position(j, 2) - atoms.position(i, 2));
      const auto first = atoms.id(i) - 1, second = atoms.id(j) - 1;
      const int digits = least - distance < 1e-3 * least ? 17 : 3;  // rounded it would be what is expected
      throw InputError(
          fmt::format("atoms {} and {} overlap: they are {:.{}g} A apart (periodic images included), at {} "
                      "and {} A; expected at least "
                      "{:g} A; remove one, or check the cell and the unit of length (angstrom)",
                      name_of(c, first), first == second ? "its own image" : name_of(c, second), distance,
                      digits, text(c.positions[first]), text(c.positions[second]), least));
    }
}

}  // namespace

void validate(const Configuration& configuration, double least_distance) {
  validate_sizes(configuration);
  validate_atoms(configuration);
  validate_ids(configuration);
  validate_distances(configuration, least_distance);
}

}  // namespace quintet
