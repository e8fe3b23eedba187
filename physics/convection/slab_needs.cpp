#include "physics/convection/slab_needs.hpp"

#include <algorithm>
#include <cmath>

#include "physics/convection/boussinesq.hpp"
#include "physics/convection/field.hpp"

namespace quintet::convection {

SlabNeeds slab_needs(std::int64_t n_x, std::int64_t n_z, int n_members, int n_ranks) {
  const double p = n_ranks, n = n_x;
  const double rows = std::ceil(n_z / p);
  SlabNeeds needs{.cells = rows * n,
                  .bytes = Boussinesq::bytes(rows * (n + 2 * Field::margin), n_members),
                  .sums = 1.0 + 2 * n_members,
                  .bytes_summed = 8 * (1.0 + 2 * n_members)};
  const double neighbours = std::min(n_ranks - 1, 2);
  constexpr double stages = 2, fields = 7, matrices = 4;
  needs.messages = stages * n_members * (fields * neighbours + 2 * 2 * (p - 1));
  needs.bytes_sent =
      stages * n_members * 8 * (fields * neighbours * (n + 2) + matrices * 4 * n * (1 - 1 / p));
  return needs;
}

SlabNeeds device_slab_needs(std::int64_t n_x, std::int64_t n_z, int n_members, int n_slabs) {
  const double n = n_x, p = n_slabs, m = n_members;
  SlabNeeds needs{.cells = std::ceil(n_z / p) * n, .sums = 1, .bytes_summed = 8};
  if (n_slabs == 1) return needs;
  constexpr double stages = 2, unknowns = 4, diffused = 3, factors = 4;
  const double neighbours = std::min(n_slabs - 1, 2);
  const double rows = neighbours == 1 ? 5 : 9;  // upwards u, w, b, p and phi, downwards u, w, b and w again
  needs.messages = stages * 2 * neighbours + (2 * stages + 1) * (p - 1);
  needs.bytes_sent =
      8 * (stages * (rows * m * n + (p - 1) * m * (2 * unknowns * n + 1)) + (p - 1) * diffused * factors * n);
  return needs;
}

}  // namespace quintet::convection
