#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include "physics/particles/device/resident_atoms.hpp"
#include "tests/bench/device/bench.hpp"

/// A rebuild of atoms on several ranks, on a device, alone: one process plays the ranks.
///
///   device_rebuild check   who leaves, the order of those that stay, ghosts, FIRE's sums, beside plain loops
///   device_rebuild time    a rebuild of a brick whose ghosts along x travel and along y and z are images
namespace {

using namespace quintet;

constexpr double range = 7;  // (angstrom)

/// Atoms of water's density in a cube, some of them outside it by a little.
struct Gas {
  int n;
  double length;
  std::vector<double> x, v;
  std::vector<int> type, image;
  std::vector<std::int64_t> id;

  explicit Gas(int n_atoms) : n(n_atoms), length(std::cbrt(n_atoms / 0.1)) {
    device_bench::Numbers numbers;
    for (int i = 0; i < n; ++i) {
      for (int l = 0; l < 3; ++l) {
        x.push_back((0.5 + 0.51 * numbers.next()) * length);
        v.push_back(10 * numbers.next());
        image.push_back(0);
      }
      type.push_back(i % 3 == 0 ? 1 : 0);
      id.push_back(7 * (i + 1));
    }
  }
  [[nodiscard]] HostRows rows(int count) const {
    return {count, count, x.data(), v.data(), x.data(), type.data(), id.data(), image.data(), {1.0, 16.0}};
  }
  [[nodiscard]] CellOfAtoms cell() const {
    CellOfAtoms c{};
    for (int k = 0; k < 3; ++k) {
      c.rows[4 * k] = length;
      c.inverse[4 * k] = 1 / length;
      c.periodic[k] = true;
    }
    c.range = range;
    return c;
  }
  [[nodiscard]] std::array<double, 3> wrapped(int i) const {
    std::array<double, 3> place{};
    for (int l = 0; l < 3; ++l) place[l] = x[3 * i + l] - std::floor(x[3 * i + l] / length) * length;
    return place;
  }
  /// A brick of `grid` of them along x.
  [[nodiscard]] BrickOfAtoms brick(int grid, int rank) const {
    const int cells = std::max(1, static_cast<int>(length / (range / 2)));
    BrickOfAtoms b;
    b.grid = {grid, 1, 1};
    b.rank = rank;
    b.cells_of_box = b.n_cells = {cells, cells, cells};
    b.cells_per_unit = {double(cells), double(cells), double(cells)};
    return b;
  }
};

/// What a ResidentAtoms holds, on the host.
struct Held {
  std::vector<double> x, v, force;
  std::vector<int> type, image;
  std::vector<std::int64_t> id;
  Held(ResidentAtoms& atoms, int n_local, int n_all)
      : x(3 * n_all), v(3 * n_local), force(3 * n_local), type(n_all), image(3 * n_local), id(n_all) {
    atoms.fetch({x.data(), v.data(), force.data(), type.data(), image.data(), id.data()});
  }
};

std::unique_ptr<ResidentAtoms> made() {
  return std::unique_ptr<ResidentAtoms>(quintet_make_resident_atoms(false));
}

/// In place of a message between ranks, whose parcels are in the host's memory.
template <class T>
void carry(const ResidentAtoms::Parcel& from, const ResidentAtoms::Parcel& to, int n) {
  if (n > 0) std::memcpy(to.receive, from.send, n * sizeof(T));
}

/// Ids of the atoms of a half of the cell, by cell, then by id.
std::vector<std::int64_t> ordered(const Gas& gas, int half) {
  const int cells = gas.brick(2, 0).cells_of_box[0];
  std::vector<std::array<std::int64_t, 2>> keys;
  for (int i = 0; i < gas.n; ++i) {
    const auto place = gas.wrapped(i);
    if ((place[0] / gas.length * 2 >= 1) != (half == 1)) continue;
    std::int64_t key = 0;
    for (const double along : place)
      key = key * cells + std::min(cells - 1, static_cast<int>(along / gas.length * cells));
    keys.push_back({key, gas.id[i]});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::int64_t> ids;
  for (const auto& key : keys) ids.push_back(key[1]);
  return ids;
}

bool told(const char* name, double wrong) {
  device_bench::Row("device_rebuild", std::string("check ") + name).number("wrong", wrong);
  return wrong == 0;
}

int check() {
  const Gas gas(40000);
  const CellOfAtoms cell = gas.cell();
  const std::unique_ptr<ResidentAtoms> halves[2] = {made(), made()};
  halves[0]->take_local(gas.rows(gas.n));
  halves[1]->take_local(gas.rows(0));
  const int n_leaving = halves[0]->part(cell, gas.brick(2, 0))[1];
  const double none = halves[1]->part(cell, gas.brick(2, 1))[0];
  carry<AtomRecord>(halves[0]->pack_leaving(0), halves[1]->pack_leaving(n_leaving), n_leaving);
  const int n[2] = {halves[0]->settle(0), halves[1]->settle(n_leaving)};
  bool good = told("none leaves an empty brick", none);
  for (int half = 0; half < 2; ++half) {
    halves[half]->set_steps({});
    const Held held(*halves[half], n[half], n[half]);
    const auto expected = ordered(gas, half);
    double wrong = held.id == expected ? 0 : 1;
    for (int p = 0; p < n[half]; ++p) {
      const int i = held.id[p] / 7 - 1;
      const auto place = gas.wrapped(i);
      wrong += held.type[p] != gas.type[i];
      for (int l = 0; l < 3; ++l)
        wrong += !(std::abs(held.x[3 * p + l] - place[l]) < 1e-9) || held.v[3 * p + l] != gas.v[3 * i + l] ||
                 held.image[3 * p + l] != static_cast<int>(std::floor(gas.x[3 * i + l] / gas.length));
    }
    good = told(half == 0 ? "those that stay" : "those that came", wrong) && good;
  }

  // The upper face of the lower half: a message to the upper half; images of the upper half along y.
  const BrickFace face{0, +1, 0.5, range / gas.length};
  ResidentAtoms &lower = *halves[0], &upper = *halves[1];
  const Held below(lower, n[0], n[0]);
  const int n_sent = lower.select_border(cell, face, 0, n[0]);
  const auto packed = lower.pack_border({0, 0, 0}, 0);
  std::vector<BorderAtom> border(n_sent);
  std::memcpy(border.data(), packed.send, n_sent * sizeof(BorderAtom));
  double wrong = 0;
  std::size_t p = 0;
  for (int i = 0; i < n[0]; ++i) {
    if (below.x[3 * i] / gas.length - face.at < -face.reach) continue;
    wrong += p >= border.size() || border[p].id != below.id[i] || border[p].position[1] != below.x[3 * i + 1];
    ++p;
  }
  good = told("border", wrong + std::abs(double(p) - n_sent)) && good;
  carry<BorderAtom>(packed, upper.pack_border({0, 0, 0}, n_sent), n_sent);
  upper.unpack_border(n_sent);
  const int n_images =
      upper.select_border(cell, {1, -1, 0.0, range / gas.length}, 0, n[1] + static_cast<int>(border.size()));
  upper.image_border(cell, 1, +1);
  GhostPlan::Step message{.travels = true, .first = n[1], .n = n_sent},
      images{.first = n[1] + n_sent, .n = n_images};
  upper.set_steps({message, images});
  const int n_all = n[1] + n_sent + n_images;
  const Held above(upper, n[1], n_all);
  wrong = 0;
  for (int g = n[1] + n_sent; g < n_all; ++g) {
    const std::size_t owner =
        std::find(above.id.begin(), above.id.begin() + n[1] + n_sent, above.id[g]) - above.id.begin();
    wrong += !(above.x[3 * g + 1] == above.x[3 * owner + 1] + gas.length) ||
             above.x[3 * g] != above.x[3 * owner] || above.type[g] != above.type[owner] ||
             above.x[3 * owner + 1] > range * (1 + 1e-6);
  }
  good = told("images", wrong + (n_images == 0)) && good;

  // FIRE's sums and its turn of velocities.
  const ResidentRows rows = upper.rows();
  std::vector<unsigned long long> force(3 * std::int64_t{n_all});
  double sums[3] = {}, largest[2] = {};
  for (int i = 0; i < n[1]; ++i) {
    double squared[2] = {};
    for (int l = 0; l < 3; ++l) {
      const std::size_t at = 3 * std::int64_t{i} + l;
      const long long fixed = (static_cast<long long>(at * 7919 % 2001) - 1000) * (1ll << 40);
      const double f = fixed * 0x1p-44, v = above.v[at];
      force[at] = fixed;
      sums[0] += f * v;
      sums[1] += v * v;
      sums[2] += f * f;
      squared[0] += f * f;
      squared[1] += v * v;
    }
    for (int k = 0; k < 2; ++k) largest[k] = std::max(largest[k], squared[k]);
  }
  Kokkos::deep_copy(
      Kokkos::View<unsigned long long*, device_bench::Space::memory_space, Kokkos::MemoryUnmanaged>(
          rows.force, force.size()),
      Kokkos::View<const unsigned long long*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>(force.data(),
                                                                                          force.size()));
  const auto found = upper.force_velocity_products();
  wrong = 0;
  for (int k = 0; k < 3; ++k) wrong += !(std::abs(found[k] - sums[k]) <= 1e-11 * (sums[1] + sums[2]));
  wrong += !(std::abs(upper.largest_force_squared() / largest[0] - 1) < 1e-14) +
           !(std::abs(upper.largest_velocity_squared() / largest[1] - 1) < 1e-14);
  upper.mix_velocities(0.25, 2.0);
  const Held turned(upper, n[1], n_all);
  for (std::size_t at = 0; at < turned.v.size(); ++at)
    wrong += !(std::abs(turned.v[at] - 0.75 * above.v[at] - 0.5 * turned.force[at]) < 1e-10);
  return told("sums of a minimisation", wrong) && good ? 0 : 3;
}

void time_rebuilds(int n) {
  const Gas gas(n);
  const CellOfAtoms cell = gas.cell();
  const BrickOfAtoms brick = gas.brick(1, 0);
  const auto atoms = made();
  atoms->take_local(gas.rows(n));
  const double reach = range / gas.length;
  double ghosts = 0, parts[2] = {};
  const double seconds = device_bench::median_seconds(9, [&] {
    atoms->drift(0.01);
    const double begin = device_bench::seconds_now();
    (void)atoms->part(cell, brick);
    (void)atoms->pack_leaving(0);
    int n_all = atoms->settle(0), first_sent = 0;
    const double settled = device_bench::seconds_now();
    std::vector<GhostPlan::Step> steps;
    for (int k = 0; k < 3; ++k)
      for (int side = -1, candidates = n_all; side < 2; side += 2) {
        GhostPlan::Step step{.travels = k == 0, .first = n_all, .first_sent = first_sent};
        step.n = step.n_sent =
            atoms->select_border(cell, {k, side, side < 0 ? 0.0 : 1.0, reach}, 0, candidates);
        if (k == 0) {
          const auto parcel = atoms->pack_border({-side * gas.length, 0, 0}, step.n);
          carry<BorderAtom>(parcel, parcel, step.n);
          atoms->unpack_border(step.n);
        } else {
          atoms->image_border(cell, k, -side);
        }
        first_sent += step.n;
        n_all += step.n;
        steps.push_back(step);
      }
    atoms->set_steps(steps);
    Kokkos::fence();
    ghosts = n_all - n;
    parts[0] = settled - begin;
    parts[1] = device_bench::seconds_now() - settled;
  });
  char name[40];
  std::snprintf(name, sizeof name, "%d atoms", n);
  device_bench::Row("device_rebuild", name)
      .number("ghosts", ghosts)
      .number("ns_per_atom", 1e9 * seconds / n)
      .number("order_ns_per_atom", 1e9 * parts[0] / n)
      .number("ghosts_ns_per_atom", 1e9 * parts[1] / n);
}

}  // namespace

int main(int argc, char** argv) {
  const device_bench::Session session("device_rebuild");
  if (!session.ok()) return 4;
  return device_bench::guarded("device_rebuild", [&] {
    if (argc > 1 && std::strcmp(argv[1], "check") == 0) return check();
    const device_bench::Choice choice(argc, argv, std::min(argc, 2));
    for (const int n : choice.quick ? std::vector<int>{20000} : std::vector<int>{12000, 100000, 1000000})
      time_rebuilds(n);
    return 0;
  });
}
