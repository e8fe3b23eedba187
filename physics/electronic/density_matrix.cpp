#include <cmath>

#include "physics/electronic/block_multiply.hpp"
#include "physics/electronic/gather.hpp"
#include "physics/electronic/submatrix.hpp"

namespace quintet::electronic {

DensityResult density_matrix(const SubmatrixResult& sign, const Orthogonalised& basis, const BlockMatrix& k,
                             const BlockMatrix& s, double threshold) {
  const BlockMatrix& z = basis.inverse_sqrt;
  const double drop = 0.01 * threshold;
  DensityResult result(multiply_on(k, z, multiply(sign.p, z, drop)));
  symmetrise(result.d);
  result.tr_dk = dot(result.d, k);
  result.n_pairs = dot(result.d, s);
  result.idempotency = frobenius_norm(add(1, multiply(sign.p, sign.p, drop), -1, sign.p));
  // A P is the transpose of P A, so the commutator is what P A lacks of being symmetric
  BlockMatrix pa = multiply(sign.p, basis.a, 0);
  result.commutator = symmetrise(pa);
  return result;
}

}  // namespace quintet::electronic
