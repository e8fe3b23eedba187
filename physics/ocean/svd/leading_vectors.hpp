#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "physics/ocean/svd/tall_matrix.hpp"

/// Eigenvectors of symmetric matrices, known in full or by their products alone.
namespace quintet::ocean {

/// The k eigenvectors of largest eigenvalues of a symmetric matrix, as columns, largest first, by LAPACK; on
/// rank 0, for all. Collective. Throws NumericalError if LAPACK fails.
[[nodiscard]] SmallMatrix leading_by_lapack(const Comm& comm, SmallMatrix a, int k);

/// A V of a symmetric, positive semi-definite A [n, n]; V [n, any], and the result, the same on all ranks.
using SymmetricProduct = std::function<SmallMatrix(const SmallMatrix&)>;

struct BlockLanczosOptions {
  int more = 3;              ///< random vectors beyond k, at least: blocks are whole packs
  int most_products = 60;    ///< until it gives up
  double tolerance = 1e-12;  ///< of |A v - lambda v| / lambda; not below round-off of the largest eigenvalue
  std::uint64_t seed = 1;
};
/// The k leading eigenvectors from products with blocks of vectors, by Rayleigh-Ritz in the span of V, A V,
/// A^2 V, ... of random vectors V, kept orthonormal (C. Musco, C. Musco, NeurIPS 28 (2015), algorithm 2).
/// Random numbers depend on seed and element alone. Nothing where `most_products` are not enough. Collective.
[[nodiscard]] std::optional<SmallMatrix> leading_by_block_lanczos(const Comm& comm, int n, int k,
                                                                  const SymmetricProduct& product,
                                                                  const BlockLanczosOptions& options = {});

}  // namespace quintet::ocean
