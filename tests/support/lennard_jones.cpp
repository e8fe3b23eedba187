#include "tests/support/lennard_jones.hpp"

#include <cmath>

using namespace quintet;

namespace {

/// u(r) and u'(r) of the plain potential.
struct Pair {
  double value, slope;
};

Pair plain(double epsilon, double sigma, double r) {
  const double s6 = std::pow(sigma / r, 6);
  return {4 * epsilon * (s6 * s6 - s6), -24 * epsilon * (2 * s6 * s6 - s6) / r};
}

}  // namespace

Energetics LennardJones::compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                                 const ByAtom& by_atom) {
  exec.fence();
  Energetics result;
  const Pair at_cutoff = plain(epsilon_, sigma_, cutoff_);
  for (int i = 0; i < atoms.n_all(); ++i)
    for (int l = 0; l < 3; ++l) atoms.force(i, l) = 0;
  const bool virials = by_atom.virial.extent(0) > 0;
  if (virials) Kokkos::deep_copy(by_atom.virial, 0.0);
  for (int i = 0; i < atoms.n_local; ++i) {
    double energy = 0;
    for (std::size_t p = list.offset(i); p < list.offset(i + 1); ++p) {
      const int j = list.neighbour(p);
      double d[3], r2 = 0;
      for (int l = 0; l < 3; ++l) {
        d[l] = atoms.position(j, l) - atoms.position(i, l);
        r2 += d[l] * d[l];
      }
      if (r2 >= cutoff_ * cutoff_) continue;
      const double r = std::sqrt(r2);
      const Pair u = plain(epsilon_, sigma_, r);
      energy += 0.5 * (u.value - at_cutoff.value - (r - cutoff_) * at_cutoff.slope);
      // Half of the pair's force on j: the other half comes with j's own row.
      const double scale = -0.5 * (u.slope - at_cutoff.slope) / r;
      for (int k = 0; k < 3; ++k) {
        atoms.force(j, k) += scale * d[k];
        atoms.force(i, k) -= scale * d[k];
        for (int l = 0; l < 3; ++l) {
          result.virial[3 * k + l] += scale * d[k] * d[l];
          if (virials) by_atom.virial(j, 3 * k + l) += scale * d[k] * d[l];
        }
      }
    }
    if (by_atom.energy.extent(0) > 0) by_atom.energy(i) = energy;
    result.energy += energy;
  }
  return result;
}
