#pragma once

#include <random>
#include <vector>

#include "physics/kinetics/advection/vlasov_operator.hpp"

/// Small random states for tests of the collisionless operator.
namespace quintet::kinetics {

struct OperatorCase {
  PhaseBasis basis;
  PhaseBlock block;
  Distribution f;
  ConfField acceleration;
};

/// A grid of few, uneven cells (the last velocity direction longer than a pack), random coefficients of f
/// that fall with the degree, and random A and B; `definite`: with means so large that no face's acceleration
/// changes sign.
inline OperatorCase make_operator_case(int cdim, int vdim, int order, Family family, bool definite,
                                       std::vector<int> cells = {}) {
  PhaseBasis basis(cdim, vdim, order, family);
  PhaseBlock block;
  block.grid.cdim = cdim;
  block.grid.vdim = vdim;
  for (int d = 0; d < cdim + vdim; ++d) {
    const std::size_t i = d;
    block.grid.lower[i] = d < cdim ? 0.3 : -2.1 + 0.3 * d;
    block.grid.upper[i] = d < cdim ? 1.7 + 0.2 * d : 2.5 + 0.1 * d;
    block.grid.cells[i] = !cells.empty() ? cells[i] : d + 1 == cdim + vdim ? 11 : d < cdim ? 3 - d : 2;
    block.grid.periodic[i] = d < cdim;
    block.extent[i] = block.grid.cells[i];
    if (definite && d >= cdim) {  // v = 0 lies between cells
      const double width = block.grid.width(d);
      block.grid.lower[i] = -width * (block.grid.cells[i] / 2);
      block.grid.upper[i] = block.grid.lower[i] + width * block.grid.cells[i];
    }
  }
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Distribution f("f", block, basis.size());
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int j = 0; j < block.n_last(); ++j)
        for (int m = 0; m < basis.size(); ++m)
          f.at(conf, row, j, m) = (m == 0 ? 2 : 0.5) * uniform(random) + (m == 0 ? 3 : 0);
  ConfField acceleration("acceleration", static_cast<std::size_t>(block.n_conf()), 6,
                         static_cast<std::size_t>(basis.conf().size()));
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int c = 0; c < 6; ++c)
      for (int m = 0; m < basis.conf().size(); ++m)
        acceleration(conf, c, m) = (c < 3 ? 1 : 0.7) * uniform(random) * (m == 0 ? 1 : 0.3) +
                                   (definite && m == 0 && c < 3 ? 60 * (c - 1.5) : 0);
  return {basis, block, f, acceleration};
}

}  // namespace quintet::kinetics
