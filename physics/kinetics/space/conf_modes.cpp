#include "physics/kinetics/space/conf_modes.hpp"

#include "io/log/error.hpp"

namespace quintet::kinetics {

namespace {

/// `mode` with degree k in direction d.
MultiIndex with_degree(MultiIndex mode, int d, int k) {
  mode[d] = k;
  return mode;
}

std::int8_t small(int i) { return i; }

}  // namespace

ConfModes::ConfModes(const Basis& basis) : dim(basis.dim()), n_modes(basis.size()) {
  QUINTET_CHECK(dim >= 1 && dim <= 3 && basis.order() >= 1 && basis.order() <= max_degree,
                "no field solver for a basis of order {} in {} dimensions: order 1 to {} and 1 to 3 "
                "dimensions are there",
                basis.order(), dim, max_degree);
  for (int d = 0; d < dim; ++d)
    for (int i = 0; i < n_modes; ++i) {
      const int k = basis.mode(i)[d];
      degree[d][i] = small(k);
      if (k == 0) {
        const int m = n_face[d]++;
        length[d][m] = 0;
        for (int l = 0, at = i; at >= 0; at = basis.find(with_degree(basis.mode(i), d, ++l))) {
          line[d][m][l] = small(at);
          face[d][at] = small(m);
          length[d][m] = small(l + 1);
        }
      }
      below[d][i][0] = small(k < 1 ? -1 : basis.find(with_degree(basis.mode(i), d, k - 1)));
      below[d][i][1] = small(k < 3 ? -1 : basis.find(with_degree(basis.mode(i), d, k - 3)));
    }
  for (int k = 0; k <= max_degree; ++k) {
    end[k] = legendre_end(k, 1);
    slope[k][0] = k < 1 ? 0 : integral_derivative(k, k - 1);
    slope[k][1] = k < 3 ? 0 : integral_derivative(k, k - 3);
  }
}

}  // namespace quintet::kinetics
