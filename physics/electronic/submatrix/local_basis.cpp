#include "physics/electronic/submatrix/local_basis.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/block_multiply.hpp"
#include "physics/electronic/submatrix/submatrix_dense.hpp"

namespace quintet::electronic {

namespace {

/// S_bb^-1/2 of a block [n, n].
std::vector<double> inverse_root(std::vector<double> block, int n, int number) {
  const Eigenpairs pairs = eigenpairs_of(std::move(block), {});
  const double least = pairs.value.front(), most = pairs.value.back();
  QUINTET_CHECK(
      least > 0,
      "the overlap matrix S is not positive definite: the smallest eigenvalue of block {} is {:.3g}; are K "
      "and S the right way round, in one order and complete?",
      number, least);
  QUINTET_CHECK(
      most <= largest_condition * least,
      "the overlap matrix S is all but singular: the condition number of block {} alone is {:.2g}, up to "
      "{:.0e} is taken; remove near-dependent basis functions (the most diffuse ones, or atoms given "
      "twice)",
      number, most / least, largest_condition);
  std::vector<int> all(n);
  std::iota(all.begin(), all.end(), 0);
  std::vector<double> root;
  transform_columns(
      pairs, all, [](double x) { return 1 / std::sqrt(x); }, root);
  for (std::int64_t j = 0; j < n; ++j)
    for (std::int64_t i = 0; i < j; ++i) root[j * n + i] = root[i * n + j];
  return root;
}

}  // namespace

BlockMatrix local_basis(const BlockMatrix& s) {
  BlockMatrix basis(s.comm);
  basis.blocking = s.blocking;
  basis.first = s.first;
  basis.last = s.last;
  basis.rank_begin = s.rank_begin;
  together(s.comm, [&] {
    for (int c = 0; c < s.n_columns(); ++c) {
      const int block = s.first + c, n = s.blocking->size(block);
      const auto begin = s.row.begin() + s.column_begin[c], end = s.row.begin() + s.column_begin[c + 1];
      const double* values = s.value.data() + s.offset[std::lower_bound(begin, end, block) - s.row.begin()];
      const auto root = inverse_root({values, values + std::int64_t{n} * n}, n, block + 1);
      basis.row.push_back(block);
      basis.offset.push_back(basis.value.size());
      basis.value.insert(basis.value.end(), root.begin(), root.end());
      basis.column_begin.push_back(basis.n_blocks());
    }
  });
  return basis;
}

BlockMatrix in_local_basis(const BlockMatrix& m, const BlockMatrix& basis) {
  return multiply(basis, multiply(m, basis, ProductOptions{}), ProductOptions{.symmetric = true});
}

}  // namespace quintet::electronic
