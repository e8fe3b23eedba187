#include "physics/electronic/energy_weighted_density.hpp"

#include "physics/electronic/block_multiply.hpp"
#include "physics/electronic/gather.hpp"

namespace quintet::electronic {

BlockMatrix energy_weighted_density(const SubmatrixResult& sign, const Orthogonalised& basis,
                                    const BlockMatrix& k, double threshold) {
  const double drop = 0.01 * threshold;
  const BlockMatrix& z = basis.inverse_sqrt;
  BlockMatrix w = multiply_on(k, z, multiply(multiply(sign.p, basis.a, drop), z, drop));
  symmetrise(w);
  return w;
}

}  // namespace quintet::electronic
