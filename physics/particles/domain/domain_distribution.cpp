#include "physics/particles/domain/domain_distribution.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/domain/domain_grid.hpp"
#include "physics/particles/domain/domain_migration.hpp"

namespace quintet {
namespace {

/// An atom of the cell on its way to all ranks.
struct CellAtom {
  double position[3], velocity[3];
  std::int64_t id, type;
};
/// Atoms that travel at once.
constexpr std::int64_t part_atoms = 1 << 16;

/// What of a configuration all ranks need.
struct Header {
  Mat3 rows;
  Vec3 origin;
  std::array<bool, 3> periodic;
  bool has_ids;
  std::int64_t n_atoms;
  std::int64_t n_types;
  std::int64_t n_parameters;
};

CellAtom cell_atom(const Configuration& c, std::size_t i) {
  CellAtom atom{};
  std::copy_n(c.positions[i].data(), 3, atom.position);
  if (!c.velocities.empty()) std::copy_n(c.velocities[i].data(), 3, atom.velocity);
  atom.id = c.ids.empty() ? static_cast<std::int64_t>(i) + 1 : c.ids[i];
  atom.type = c.types[i];
  return atom;
}

AtomRecord record_of(const CellAtom& atom) {
  AtomRecord record{};
  std::copy_n(atom.position, 3, record.position);
  std::copy_n(atom.velocity, 3, record.velocity);
  record.id = atom.id;
  record.type = atom.type;
  return record;
}

void check_fit(const Configuration& c, const Box& box) {
  const std::size_t n = c.n_atoms();
  const auto fits = [&](std::size_t size, const char* what) {
    QUINTET_CHECK(size == 0 || size == n, "the configuration has {} {} for {} positions", size, what, n);
  };
  QUINTET_CHECK(c.types.size() == n, "the configuration has {} types for {} positions", c.types.size(), n);
  fits(c.velocities.size(), "velocities");
  fits(c.ids.size(), "ids");
  QUINTET_CHECK(c.parameters.size() == n * c.n_parameters(),
                "the configuration has {} parameters for {} positions", c.parameters.size(), n);
  QUINTET_CHECK(c.masses.empty() || c.masses.size() == c.type_names.size(),
                "the configuration has {} masses for {} type names", c.masses.size(), c.type_names.size());
  for (std::size_t i = 0; i < n; ++i)
    QUINTET_CHECK(c.types[i] >= 0 && c.types[i] < std::ssize(c.type_names),
                  "atom {} has type index {}; expected 0 to {} (one of {} type names)", i + 1, c.types[i],
                  c.type_names.size() - 1, c.type_names.size());
  for (std::size_t i = 0; i < n; ++i) {
    AtomRecord atom = record_of(cell_atom(c, i));
    if (const auto lost = wrap(box, atom); !lost.empty()) throw InputError(lost);
  }
}

std::vector<double> masses_of(const Configuration& c) {
  if (!c.masses.empty()) return c.masses;
  std::vector<double> masses;
  for (const auto& name : c.type_names) masses.push_back(atomic_mass(name));
  return masses;
}

/// Makes the copies of atoms that lie in one brick.
class Brick {
 public:
  Brick(int rank, const std::array<int, 3>& grid, const Header& header, const Copies& copies, Atoms& atoms)
      : rank_(rank),
        grid_(grid),
        place_(place_in(grid, rank)),
        cell_(header.rows, header.periodic, header.origin),
        n_cell_(header.has_ids ? 0 : header.n_atoms),
        copies_(copies),
        atoms_(atoms) {}

  /// @param parameters of the atom
  void add_copies_of(const CellAtom& atom, std::span<const double> parameters) {
    const Vec3 s = cell_.to_fractional({atom.position[0], atom.position[1], atom.position[2]});
    for (int k = 0; k < 3; ++k) find_candidates(k, s[k]);
    for (const int i : candidates_[0])
      for (const int j : candidates_[1])
        for (const int k : candidates_[2]) add_copy(atom, i, j, k, parameters);
  }

 private:
  /// Copies along k in which an atom at fractional coordinate s of the cell may lie in this brick.
  void find_candidates(int k, double s) {
    // Rounding of the copy's own position decides in the end, so what is near the brick is looked at too.
    constexpr double near = 1e-6;
    const double n_bricks = grid_[k], lower = place_[k] - near, upper = place_[k] + 1 + near;
    const bool periodic = cell_.periodic()[k], first = place_[k] == 0, last = place_[k] == grid_[k] - 1;
    candidates_[k].clear();
    for (int copy = 0; copy < copies_[k]; ++copy) {
      double u = (s + copy) / copies_[k];
      if (periodic) u -= std::floor(u);
      const double at = u * n_bricks;
      bool is_near = at >= lower && at <= upper;
      if (periodic)
        is_near = is_near || (last && at < near) || (first && at > n_bricks - near);
      else  // beyond an open end, the last brick's
        is_near = is_near || (first && at < upper) || (last && at > lower);
      if (is_near) candidates_[k].push_back(copy);
    }
  }

