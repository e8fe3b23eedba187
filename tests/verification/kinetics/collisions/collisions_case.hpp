#pragma once

#include <array>
#include <cmath>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/collisions/collisions.hpp"
#include "physics/kinetics/initial/projection.hpp"
#include "physics/kinetics/moments/moments.hpp"
#include "tests/support/stretched_cells.hpp"

namespace quintet::kinetics {

struct CollisionCase {
  int cdim = 1, vdim = 1, order = 2;
  Family family = Family::serendipity;
  friend std::ostream& operator<<(std::ostream& out, const CollisionCase& c) {
    return out << c.cdim << "x" << c.vdim << "v_" << name(c.family) << c.order;
  }
};

/// x in [0, 1] in 2 cells, v in [lower, upper] in n cells each, finer about the middle by sinh(stretch s).
inline PhaseGrid collision_grid(int cdim, int vdim, const std::array<int, 3>& n, double lower = -4.2,
                                double upper = 4, double stretch = 0) {
  PhaseGrid grid;
  grid.cdim = cdim;
  grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    const std::size_t i = d;
    grid.lower[i] = d < cdim ? 0 : lower;
    grid.upper[i] = d < cdim ? 1 : upper;
    grid.cells[i] = d < cdim ? 2 : n[d - cdim];
    grid.periodic[i] = d < cdim;
    if (d >= cdim && stretch != 0) map_velocity(grid, d - cdim, stretch);
  }
  return grid;
}

/// Whether collisions of this kind are made for unequal velocity cells.
inline bool bears_stretching(const CollisionCase& c, CollisionOptions::Operator kind) {
  return kind == CollisionOptions::Operator::bgk || c.order > 1 || c.family == Family::hybrid;
}

/// Moments of f summed over velocity space: component 0: M0, 1 ... vdim: M1, vdim + 1: M2.
inline ConfField all_moments(const Decomposition& decomposition, const PhaseBasis& basis,
                             const Distribution& f) {
  ConfField result("moments", static_cast<std::size_t>(f.block.n_conf()),
                   static_cast<std::size_t>(basis.vdim() + 2), static_cast<std::size_t>(basis.conf().size()));
  moments(Exec(), basis, f, Moment::m0, result, 0);
  moments(Exec(), basis, f, Moment::m1, result, 1);
  moments(Exec(), basis, f, Moment::m2, result, basis.vdim() + 1);
  decomposition.velocity_comm().reduce(std::span(result.data(), result.size()), Comm::Reduction::sum);
  return result;
}

/// One or more species under collisions alone.
struct CollisionRun {
  Decomposition decomposition;
  PhaseBasis basis;
  std::vector<Species> species;
  Collisions collisions;
  std::vector<Distribution> f, rate;
  double time = 0;  ///< of compute_rate()

  CollisionRun(const Comm& comm, const CollisionCase& c, const std::vector<PhaseGrid>& grids,
               const CollisionOptions& options, const std::array<int, 6>& ranks = {},
               const std::vector<double>& masses = {1, 1})
      : decomposition(comm, grids[0], ranks),
        basis(c.cdim, c.vdim, c.order, c.family),
        species(make_species(grids, masses)),
        collisions(decomposition, basis, species, options) {
    for (const auto& s : species) {
      f.emplace_back("f", decomposition.block(s.grid), basis.size());
      rate.emplace_back("rate", decomposition.block(s.grid), basis.size());
    }
  }
  static std::vector<Species> make_species(const std::vector<PhaseGrid>& grids,
                                           const std::vector<double>& masses) {
    std::vector<Species> list;
    for (std::size_t s = 0; s < grids.size(); ++s) {
      list.emplace_back();
      list.back().name = s == 0 ? "electrons" : "ions";
      list.back().mass = masses[s];
      list.back().grid = grids[s];
    }
    return list;
  }
  void project(int s, const PointFunction& function, int n_nodes = 0) {
    project_phase(basis, function, f[s], "f", n_nodes);
  }
  void compute_rate() {
    for (const auto& r : rate) Kokkos::deep_copy(r.data, 0.0);
    collisions.add(Exec(), time, f, 1, rate);
  }
  [[nodiscard]] double stable_dt() const { return 1 / ((2 * basis.order() + 1) * collisions.frequency()); }
  /// SSP-RK3 (Shu & Osher 1988).
  void step(double dt) {
    std::vector<Array<double>> start;
    for (const auto& s : f) {
      start.emplace_back("start", s.data.size());
      Kokkos::deep_copy(start.back(), s.data);
    }
    for (const double keep : {0.0, 0.75, 1.0 / 3}) {
      compute_rate();
      for (std::size_t s = 0; s < f.size(); ++s)
        for (std::size_t i = 0; i < f[s].data.size(); ++i)
          f[s].data(i) = keep * start[s](i) + (1 - keep) * (f[s].data(i) + dt * rate[s].data(i));
    }
  }
  [[nodiscard]] ConfField moments_of(int s) const { return all_moments(decomposition, basis, f[s]); }
};

/// Lenard-Bernstein with frequency nu among `n` species of which only each with itself collides.
inline CollisionOptions self_collisions(double nu, std::size_t n = 1) {
  CollisionOptions options;
  options.frequency.assign(n, std::vector<double>(n, 0));
  for (std::size_t s = 0; s < n; ++s) options.frequency[s][s] = nu;
  return options;
}

/// A lumpy f far from equilibrium, that varies in x and is not small at the ends of velocity space.
inline double lumpy(int cdim, std::span<const double> z) {
  double x = 0, sum = 0, square = 0;
  for (std::size_t d = 0; d < z.size(); ++d) {
    if (d < static_cast<std::size_t>(cdim)) {
      x += std::sin(6.28318530717958648 * z[d] + 0.3);
    } else {
      sum += z[d];
      square += std::pow(z[d] - 0.2 * d, 2);
    }
  }
  return (1 + 0.3 * x) * (std::exp(-square / (1.5 + 0.4 * x)) * (1 + 0.5 * std::sin(2 * sum)) + 0.02);
}

}  // namespace quintet::kinetics
