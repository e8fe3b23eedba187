#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"
#include "tests/support/electronic_samples.hpp"

namespace quintet::electronic {

/// A dense matrix in the user's numbering, for comparison: m[i * n + j].
struct Dense {
  std::size_t n = 0;
  std::vector<double> m;
  explicit Dense(int rows) : n(rows), m(n * n, 0.0) {}
  [[nodiscard]] double& operator()(std::int64_t i, std::int64_t j) { return m[i * n + j]; }
  [[nodiscard]] double operator()(std::int64_t i, std::int64_t j) const { return m[i * n + j]; }
};

/// All ranks' elements as a dense matrix on every rank; those given twice add up. Collective.
inline Dense dense_of(const Comm& comm, int n_rows, const std::vector<Triplet>& mine) {
  Dense dense(n_rows);
  for (const auto& e : comm.all_gather(std::span<const Triplet>(mine))) dense(e.row, e.column) += e.value;
  return dense;
}
inline Dense dense_of(const BlockMatrix& matrix) {
  return dense_of(matrix.comm, matrix.blocking->n_rows(), elements(matrix));
}

}  // namespace quintet::electronic