  void add_copy(const CellAtom& atom, int i, int j, int k, std::span<const double> parameters) {
    AtomRecord record = record_of(atom);
    if (copies_ != Copies{1, 1, 1}) {
      const Vec3 x = in_copy({atom.position[0], atom.position[1], atom.position[2]}, cell_, i, j, k);
      std::copy_n(x.data(), 3, record.position);
      record.id += ((std::int64_t{i} * copies_[1] + j) * copies_[2] + k) * n_cell_;
    }
    if (!wrap(atoms_.box, record).empty())
      throw InternalError(
          fmt::format("a copy of atom {} cannot be placed", atom.id));  // check_fit lets none by
    if (owner_of(atoms_.box, grid_, record.position) != rank_) return;
    append_record(record, atoms_);
    for (std::size_t l = 0; l < parameters.size(); ++l)
      atoms_.parameters(atoms_.n_local - 1, l) = parameters[l];
  }

  int rank_;
  std::array<int, 3> grid_, place_;
  Box cell_;
  std::int64_t n_cell_;
  Copies copies_;
  Atoms& atoms_;
  std::vector<int> candidates_[3];
};

}  // namespace

Atoms distribute_copies(const Comm& comm, const std::array<int, 3>& grid, double range,
                        const Configuration& c, const Copies& copies) {
  std::vector<double> masses;
  on_root(comm, [&] {
    check_fit(c, replicated(c.box, copies));
    QUINTET_CHECK(c.ids.empty() || copies == Copies({1, 1, 1}),
                  "a configuration with ids of its own cannot be repeated; expected none");
    masses = masses_of(c);
  });
  const auto header = comm.broadcast(Header{c.box.rows(), c.box.origin(), c.box.periodic(), !c.ids.empty(),
                                            static_cast<std::int64_t>(c.n_atoms()), std::ssize(c.type_names),
                                            c.n_parameters()});
  Atoms atoms;
  atoms.box = replicated(Box(header.rows, header.periodic, header.origin), copies);
  atoms.n_global = header.n_atoms * copies[0] * copies[1] * copies[2];
  for (std::int64_t t = 0; t < header.n_types; ++t) {
    atoms.type_names.push_back(comm.broadcast(comm.is_root() ? c.type_names[t] : std::string()));
    atoms.masses.push_back(comm.broadcast(comm.is_root() ? masses[t] : 0.0));
  }

  together(comm, [&] {
    const std::int64_t share = atoms.n_global / comm.size();
    require_fit(share);
    double rows = 1.03 * share + 64;
    for (int k = 0; k < 3; ++k)
      if (atoms.box.periodic()[k] || grid[k] > 1) rows *= 1 + 2 * range * grid[k] / atoms.box.width(k);
    // Of a cell much smaller than the range there may be many ghosts, but few atoms.
    rows = std::min({rows, 2.0 * share + 4096, static_cast<double>(most_rows)});
    atoms.reserve(rows);
    if (header.n_parameters > 0)
      atoms.parameters =
          decltype(atoms.parameters)("particles::parameters", atoms.capacity(), header.n_parameters);
  });
  Brick brick(comm.rank(), grid, header, copies, atoms);
  const std::size_t n_parameters = header.n_parameters;
  std::vector<CellAtom> part;
  std::vector<double> parameters;
  for (std::int64_t begin = 0; begin < header.n_atoms; begin += part_atoms) {
    const std::int64_t end = std::min(begin + part_atoms, header.n_atoms);
    part.resize(end - begin);
    for (std::int64_t i = begin; comm.is_root() && i < end; ++i) part[i - begin] = cell_atom(c, i);
    comm.broadcast(std::span<CellAtom>(part));
    parameters.resize(part.size() * n_parameters);
    if (comm.is_root() && n_parameters > 0)
      std::copy_n(c.parameters.begin() + begin * n_parameters, parameters.size(), parameters.begin());
    if (n_parameters > 0) comm.broadcast(std::span<double>(parameters));
    together(comm, [&] {
      const std::span<const double> rows(parameters);
      for (std::size_t i = 0; i < part.size(); ++i)
        brick.add_copies_of(part[i], rows.subspan(i * n_parameters, n_parameters));
    });
  }
  return atoms;
}

}  // namespace quintet
