#include "physics/ocean/svd/svd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/random.hpp"

extern "C" {
void dsyevr_(const char* jobz, const char* range, const char* uplo, const int* n, double* a, const int* lda,
             const double* vl, const double* vu, const int* il, const int* iu, const double* abstol, int* m,
             double* w, double* z, const int* ldz, int* isuppz, double* work, const int* lwork, int* iwork,
             const int* liwork, int* info);
void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a, const int* lda,
             double* s, double* u, const int* ldu, double* vt, const int* ldvt, double* work,
             const int* lwork, int* info);
}

namespace quintet::ocean {
namespace {

constexpr std::uint32_t random_stream = 0x0cea;
constexpr int most_direct = 600;  ///< columns up to which all is left to LAPACK

[[noreturn]] void refuse_rank(int k) {
  throw InputError(fmt::format(
      "the fields about their background have fewer than {} independent parts: ask for fewer modes", k));
}

/// The k eigenvectors of largest eigenvalues of a symmetric matrix, as columns, by LAPACK; on rank 0, for
/// all.
SmallMatrix leading_by_lapack(const Comm& comm, SmallMatrix a, int k) {
  const int n = a.rows, first = n - k + 1;
  SmallMatrix result(n, k);
  on_root(comm, [&] {
    std::vector<double> w(static_cast<std::size_t>(n)),
        z(static_cast<std::size_t>(n) * static_cast<std::size_t>(k));
    std::vector<int> support(2 * static_cast<std::size_t>(n));
    const double none = 0, tolerance = 0;
    int found = 0, info = 0, size = -1, integer_size = -1, integers = 0;
    double query = 0;
    dsyevr_("V", "I", "U", &n, a.values.data(), &n, &none, &none, &first, &n, &tolerance, &found, w.data(),
            z.data(), &n, support.data(), &query, &size, &integers, &integer_size, &info);
    size = static_cast<int>(query), integer_size = integers;
    std::vector<double> work(static_cast<std::size_t>(size));
    std::vector<int> integer_work(static_cast<std::size_t>(integer_size));
    dsyevr_("V", "I", "U", &n, a.values.data(), &n, &none, &none, &first, &n, &tolerance, &found, w.data(),
            z.data(), &n, support.data(), work.data(), &size, integer_work.data(), &integer_size, &info);
    if (info != 0 || found != k)
      throw NumericalError(
          fmt::format("LAPACK's dsyevr found {} of {} eigenvectors (info {})", found, k, info));
    for (int m = 0; m < k; ++m)
      for (int i = 0; i < n; ++i)
        result.at(i, m) = z[static_cast<std::size_t>(k - 1 - m) * static_cast<std::size_t>(n) +
                            static_cast<std::size_t>(i)];
  });
  comm.broadcast(std::span<double>(result.values));
  return result;
}

/// Standard normal numbers of seed, row and column.
TallMatrix random_block(int rows, int columns, std::uint64_t seed) {
  TallMatrix block(rows, columns);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; j += 2) {
      double x = 0, y = 0;
      normal_pair(seed, random_stream, static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(j), x, y);
      block.row(i)[j] = x;
      if (j + 1 < columns) block.row(i)[j + 1] = y;
    }
  return block;
}

SmallMatrix small_copy(const TallMatrix& x) {
  SmallMatrix copy(x.rows(), x.columns());
  for (int i = 0; i < x.rows(); ++i) std::copy_n(x.row(i), x.columns(), &copy.at(i, 0));
  return copy;
}

TallMatrix tall_copy(const SmallMatrix& x) {
  TallMatrix copy(x.rows, x.columns);
  for (int i = 0; i < x.rows; ++i)
    std::copy_n(&x.values[static_cast<std::size_t>(i) * x.columns], x.columns, copy.row(i));
  return copy;
}

SmallMatrix transposed(const SmallMatrix& a) {
  SmallMatrix t(a.columns, a.rows);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < a.columns; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

/// An orthonormal basis of what the columns span, by their shares in it; directions that are round-off are
/// left out.
TallMatrix orthonormal_span(const Comm& comm, const TallMatrix& x) {
  auto rotated = product(x, leading_by_lapack(comm, gram(comm, x), x.columns()));
  std::vector<double> squares(static_cast<std::size_t>(x.columns()));
  for (int p = 0; p < x.rows(); ++p)
    for (int j = 0; j < x.columns(); ++j)
      squares[static_cast<std::size_t>(j)] += rotated.row(p)[j] * rotated.row(p)[j];
  comm.reduce(std::span<double>(squares), Comm::Reduction::sum);
  int n = 0;
  while (n < x.columns() && squares[static_cast<std::size_t>(n)] > 1e-28 * squares[0]) ++n;
  TallMatrix span(x.rows(), n);
  for (int p = 0; p < x.rows(); ++p) std::copy_n(rotated.row(p), n, span.row(p));
  if (n == 0 || !orthonormalise(comm, span)) return {};
  return span;
}

/// The k leading eigenvectors of a symmetric matrix by power iteration of a block; false if they have not
/// come out to round-off within 80 rounds. Every rank multiplies its share of the rows.
bool leading_by_powers(const Comm& comm, const SmallMatrix& a, int k, SmallMatrix& vectors) {
  const int n = a.rows, width = std::min(n, 2 * k + 8);
  const int begin = static_cast<int>(std::int64_t{n} * comm.rank() / comm.size()),
            end = static_cast<int>(std::int64_t{n} * (comm.rank() + 1) / comm.size());
  TallMatrix mine(end - begin, n);
  for (int i = begin; i < end; ++i)
    std::copy_n(&a.values[static_cast<std::size_t>(i) * n], n, mine.row(i - begin));
  const Comm self = Comm::self();
  auto block = random_block(n, width, 1);
  if (!orthonormalise(self, block)) return false;
  for (int round = 0; round < 80; ++round) {
    const auto part = small_copy(product(mine, small_copy(block)));
    SmallMatrix image(n, width);
    image.values = comm.all_gather(std::span<const double>(part.values));
    auto next = tall_copy(image);
    // Rayleigh and Ritz: eigenvectors within the block, and how far they are from being some.
    const auto rotation = leading_by_lapack(self, transposed_product(self, block, next), width);
    block = product(block, rotation);
    next = product(next, rotation);
    double worst = 0, largest = 0;
    for (int m = 0; m < k; ++m) {
      double lambda = 0, squares = 0;
      for (int i = 0; i < n; ++i) lambda += block.row(i)[m] * next.row(i)[m];
      for (int i = 0; i < n; ++i) {
        const double r = next.row(i)[m] - lambda * block.row(i)[m];
        squares += r * r;
      }
      largest = std::max(largest, lambda);
      worst = std::max(worst, std::sqrt(squares) / std::max(1e-12 * lambda, 3e-15 * largest));
    }
    if (comm.broadcast(worst <= 1)) {
      vectors = SmallMatrix(n, k);
      for (int i = 0; i < n; ++i) std::copy_n(block.row(i), k, &vectors.at(i, 0));
      comm.broadcast(std::span<double>(vectors.values));
      return true;
    }
    block = std::move(next);
    if (!comm.broadcast(orthonormalise(self, block))) return false;
  }
  return false;
}

}  // namespace

SingularTriplets svd_within(const Comm& comm, const TallMatrix& x, TallMatrix basis, int k) {
  if (!orthonormalise(comm, basis)) refuse_rank(k);
  auto small = transposed_product(comm, basis, x);  // [b, n], row-major: to LAPACK its transpose, [n, b]
  const int b = small.rows, n = small.columns, least = std::min(b, n);
  SmallMatrix rotation(b, k), right(k, n);
  std::vector<double> values(static_cast<std::size_t>(least));
  on_root(comm, [&] {
    // n x b = U S W^T: U are the right vectors of X, W rotates the basis.
    std::vector<double> u(static_cast<std::size_t>(n) * static_cast<std::size_t>(least)),
        wt(static_cast<std::size_t>(least) * static_cast<std::size_t>(b));
    int info = 0, size = -1;
    double query = 0;
    dgesvd_("S", "S", &n, &b, small.values.data(), &n, values.data(), u.data(), &n, wt.data(), &least, &query,
            &size, &info);
    size = static_cast<int>(query);
    std::vector<double> work(static_cast<std::size_t>(size));
    dgesvd_("S", "S", &n, &b, small.values.data(), &n, values.data(), u.data(), &n, wt.data(), &least,
            work.data(), &size, &info);
    if (info != 0) throw NumericalError(fmt::format("LAPACK's dgesvd failed (info {})", info));
    for (int m = 0; m < k; ++m) {
      std::copy_n(u.data() + static_cast<std::ptrdiff_t>(m) * n, n, &right.at(m, 0));
      for (int i = 0; i < b; ++i)
        rotation.at(i, m) =
            wt[static_cast<std::size_t>(i) * static_cast<std::size_t>(least) + static_cast<std::size_t>(m)];
    }
  });
  comm.broadcast(std::span<double>(values));
  comm.broadcast(std::span<double>(rotation.values));
  comm.broadcast(std::span<double>(right.values));
  values.resize(static_cast<std::size_t>(k));
  if (!(values.back() > 1e-12 * values.front())) refuse_rank(k);
  return {std::move(values), product(basis, rotation), std::move(right)};
}

SingularTriplets svd_of_snapshots(const Comm& comm, const TallMatrix& x, int k) {
  const auto products = gram(comm, x);
  SmallMatrix vectors;
  if (x.columns() <= most_direct || k > x.columns() / 16 || !leading_by_powers(comm, products, k, vectors))
    vectors = leading_by_lapack(comm, products, k);
  return svd_within(comm, x, product(x, vectors), k);
}

SingularTriplets svd_randomised(const Comm& comm, const TallMatrix& x, int k,
                                const RandomisedSvdOptions& options) {
  const int width = std::min({k + options.more, x.columns(), comm.sum(x.rows())});
  auto right = small_copy(random_block(x.columns(), width, options.seed));
  std::vector<double> before;
  for (int round = 0; round < options.most_rounds; ++round) {
    const auto left = orthonormal_span(comm, product(x, right));
    if (left.columns() < k) refuse_rank(k);
    const auto image = tall_copy(transposed(transposed_product(comm, left, x)));
    // The lengths of the orthogonal image are the singular values within the block.
    const auto squares = gram(Comm::self(), image);
    const auto rotation = leading_by_lapack(comm, squares, left.columns());
    const auto rotated = product(image, rotation);
    double change = before.empty() ? 1 : 0;
    std::vector<double> now(static_cast<std::size_t>(k));
    for (std::size_t m = 0; m < now.size(); ++m) {
      for (int i = 0; i < rotated.rows(); ++i) now[m] += rotated.row(i)[m] * rotated.row(i)[m];
      now[m] = std::sqrt(now[m]);
      if (!before.empty()) change = std::max(change, std::abs(now[m] - before[m]) / now[m]);
    }
    before = now;
    const auto next = orthonormal_span(Comm::self(), image);
    if (next.columns() < k) refuse_rank(k);
    right = small_copy(next);
    comm.broadcast(std::span<double>(right.values));
    if (comm.broadcast(change <= options.tolerance)) break;
  }
  return svd_within(comm, x, orthonormal_span(comm, product(x, right)), k);
}

}  // namespace quintet::ocean
