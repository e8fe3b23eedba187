#include "physics/ocean/svd/svd.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

extern "C" {
void dgesvd_(const char* jobu, const char* jobvt, const int* m, const int* n, double* a, const int* lda,
             double* s, double* u, const int* ldu, double* vt, const int* ldvt, double* work,
             const int* lwork, int* info);
}

namespace quintet::ocean {
namespace {

constexpr int most_direct = 600;  ///< columns up to which all is left to LAPACK

[[noreturn]] void refuse_rank(int k) {
  throw InputError(fmt::format(
      "the fields about their background have fewer than {} independent parts: ask for fewer modes", k));
}

/// A V for blocks of V, every rank with its share of the rows of A.
SymmetricProduct shared_product(const Comm& comm, const SmallMatrix& a) {
  const int n = a.rows, begin = std::int64_t{n} * comm.rank() / comm.size(),
            end = std::int64_t{n} * (comm.rank() + 1) / comm.size();
  TallMatrix mine(end - begin, n);
  for (int i = begin; i < end; ++i) std::copy_n(&a.values[std::int64_t{i} * n], n, mine.row(i - begin));
  return [&comm, mine = std::move(mine)](const SmallMatrix& v) {
    SmallMatrix image(v.rows, v.columns);
    image.values = comm.all_gather(std::span<const double>(small_copy(product(mine, v)).values));
    return image;
  };
}

}  // namespace

SingularTriplets svd_within(const Comm& comm, const TallMatrix& x, TallMatrix basis, int k) {
  if (!orthonormalise(comm, basis)) refuse_rank(k);
  auto small = transposed_product(comm, basis, x);  // [b, n], row-major: to LAPACK its transpose, [n, b]
  const int b = small.rows, n = small.columns, least = std::min(b, n);
  SmallMatrix rotation(b, k), right(k, n);
  std::vector<double> values(least);
  on_root(comm, [&] {
    // n x b = U S W^T: U are the right vectors of X, W rotates the basis.
    std::vector<double> u(std::int64_t{n} * least), wt(std::int64_t{least} * b);
    int info = 0, size = -1;
    double query = 0;
    dgesvd_("S", "S", &n, &b, small.values.data(), &n, values.data(), u.data(), &n, wt.data(), &least, &query,
            &size, &info);
    size = query;
    std::vector<double> work(size);
    dgesvd_("S", "S", &n, &b, small.values.data(), &n, values.data(), u.data(), &n, wt.data(), &least,
            work.data(), &size, &info);
    if (info != 0) throw NumericalError(fmt::format("LAPACK's dgesvd failed (info {})", info));
    for (int m = 0; m < k; ++m) {
      std::copy_n(u.data() + std::int64_t{m} * n, n, &right.at(m, 0));
      for (int i = 0; i < b; ++i) rotation.at(i, m) = wt[std::int64_t{i} * least + m];
    }
  });
  comm.broadcast(std::span<double>(values));
  comm.broadcast(std::span<double>(rotation.values));
  comm.broadcast(std::span<double>(right.values));
  values.resize(k);
  if (!(values.back() > 1e-12 * values.front())) refuse_rank(k);
  return {std::move(values), product(basis, rotation), std::move(right)};
}

SingularTriplets svd_of_snapshots(const Comm& comm, const TallMatrix& x, int k) {
  const auto products = gram(comm, x);
  std::optional<SmallMatrix> vectors;
  if (x.columns() > most_direct && k <= x.columns() / 16)
    vectors = leading_by_block_lanczos(comm, x.columns(), k, shared_product(comm, products));
  if (!vectors) vectors = leading_by_lapack(comm, products, k);
  return svd_within(comm, x, product(x, *vectors), k);
}

SingularTriplets svd_randomised(const Comm& comm, const TallMatrix& x, int k,
                                const BlockLanczosOptions& options) {
  const auto vectors = leading_by_block_lanczos(
      comm, x.columns(), k, [&](const SmallMatrix& v) { return gram_product(comm, x, v); }, options);
  return vectors ? svd_within(comm, x, product(x, *vectors), k) : svd_of_snapshots(comm, x, k);
}

}  // namespace quintet::ocean
