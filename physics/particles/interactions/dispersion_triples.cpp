#include <algorithm>
#include <cmath>

#include "physics/particles/interactions/dispersion_engine.hpp"

namespace quintet {

using namespace dispersion;

/// Neighbours of a local atom within the cutoff of triples.
void Dispersion::Engine::find_triple_neighbours(int i, TripleNeighbours& list) const {
  const double reach = options.reach.triples;
  const int place = search.place()[i];
  const Fade fade(reach / bohr, options.reach.switch_width / bohr);
  const Centre centre = centre_at(place);
  list.clear(table.n_types);
  for (int t = 0; t < table.n_types; ++t) {
    double v[most_references], slope[most_references];
    contract(weights, place, type(i), t, v);
    contract(slopes, place, type(i), t, slope);
    const double radius = std::pow(table.triple_radius[type(i) * table.n_types + t], 2);
    search.visit(&built(i, 0), lists_to(reach), t, [&](int begin, int end) {
      list.reserve(list.n + end - begin + 2 * width);
      for (int p = begin; p < end; p += width) {
        const auto near = centre.near(x.data(), y.data(), z.data(), p, end, fade.squared);
        const P damping = triple_damping(near.r2, radius);
        const PairTerm fades = fade.acts() ? fade(near.r2) : PairTerm{broadcast(1.0), P{}};
        for (int l = 0; l < std::min(width, end - p); ++l) {
          if (near.in[l] == 0) continue;
          double c6 = 0, slope_of_c6 = 0;
          for (int b = 0; b < table.n_references[t]; ++b) {
            const double w = weights(std::size_t(b) * stride + p + l);
            c6 += v[b] * w;
            slope_of_c6 += slope[b] * w;
            list.weights[b][list.n] = w;
          }
          list.x[list.n] = near.dx[l];
          list.y[list.n] = near.dy[l];
          list.z[list.n] = near.dz[l];
          list.r2[list.n] = near.r2[l];
          list.c6[list.n] = c6;
          list.by_bonds[list.n] = slope_of_c6 / c6;
          list.damping[list.n] = damping[l];
          list.fade[list.n] = fades.value[l];
          list.slope[list.n] = fades.value[l] > 0 ? 0.5 * fades.slope_by_r[l] / fades.value[l] : 0;
          list.place[list.n++] = p + l;
        }
      }
    });
    list.first[t + 1] = list.n;
  }
}

/// Triangles (i, j, k) of a local atom i for one neighbour j and all k after it.
///
/// With E the energy of a triangle, a = r_ij^2 and b = r_ik^2: the force on i is 2 (dE/da d_ij + dE/db d_ik),
/// and dE/dn_i = E/2 (d ln C6_ij/dn_i + d ln C6_ik/dn_i).
void Dispersion::Engine::add_triangles(const TripleNeighbours& list, int j, int type_j, Pull& pull,
                                       TripleSums& sums) const {
  const Fade fade(options.reach.triples / bohr, options.reach.switch_width / bohr);
  const P lane = lane_numbers(), xj = broadcast(list.x[j]), yj = broadcast(list.y[j]),
          zj = broadcast(list.z[j]), a = broadcast(list.r2[j]), damping_j = broadcast(list.damping[j]);
  const double strength = options.damping.s9 * list.fade[j];
  P by_a{}, energy{};
  for (int t = type_j; t < table.n_types; ++t) {
    double v[most_references];
    contract(weights, list.place[j], type_j, t, v);
    for (int b = 0; b < table.n_references[t]; ++b) v[b] *= list.c6[j];
    const double radius = std::pow(table.triple_radius[type_j * table.n_types + t], 2);
    const int end = list.first[t + 1];
    for (int k = std::max(list.first[t], j + 1); k < end; k += width) {
      const P x = load<double>(list.x.data() + k), y = load<double>(list.y.data() + k),
              z = load<double>(list.z.data() + k), b = load<double>(list.r2.data() + k);
      const P dx = x - xj, dy = y - yj, dz = z - zj, c = dx * dx + dy * dy + dz * dz;
      const auto in = (c <= broadcast(fade.squared)) & (lane < broadcast(double(end - k)));
      P c6{};  // of jk, times that of ij
      for (int r = 0; r < table.n_references[t]; ++r) c6 += v[r] * load<double>(list.weights[r].data() + k);
      const P damping = damping_j * load<double>(list.damping.data() + k) * triple_damping(c, radius);
      const auto shape = triangle(a, b, c, damping);
      P scale =
          strength * load<double>(list.fade.data() + k) * square_root(c6 * load<double>(list.c6.data() + k));
      if (fade.acts()) scale *= fade(c).value;
      const P e = in ? scale * shape.energy : P{};
      by_a += (in ? scale * shape.by_a : P{}) + e * list.slope[j];
      const P by_b = (in ? scale * shape.by_b : P{}) + e * load<double>(list.slope.data() + k);
      pull.add(in ? 2.0 * by_b : P{}, x, y, z);
      energy += e;
      sums.by_bonds += in ? 0.5 * e * load<double>(list.by_bonds.data() + k) : P{};
    }
  }
  pull.add(2.0 * by_a, xj, yj, zj);
  sums.by_bonds += 0.5 * list.by_bonds[j] * energy;
  sums.energy += energy;
}

/// Triangles of a local atom: each of its corners takes a third of the energy, and the force on itself.
void Dispersion::Engine::add_triples(int i) {
  static thread_local TripleNeighbours list;
  find_triple_neighbours(i, list);
  Pull pull;
  TripleSums sums;
  for (int t = 0; t < table.n_types; ++t)
    for (int j = list.first[t]; j < list.first[t + 1]; ++j) add_triangles(list, j, t, pull, sums);
  row_energy(i) += horizontal_sum<double>(sums.energy) / 3;
  row_by_bonds(i) += horizontal_sum<double>(sums.by_bonds);
  pull.add_to(&row_force(i, 0), &row_virial(i, 0));
}

}  // namespace quintet
