#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/submatrix/input/system_options.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"

namespace quintet::submatrix {

/// A kernel of the submatrix method in the precision in which it is compared.
struct ComparedKernel {
  std::string name;
  electronic::SubmatrixKernel kernel;
  bool single_precision;
};
/// Each kernel, and "_fp32" of those that are polynomials alone.
[[nodiscard]] std::vector<ComparedKernel> compared_kernels();

struct CompareOptions {
  MatricesOptions matrices;
  BlocksOptions blocks;
  EnsembleOptions ensemble;
  double temperature = 0;  ///< (K)
  std::vector<double> thresholds{1e-4, 1e-5};
  std::vector<std::string> kernels{"polynomial", "eigen", "newton_schulz"};
  double least_gap = 0.005;  ///< (hartree)
  bool global_newton_schulz = true;
  bool petsc_newton_schulz = false;
  std::int64_t dense_limit = 4096;
  ReferenceOptions reference;
};
void describe(Schema& schema, CompareOptions& options);

/// `submatrix compare`: kernels of the submatrix method, the global sparse Newton-Schulz iteration and dense
/// diagonalisation on one system: time, error and memory side by side. Collective.
void compare(Context& context, const CompareOptions& options);

}  // namespace quintet::submatrix
