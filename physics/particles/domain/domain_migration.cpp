#include "physics/particles/domain/domain_migration.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/domain/cell_list.hpp"
#include "physics/particles/domain/domain_grid.hpp"

namespace quintet {
namespace {

/// Crossings that are still counted; a wrapped position has lost its digits long before.
constexpr double most_crossings = 1e6;

std::string describe(const AtomRecord& atom) {
  const auto &x = atom.position, &v = atom.velocity;
  return fmt::format("atom {} at ({:.6g}, {:.6g}, {:.6g}) A with velocity ({:.6g}, {:.6g}, {:.6g}) A/ps",
                     atom.id, x[0], x[1], x[2], v[0], v[1], v[2]);
}

bool is_finite(const double* v) { return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]); }

}  // namespace

AtomRecord record_at(const Atoms& atoms, int i) {
  AtomRecord r;
  for (int l = 0; l < 3; ++l) {
    r.position[l] = atoms.position(i, l);
    r.velocity[l] = atoms.velocity(i, l);
    r.force[l] = atoms.force(i, l);
    r.image[l] = atoms.image(i, l);
  }
  r.id = atoms.id(i);
  r.type = atoms.type(i);
  return r;
}

void pack_records(const Atoms& atoms, std::vector<AtomRecord>& records) {
  records.resize(atoms.n_local);
  for (int i = 0; i < atoms.n_local; ++i) records[i] = record_at(atoms, i);
}

namespace {

void set_row(const AtomRecord& r, Atoms& atoms, int i) {
  for (int l = 0; l < 3; ++l) {
    atoms.position(i, l) = r.position[l];
    atoms.velocity(i, l) = r.velocity[l];
    atoms.force(i, l) = r.force[l];
    atoms.image(i, l) = r.image[l];
  }
  atoms.id(i) = r.id;
  atoms.type(i) = r.type;
}

}  // namespace

void append_record(const AtomRecord& record, Atoms& atoms) {
  const std::size_t n = static_cast<std::size_t>(atoms.n_local) + 1;
  if (n > atoms.capacity()) {
    require_fit(n);
    atoms.reserve(n + n / 4 + 64);
  }
  set_row(record, atoms, atoms.n_local++);
}

void unpack_records(const std::vector<AtomRecord>& records, Atoms& atoms) {
  const std::size_t n = records.size();
  require_fit(n);
  if (n > atoms.capacity()) atoms.reserve(n + n / 16);
  atoms.n_local = n;
  atoms.n_ghost = 0;
  for (int i = 0; i < atoms.n_local; ++i) set_row(records[i], atoms, i);
}

std::string wrap(const Box& box, AtomRecord& atom) {
  constexpr const char* usual = "; the usual cause is too long a step: shorten time.dt, or minimise first";
  if (!is_finite(atom.position) || !is_finite(atom.velocity))
    return describe(atom) + " is not finite" + usual;
  const Vec3 s = box.to_fractional({atom.position[0], atom.position[1], atom.position[2]});
  for (int k = 0; k < 3; ++k) {
    const double crossings = std::floor(s[k]);
    if (!(std::abs(crossings) < most_crossings))
      return fmt::format("{} is more than {:g} cells away{}", describe(atom), most_crossings, usual);
    if (!box.periodic()[k] || crossings == 0) continue;
    for (int l = 0; l < 3; ++l) atom.position[l] -= crossings * box.rows()[3 * k + l];
    atom.image[k] += static_cast<int>(crossings);
  }
  return "";
}

std::string wrap(const Box& box, std::vector<AtomRecord>& records) {
  for (AtomRecord& atom : records)
    if (auto wrong = wrap(box, atom); !wrong.empty()) return wrong;
  return "";
}

int owner_of(const Box& box, const std::array<int, 3>& grid, const double* position) {
  int place[3];
  for (int k = 0; k < 3; ++k) {
    const double s = box.fractional(k, position[0], position[1], position[2]);
    place[k] = std::clamp(std::floor(s * grid[k]), 0.0, grid[k] - 1.0);
  }
  return (place[0] * grid[1] + place[1]) * grid[2] + place[2];
}

void migrate(const Comm& comm, const Box& box, const std::array<int, 3>& grid,
             std::vector<AtomRecord>& records) {
  if (comm.size() == 1) return;
  std::vector<std::vector<AtomRecord>> leaving(comm.size());
  std::size_t n_staying = 0;
  for (const AtomRecord& atom : records) {
    const int owner = owner_of(box, grid, atom.position);
    if (owner == comm.rank()) {
      records[n_staying++] = atom;
    } else {
      leaving[owner].push_back(atom);
    }
  }
  records.resize(n_staying);
  for (const auto& arrived : comm.all_to_all(leaving))
    records.insert(records.end(), arrived.begin(), arrived.end());
}

namespace {
CellGrid cells_for_order(const Box& box, double cell) {
  return make_cell_grid(box, {0, 0, 0}, {1, 1, 1}, cell, 1 << 30);
}
}  // namespace

BrickOfAtoms brick_of(const Box& box, const std::array<int, 3>& grid, int rank, double cell) {
  const CellGrid cells = cells_for_order(box, cell);
  const auto place = place_in(grid, rank);
  BrickOfAtoms brick;
  brick.grid = grid;
  brick.rank = rank;
  brick.cells_of_box = cells.n;
  for (int k = 0; k < 3; ++k) {
    brick.cells_per_unit[k] = cells.per_unit[k];
    brick.first_cell[k] = cells.index(k, static_cast<double>(place[k]) / grid[k]);
    brick.n_cells[k] = cells.index(k, (place[k] + 1.0) / grid[k]) + 1 - brick.first_cell[k];
  }
  return brick;
}

void sort_by_cell(const Box& box, double cell, std::vector<AtomRecord>& records) {
  struct Key {
    int cell;
    int index;
    std::int64_t id;
  };
  const CellGrid grid = cells_for_order(box, cell);
  std::vector<Key> keys(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto& x = records[i].position;
    int c[3];
    for (int k = 0; k < 3; ++k) c[k] = grid.index(k, box.fractional(k, x[0], x[1], x[2]));
    keys[i] = {(c[0] * grid.n[1] + c[1]) * grid.n[2] + c[2], static_cast<int>(i), records[i].id};
  }
  std::sort(keys.begin(), keys.end(),
            [](const Key& a, const Key& b) { return a.cell != b.cell ? a.cell < b.cell : a.id < b.id; });
  // Place p takes the record at keys[p].index. Each cycle of such moves is gone round once.
  for (std::size_t first = 0; first < keys.size(); ++first) {
    if (keys[first].index == static_cast<int>(first)) continue;
    const AtomRecord kept = records[first];
    std::size_t p = first;
    for (;;) {
      const std::size_t from = keys[p].index;
      keys[p].index = p;
      if (from == first) break;
      records[p] = records[from];
      p = from;
    }
    records[p] = kept;
  }
}

}  // namespace quintet
