#include "physics/ocean/svd/leading_vectors.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/pack.hpp"
#include "physics/kernels/random.hpp"

extern "C" {
void dsyevr_(const char* jobz, const char* range, const char* uplo, const int* n, double* a, const int* lda,
             const double* vl, const double* vu, const int* il, const int* iu, const double* abstol, int* m,
             double* w, double* z, const int* ldz, int* isuppz, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
}

namespace quintet::ocean {
namespace {

constexpr std::uint32_t random_stream = 0x0cea;
/// What a product loses, over the largest eigenvalue.
constexpr double round_off = 5e-15;

/// Standard normal numbers of seed, row and column.
TallMatrix random_block(int rows, int columns, std::uint64_t seed) {
  TallMatrix block(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; j += 2) {
      double x = 0, y = 0;
      normal_pair(seed, random_stream, i, j, x, y);
      block.row(i)[j] = x;
      if (j + 1 < columns) block.row(i)[j + 1] = y;
    }
  return block;
}

/// B - Q (Q^T B), twice: what of B is orthogonal to the columns of Q.
void project_out(const Comm& self, const std::vector<TallMatrix>& q, TallMatrix& b) {
  for (int round = 0; round < 2; ++round)
    for (const auto& block : q) {
      const auto part = product(block, transposed_product(self, block, b));
      for (int i = 0; i < b.rows(); ++i)
        for (int j = 0; j < b.columns(); ++j) b.row(i)[j] -= part.row(i)[j];
    }
}

/// An orthonormal basis of what the columns span, by their shares in it; directions shorter than `least`, or
/// than round-off of the longest, are left out. May be empty.
TallMatrix orthonormal_span(const Comm& self, const TallMatrix& x, double least) {
  const auto rotated = product(x, leading_by_lapack(self, gram(self, x), x.columns()));
  const auto length = [&](int j) {
    double sum = 0;
    for (int i = 0; i < rotated.rows(); ++i) sum += rotated.row(i)[j] * rotated.row(i)[j];
    return std::sqrt(sum);
  };
  least = std::max(least, 1e-14 * length(0));
  int n = 0;
  while (n < x.columns() && length(n) > least) ++n;
  TallMatrix span(x.rows(), n);
  for (int i = 0; i < x.rows(); ++i) std::copy_n(rotated.row(i), n, span.row(i));
  if (n == 0 || !orthonormalise(self, span)) return {};
  return span;
}

/// Blocks side by side times S [all their columns, k].
TallMatrix combination(const std::vector<TallMatrix>& blocks, const SmallMatrix& s) {
  TallMatrix sum(blocks.front().rows(), s.columns);
  int first = 0;
  for (const auto& block : blocks) {
    SmallMatrix part(block.columns(), s.columns);
    std::copy_n(&s.values[std::int64_t{first} * s.columns], part.values.size(), part.values.data());
    const auto more = product(block, part);
    for (int i = 0; i < sum.rows(); ++i)
      for (int m = 0; m < s.columns; ++m) sum.row(i)[m] += more.row(i)[m];
    first += block.columns();
  }
  return sum;
}

/// T grows by the rows and columns of a new block: T = Q^T A Q.
void grow(const Comm& self, const std::vector<TallMatrix>& q, const TallMatrix& image, SmallMatrix& t) {
  const int n = t.rows + image.columns();
  SmallMatrix grown(n, n);
  for (int i = 0; i < t.rows; ++i) std::copy_n(&t.at(i, 0), t.rows, &grown.at(i, 0));
  int first = 0;
  for (const auto& block : q) {
    const auto part = transposed_product(self, block, image);
    for (int i = 0; i < part.rows; ++i)
      for (int j = 0; j < part.columns; ++j)
        grown.at(first + i, t.rows + j) = grown.at(t.rows + j, first + i) = part.at(i, j);
    first += block.columns();
  }
  t = std::move(grown);
}

}  // namespace

SmallMatrix leading_by_lapack(const Comm& comm, SmallMatrix a, int k) {
  const int n = a.rows, first = n - k + 1;
  SmallMatrix result(n, k);
  on_root(comm, [&] {
    std::vector<double> w(n), z(std::int64_t{n} * k);
    std::vector<int> support(2 * std::int64_t{n});
    const double none = 0, tolerance = 0;
    int found = 0, info = 0, size = -1, integer_size = -1, integers = 0;
    double query = 0;
    dsyevr_("V", "I", "U", &n, a.values.data(), &n, &none, &none, &first, &n, &tolerance, &found, w.data(),
            z.data(), &n, support.data(), &query, &size, &integers, &integer_size, &info);
    size = static_cast<int>(query), integer_size = integers;
    std::vector<double> work(size);
    std::vector<int> integer_work(integer_size);
    dsyevr_("V", "I", "U", &n, a.values.data(), &n, &none, &none, &first, &n, &tolerance, &found, w.data(),
            z.data(), &n, support.data(), work.data(), &size, integer_work.data(), &integer_size, &info);
    if (info != 0 || found != k)
      throw NumericalError(
          fmt::format("LAPACK's dsyevr found {} of {} eigenvectors (info {})", found, k, info));
    for (int m = 0; m < k; ++m)
      for (int i = 0; i < n; ++i) result.at(i, m) = z[std::int64_t{k - 1 - m} * n + i];
  });
  comm.broadcast(std::span<double>(result.values));
  return result;
}

std::optional<SmallMatrix> leading_by_block_lanczos(const Comm& comm, int n, int k,
                                                    const SymmetricProduct& product,
                                                    const BlockLanczosOptions& options) {
  const Comm self = Comm::self();
  std::vector<TallMatrix> basis, images;
  SmallMatrix t;
  auto block = random_block(n, std::min(n, padded(k + options.more, pack_width<double>)), options.seed);
  if (!orthonormalise(self, block)) return std::nullopt;
  for (int round = 0; round < options.most_products; ++round) {
    // What follows is the same on all ranks, to the last bit on machines that are alike; else this keeps them
    // so.
    auto shared = small_copy(block);
    comm.broadcast(std::span<double>(shared.values));
    basis.push_back(tall_copy(shared));
    images.push_back(tall_copy(product(shared)));
    grow(self, basis, images.back(), t);
    const auto s = leading_by_lapack(comm, t, k);
    const auto ritz = combination(basis, s), image = combination(images, s);
    double worst = 0, largest = 0;
    for (int m = 0; m < k; ++m) {
      double lambda = 0, squares = 0;
      for (int i = 0; i < n; ++i) lambda += ritz.row(i)[m] * image.row(i)[m];
      for (int i = 0; i < n; ++i) {
        const double r = image.row(i)[m] - lambda * ritz.row(i)[m];
        squares += r * r;
      }
      largest = std::max(largest, lambda);
      worst = std::max(worst, std::sqrt(squares) / std::max(options.tolerance * lambda, round_off * largest));
    }
    auto next = images.back();
    project_out(self, basis, next);
    next = orthonormal_span(self, next, round_off * largest);
    // No new direction: the space is A's own.
    if (comm.broadcast(worst <= 1 || next.columns() == 0)) {
      auto vectors = small_copy(ritz);
      comm.broadcast(std::span<double>(vectors.values));
      return vectors;
    }
    project_out(self, basis, next);
    if (!comm.broadcast(orthonormalise(self, next))) return std::nullopt;
    block = std::move(next);
  }
  return std::nullopt;
}

}  // namespace quintet::ocean
