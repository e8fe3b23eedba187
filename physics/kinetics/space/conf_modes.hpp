#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/basis/legendre.hpp"

namespace quintet::kinetics {

/// How the modes of a configuration Basis lie in lines and on faces, as kernels need it (passed by value).
///
/// With direction d taken out, the modes of a downward closed basis fall into lines: line m holds the degrees
/// k = 0 ... length - 1 along d of one function of the other directions, which is mode m of the face. Trace,
/// derivative and lifting along d then act on each line alone:
///
///     trace at xi_d = s:         t_m = sum_k phi_k(s) u_(m,k)
///     derivative, weak:          int phi_k' phi_l dxi != 0 for l = k - 1, k - 3, ...
struct ConfModes {
  static constexpr int most = 64;  ///< tensor, order 3, 3-D

  int dim = 0, n_modes = 0;
  int n_face[3] = {};               ///< modes of a face normal to d
  std::int8_t line[3][most][4];     ///< [d][face mode][degree]: the mode
  std::int8_t length[3][most];      ///< [d][face mode]: degrees on the line
  std::int8_t face[3][most];        ///< [d][mode]: the face mode
  std::int8_t degree[3][most];      ///< [d][mode]
  std::int8_t below[3][most][2];    ///< [d][mode]: the modes of degree k - 1 and k - 3, -1: none
  double end[max_degree + 1];       ///< phi_k(1); phi_k(-1) = (-1)^k phi_k(1)
  double slope[max_degree + 1][2];  ///< int phi_k' phi_(k-1) dxi, int phi_k' phi_(k-3) dxi

  explicit ConfModes(const Basis& basis);

  /// phi_k(-1).
  [[nodiscard]] KOKKOS_INLINE_FUNCTION double start(int k) const { return k % 2 == 1 ? -end[k] : end[k]; }
};

}  // namespace quintet::kinetics
