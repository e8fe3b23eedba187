#include "physics/particles/observables/bond_search.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

/// Add to bonds[i] those of points[i] to visitors.
void add_bonds(const Exec& exec, const PointCells& visitors, std::span<const TypedPoint> points,
               std::span<const double> cutoffs, int n_types, std::span<std::vector<Bond>> bonds) {
  const TypedPoint* const point = points.data();
  const PointCells* const cells = &visitors;
  const double* const cutoff = cutoffs.data();
  std::vector<Bond>* const found = bonds.data();
  Kokkos::parallel_for("particles::find_bonds", Kokkos::RangePolicy<Exec>(exec, 0, points.size()),
                       [=](std::size_t i) {
                         const auto keep = [&](const TypedPoint& other, const double* d, double square) {
                           const double longest = cutoff[point[i].type * n_types + other.type];
                           if (square < longest * longest)
                             found[i].push_back({{d[0], d[1], d[2]}, std::sqrt(square), other.type});
                         };
                         cells->visit_near(point[i].x, keep);
                       });
  exec.fence();
}

}  // namespace

double angle_between(const Bond& p, const Bond& q) {
  const double x = p.d[1] * q.d[2] - p.d[2] * q.d[1], y = p.d[2] * q.d[0] - p.d[0] * q.d[2],
               z = p.d[0] * q.d[1] - p.d[1] * q.d[0];
  const double dot = p.d[0] * q.d[0] + p.d[1] * q.d[1] + p.d[2] * q.d[2];
  return std::atan2(std::sqrt(x * x + y * y + z * z), dot);
}

std::vector<std::vector<Bond>> find_bonds(const Exec& exec, const Comm& comm, const Box& box,
                                          const std::vector<TypedPoint>& points,
                                          std::span<const double> cutoffs, int n_types) {
  const double longest = *std::max_element(cutoffs.begin(), cutoffs.end());
  std::vector<std::vector<Bond>> bonds(points.size());
  std::vector<TypedPoint> visitors = points;
  for (int turn = 0; turn < comm.size(); ++turn) {
    if (turn > 0) visitors = pass_round(comm, visitors);
    add_bonds(exec, PointCells(box, visitors, longest), points, cutoffs, n_types, bonds);
  }
  return bonds;
}

std::vector<std::vector<Bond>> listed_bonds(const Exec& exec, const Atoms& atoms, const NeighbourList& list,
                                            std::span<const int> number, std::span<const double> cutoffs,
                                            int n_types) {
  const double longest = *std::max_element(cutoffs.begin(), cutoffs.end());
  std::vector<std::vector<Bond>> bonds(atoms.n_local);
  std::vector<Bond>* const found = bonds.data();
  Kokkos::parallel_for(
      "particles::take_bonds", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_local), [=](int i) {
        const double* const cutoff = cutoffs.data() + std::ptrdiff_t{n_types} * number[atoms.type(i)];
        const auto keep = [&](int j, const double* d, double square) {
          const int type = number[atoms.type(j)];
          if (square < cutoff[type] * cutoff[type])
            found[i].push_back({{d[0], d[1], d[2]}, std::sqrt(square), type});
        };
        visit_listed(atoms, list, i, longest, keep);
      });
  exec.fence();
  return bonds;
}

}  // namespace quintet
