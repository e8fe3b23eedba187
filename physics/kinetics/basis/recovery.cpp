#include "physics/kinetics/basis/recovery.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/dense_lu.hpp"

namespace quintet::kinetics {

namespace {

/// power[cell][k][j] = int phi_k (xi - 1)^j dxi for the cell below a face (0), (xi + 1)^j above it (1).
struct FacePowers {
  double power[2][max_degree + 1][2 * (max_degree + 1)]{};
};
constexpr FacePowers make_face_powers() {
  FacePowers t;
  for (int k = 0; k <= max_degree; ++k)
    for (int j = 0; j < 2 * (max_degree + 1); ++j)
      for (int cell = 0; cell < 2; ++cell)
        t.power[cell][k][j] =
            (detail::legendre_polynomial(k) * detail::shifted_power(j, 2 * cell - 1)).integral() *
            detail::normalisation(k);
  return t;
}
constexpr FacePowers tables = make_face_powers();

}  // namespace

FaceRecovery recovery(int n, double lower_half, double upper_half) {
  // r = sum_j a_j zeta^j with zeta = (v - v_face)/scale = (half/scale) (xi -+ 1) in the cell below and above:
  // coefficient k of a cell is sum_j a_j int phi_k zeta^j dxi. The weights that give a_0 and a_1 from the
  // coefficients solve the transposed equations.
  const int size = 2 * n;
  const double scale = 0.5 * (lower_half + upper_half), half[2] = {lower_half, upper_half};
  double matrix[64];
  int pivot[8];
  for (int cell = 0; cell < 2; ++cell)
    for (int k = 0; k < n; ++k)
      for (int j = 0; j < size; ++j)
        matrix[j * size + cell * n + k] = tables.power[cell][k][j] * std::pow(half[cell] / scale, j);
  if (!lu_factorise(matrix, pivot, size))
    throw InternalError(fmt::format("no recovery between cells of {} and {}", lower_half, upper_half));
  FaceRecovery result;
  for (int unknown = 0; unknown < 2; ++unknown) {
    double weight[8] = {};
    weight[unknown] = unknown == 0 ? 1 : 1 / scale;
    lu_solve(matrix, pivot, weight, size);
    for (int cell = 0; cell < 2; ++cell)
      std::copy_n(weight + cell * n, n, (unknown == 0 ? result.value : result.slope)[cell]);
  }
  return result;
}

}  // namespace quintet::kinetics
