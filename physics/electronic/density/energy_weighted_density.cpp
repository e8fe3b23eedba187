#include "physics/electronic/density/energy_weighted_density.hpp"

#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"

namespace quintet::electronic {

BlockMatrix energy_weighted_density(const SubmatrixResult& sign, const Orthogonalised& basis,
                                    const BlockMatrix& pattern, double threshold) {
  const double drop = 0.01 * threshold, error = 0.1 * drop;
  const BlockMatrix& z = basis.inverse_sqrt;
  const BlockMatrix pa = multiply(sign.p, basis.a, {.threshold = drop, .error = error});
  const BlockMatrix paz = multiply(pa, z, {.threshold = drop, .error = error});
  BlockMatrix w = multiply(z, paz, {.error = error, .pattern = &pattern});
  symmetrise(w);
  return w;
}

}  // namespace quintet::electronic
