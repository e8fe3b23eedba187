#include "physics/particles/interactions/dispersion.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"
#include "physics/particles/interactions/dispersion_engine.hpp"

namespace quintet {

using namespace dispersion;

namespace {

/// Places of a tensor's entries [3k + l] among xx yy zz xy xz yz.
constexpr int entry_of[9] = {0, 3, 4, 3, 1, 5, 4, 5, 2};

}  // namespace

Dispersion::Dispersion(std::vector<std::string> type_names, DispersionTable table,
                       const DispersionOptions& options)
    : type_names_(std::move(type_names)) {
  const auto& reach = options.reach;
  QUINTET_ASSERT(table.n_types == std::ssize(type_names_), "a table of other types");
  for (const double cutoff : {reach.pairs, reach.triples, reach.coordination})
    QUINTET_CHECK(std::isfinite(cutoff) && cutoff > 0,
                  "a cutoff of dispersion is {} angstrom; expected a positive length", cutoff);
  QUINTET_CHECK(reach.switch_width >= 0 && reach.switch_width < std::min(reach.pairs, reach.triples),
                "dispersion fades over {} angstrom; expected less than its cutoffs, {} and {} angstrom",
                reach.switch_width, reach.pairs, reach.triples);
  if (!table.of_2010.empty())
    log::warning(
        "dispersion of {}: references of 2010, as in the table; programs that take those of 2024 for "
        "elements "
        "from francium on differ",
        name_list(table.of_2010));
  engine_ = std::make_unique<Engine>(std::move(table), options);
}

Dispersion::~Dispersion() = default;

double Dispersion::cutoff() const { return engine_->cutoff(); }

double Dispersion::Engine::cutoff() const {
  const auto& reach = options.reach;
  return std::max({reach.pairs, reach.coordination, has_triples() ? reach.triples : 0.0});
}

std::string Dispersion::description() const {
  const auto& [damping, reach] = engine_->options;
  std::string text = fmt::format(
      "D3 dispersion (s6 = {:g}, s8 = {:g}, a1 = {:g}, a2 = {:g} bohr) of pairs within {:.4g} angstrom",
      damping.s6, damping.s8, damping.a1, damping.a2, reach.pairs);
  if (engine_->has_triples())
    text += fmt::format(", s9 = {:g} of triples within {:.4g} angstrom", damping.s9, reach.triples);
  return text;
}

void Dispersion::Engine::grow(int n_all) {
  n_places = n_all;
  if (stride >= n_all + ColumnSearch::padding) return;
  stride = n_all + n_all / 16 + ColumnSearch::padding;
  for (auto* array : {&x, &y, &z, &bonds, &by_bonds, &row_bonds, &row_by_bonds, &row_energy})
    *array = Array<double>("dispersion::places", stride);
  const std::size_t n = std::size_t(stride) * table.most_references;
  weights = Array<double>("dispersion::weights", n);
  slopes = Array<double>("dispersion::weight_slopes", n);
  row_force = Vectors("dispersion::force", stride);
  row_virial = decltype(row_virial)("dispersion::virial", stride);
}

/// Sort the atoms where they were when the list was made, so that a restart sums in the same order.
void Dispersion::Engine::sort(const Atoms& atoms, const NeighbourList& list) {
  n_local = atoms.n_local;
  type = atoms.type;
  built = list.built;
  if (list.version == version) return;
  version = list.version;
  skin = list.skin;
  search.build(list.built, atoms.type, table.n_types, atoms.n_all(), cutoff() + skin);
  grow(atoms.n_all());
}

void Dispersion::Engine::take_positions(const Exec& exec, const Atoms& atoms) {
  if (n_places == 0) return;  // padding repeats an atom
  const int* const order = search.order();
  const auto position = atoms.position;
  Kokkos::parallel_for("dispersion::positions",
                       Kokkos::RangePolicy<Exec>(exec, 0, n_places + ColumnSearch::padding), [&](int p) {
                         const int i = order[p];
                         x(p) = position(i, 0) / bohr;
                         y(p) = position(i, 1) / bohr;
                         z(p) = position(i, 2) / bohr;
                       });
  exec.fence();
}

/// n_i of the local atoms.
void Dispersion::Engine::count_bonds(const Exec& exec) {
  const double reach = options.reach.coordination, squared = std::pow(reach / bohr, 2);
  Kokkos::parallel_for("dispersion::bonds", Kokkos::RangePolicy<Exec>(exec, 0, n_local), [&](int i) {
    const int place = search.place()[i];
    const Centre centre = centre_at(place);
    P sum{};
    for (int t = 0; t < table.n_types; ++t) {
      const double radius = table.covalent_radius[type(i)] + table.covalent_radius[t];
      search.visit(&built(i, 0), lists_to(reach), t, [&](int begin, int end) {
        for (int p = begin; p < end; p += width) {
          const auto near = centre.near(x.data(), y.data(), z.data(), p, end, squared);
          sum += near.in ? bond(near.r2, radius).value : P{};
        }
      });
    }
    row_bonds(i) = horizontal_sum<double>(sum);
  });
  exec.fence();
}

/// Rows of owners to ghosts, then to places.
void Dispersion::Engine::send(const Exec& exec, const Atoms& atoms, const Array<double>& rows,
                              const Array<double>& places) {
  if (atoms.ghost_rows) atoms.ghost_rows->send_rows(exec, atoms, rows.data(), 1);
  const int* const order = search.order();
  Kokkos::parallel_for("dispersion::to_places",
                       Kokkos::RangePolicy<Exec>(exec, 0, n_places + ColumnSearch::padding),
                       [=](int p) { places(p) = rows(order[p]); });
  exec.fence();
}

void Dispersion::Engine::weigh_references(const Exec& exec) {
  const int m = table.most_references;
  for (int t = 0; t < table.n_types; ++t) {
    const int begin = search.first_place(t), end = search.first_place(t + 1), count = table.n_references[t];
    const double* const references = table.coordination.data() + t * m;
    Kokkos::parallel_for("dispersion::weights",
                         Kokkos::RangePolicy<Exec>(exec, 0, (end - begin + width - 1) / width),
                         [&](int pack) {
                           const int p = begin + pack * width;
                           P weight[most_references], slope[most_references];
                           weigh(load<double>(bonds.data() + p), references, count, weight, slope);
                           // Lanes past the last are of the next type, or padding.
                           for (int a = 0; a < count; ++a)
                             for (int l = 0; l < std::min(width, end - p); ++l) {
                               weights(std::size_t(a) * stride + p + l) = weight[a][l];
                               slopes(std::size_t(a) * stride + p + l) = slope[a][l];
                             }
                         });
  }
  exec.fence();
}

void Dispersion::Engine::contract(const Array<double>& from, int place, int of_type, int t,
                                  double* with) const {
  const int m = table.most_references;
  const double* const c6 = table.c6.data() + std::size_t(of_type * table.n_types + t) * m * m;
  for (int b = 0; b < table.n_references[t]; ++b) {
    with[b] = 0;
    for (int a = 0; a < table.n_references[of_type]; ++a)
      with[b] += from(std::size_t(a) * stride + place) * c6[a * m + b];
  }
}

/// Pairs of a local atom with the atoms of type t, which has `count` references.
///
/// With v_b = sum_a w_a(n_i) C6_ab and S_b = sum_j w_b(n_j) f(r_ij) the energy is sum_b v_b S_b/2 and
/// dE/dn_i = sum_b v'_b S_b, so that a neighbour costs `count` products more than a pair potential.
template <int count>
void Dispersion::Engine::add_pairs_with(int i, int t) {
  const auto& damping = options.damping;
  const int place = search.place()[i];
  double v[most_references], slope[most_references];
  contract(weights, place, type(i), t, v);
  contract(slopes, place, type(i), t, slope);
  const PairDamping pair(damping.s6, damping.s8, damping.a1, damping.a2,
                         table.moment_ratio[type(i)] * table.moment_ratio[t]);
  const Fade fade(options.reach.pairs / bohr, options.reach.switch_width / bohr);
  const Centre centre = centre_at(place);
  P sums[count]{};
  Pull pull;
  search.visit(&built(i, 0), lists_to(options.reach.pairs), t, [&](int begin, int end) {
    for (int p = begin; p < end; p += width) {
      const auto near = centre.near(x.data(), y.data(), z.data(), p, end, fade.squared);
      PairTerm f = pair(near.r2);
      if (fade.acts()) {
        const PairTerm w = fade(near.r2);
        f = {f.value * w.value, f.slope_by_r * w.value + f.value * w.slope_by_r};
      }
      f.value = near.in ? f.value : P{};
      P c6{};
      for (int b = 0; b < count; ++b) {
        const P w = load<double>(weights.data() + std::size_t(b) * stride + p);
        c6 += v[b] * w;
        sums[b] += w * f.value;
      }
      pull.add(near.in ? c6 * f.slope_by_r : P{}, near.dx, near.dy, near.dz);
    }
  });
  for (int b = 0; b < count; ++b) {
    const double sum = horizontal_sum<double>(sums[b]);
    row_energy(i) += 0.5 * v[b] * sum;
    row_by_bonds(i) += slope[b] * sum;
  }
  pull.add_to(&row_force(i, 0), &row_virial(i, 0));
}

void Dispersion::Engine::add_pairs(int i) {
  for (int t = 0; t < table.n_types; ++t) {
    [&]<int... c>(std::integer_sequence<int, c...>) {
      (void)((table.n_references[t] == c + 1 && (add_pairs_with<c + 1>(i, t), true)) || ...);
    }
    (std::make_integer_sequence<int, most_references>());
  }
}

/// Forces through the numbers of neighbours, (dE/dn_i + dE/dn_j) dn/dr along d.
void Dispersion::Engine::add_bond_forces(int i) {
  const double reach = options.reach.coordination, squared = std::pow(reach / bohr, 2);
  const int place = search.place()[i];
  const Centre centre = centre_at(place);
  const P own = broadcast(by_bonds(place));
  Pull pull;
  for (int t = 0; t < table.n_types; ++t) {
    const double radius = table.covalent_radius[type(i)] + table.covalent_radius[t];
    search.visit(&built(i, 0), lists_to(reach), t, [&](int begin, int end) {
      for (int p = begin; p < end; p += width) {
        const auto near = centre.near(x.data(), y.data(), z.data(), p, end, squared);
        const P k = (own + load<double>(by_bonds.data() + p)) * bond(near.r2, radius).slope_by_r;
        pull.add(near.in ? k : P{}, near.dx, near.dy, near.dz);
      }
    });
  }
  pull.add_to(&row_force(i, 0), &row_virial(i, 0));
}

/// Sums of the rows, and rows for the caller, in its units.
Energetics Dispersion::Engine::collect(const Exec& exec, const Atoms& atoms, const ByAtom& by_atom) const {
  const auto force = atoms.force;
  const bool energies = by_atom.energy.extent(0) > 0, virials = by_atom.virial.extent(0) > 0;
  const auto sums =
      blocked_sum<7>(exec, "dispersion::collect", n_local, [&](int i, std::array<double, 7>& sum) {
        sum[0] += row_energy(i);
        for (int k = 0; k < 6; ++k) sum[1 + k] += row_virial(i, k);
        for (int k = 0; k < 3; ++k) force(i, k) = row_force(i, k) * (hartree / bohr);
        if (energies) by_atom.energy(i) = row_energy(i) * hartree;
        for (int kl = 0; virials && kl < 9; ++kl)
          by_atom.virial(i, kl) = row_virial(i, entry_of[kl]) * hartree;
      });
  Kokkos::parallel_for("dispersion::clear_ghosts", Kokkos::RangePolicy<Exec>(exec, n_local, atoms.n_all()),
                       [&](int i) {
                         for (int k = 0; k < 3; ++k) force(i, k) = 0;
                         for (int kl = 0; virials && kl < 9; ++kl) by_atom.virial(i, kl) = 0;
                       });
  exec.fence();
  Energetics total;
  total.energy = sums[0] * hartree;
  for (int kl = 0; kl < 9; ++kl) total.virial[kl] = sums[1 + entry_of[kl]] * hartree;
  return total;
}

Energetics Dispersion::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                               const ByAtom& by_atom) {
  Engine& e = *engine_;
  QUINTET_ASSERT(list.version != 0 && (atoms.n_ghost == 0 || atoms.ghost_rows),
                 "dispersion needs a Domain's ghosts");
  const Kokkos::RangePolicy<Exec> local(exec, 0, atoms.n_local);
  e.sort(atoms, list);
  e.take_positions(exec, atoms);
  e.count_bonds(exec);
  e.send(exec, atoms, e.row_bonds, e.bonds);
  e.weigh_references(exec);
  Kokkos::parallel_for("dispersion::pairs", local, [&](int i) {
    e.row_energy(i) = e.row_by_bonds(i) = 0;
    for (int k = 0; k < 3; ++k) e.row_force(i, k) = 0;
    for (int k = 0; k < 6; ++k) e.row_virial(i, k) = 0;
    e.add_pairs(i);
    if (e.has_triples()) e.add_triples(i);
  });
  exec.fence();
  e.send(exec, atoms, e.row_by_bonds, e.by_bonds);
  Kokkos::parallel_for("dispersion::bond_forces", local, [&](int i) { e.add_bond_forces(i); });
  exec.fence();
  return e.collect(exec, atoms, by_atom);
}

}  // namespace quintet
