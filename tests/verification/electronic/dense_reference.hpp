#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "physics/electronic/matrix/block_matrix.hpp"

extern "C" {
void dsyevd_(const char* jobz, const char* uplo, const int* n, double* a, const int* lda, double* w,
             double* work, const int* lwork, int* iwork, const int* liwork, int* info);
}

/// Small dense symmetric matrices, column-major in the user's numbering, the same on all ranks.
namespace quintet::electronic::reference {

struct Dense {
  int n = 0;
  std::vector<double> value;

  explicit Dense(int size = 0) : n(size), value(std::int64_t{size} * size, 0.0) {}
  double& operator()(int i, int j) { return value[std::int64_t{j} * n + i]; }
  double operator()(int i, int j) const { return value[std::int64_t{j} * n + i]; }
};

inline Dense operator*(const Dense& a, const Dense& b) {
  Dense c(a.n);
  for (int j = 0; j < a.n; ++j)
    for (int k = 0; k < a.n; ++k)
      for (int i = 0; i < a.n; ++i) c(i, j) += a(i, k) * b(k, j);
  return c;
}

inline double trace(const Dense& a) {
  double sum = 0;
  for (int i = 0; i < a.n; ++i) sum += a(i, i);
  return sum;
}

struct Eigen {
  std::vector<double> value;
  Dense vector;
};
inline Eigen diagonalise(const Dense& a) {
  Eigen e{std::vector<double>(a.n), a};
  const int n_work = 1 + 6 * a.n + 2 * a.n * a.n, n_integers = 3 + 5 * a.n;
  std::vector<double> work(n_work);
  std::vector<int> integers(n_integers);
  int info = 0;
  dsyevd_("V", "U", &a.n, e.vector.value.data(), &a.n, e.value.data(), work.data(), &n_work, integers.data(),
          &n_integers, &info);
  return e;
}

/// f(A) = Q f(lambda) Q^T.
inline Dense function_of(const Eigen& e, const std::function<double(double)>& f) {
  const int n = e.vector.n;
  Dense left(n), right(n);
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i) {
      left(i, k) = e.vector(i, k) * f(e.value[k]);
      right(k, i) = e.vector(i, k);
    }
  return left * right;
}

/// A number in [-1, 1) that looks random.
inline double noise(int i, int j) {
  auto z = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15ULL +
           static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fULL + 12345;
  z = (z ^ (z >> 29)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 32)) * 0x94d049bb133111ebULL;
  return ((z ^ (z >> 29)) >> 11) * 0x1p-52 - 1;
}

/// A ring of molecules: sizes by turns, levels near -0.5 and +0.5 (Hartree), couplings that fall as
/// exp(-distance).
struct Ring {
  std::vector<int> sizes, block_of;
  Dense a;
};
inline Ring ring(int n_blocks, std::vector<int> sizes_by_turns, double coupling, double decay) {
  Ring r;
  for (int b = 0; b < n_blocks; ++b) {
    r.sizes.push_back(sizes_by_turns[b % sizes_by_turns.size()]);
    r.block_of.insert(r.block_of.end(), static_cast<std::size_t>(r.sizes.back()), b);
  }
  r.a = Dense(r.block_of.size());
  for (int i = 0; i < r.a.n; ++i) {
    r.a(i, i) = (i % 2 == 0 ? -0.5 : 0.5) + 0.1 * noise(i, i);
    for (int j = 0; j < i; ++j) {
      const int between = std::abs(r.block_of[i] - r.block_of[j]);
      const int distance = std::min(between, n_blocks - between);
      r.a(i, j) = r.a(j, i) = coupling * std::exp(-decay * distance) * noise(i, j);
    }
  }
  return r;
}

/// The elements of this rank's share, as a BlockMatrix.
inline BlockMatrix distribute(const Comm& comm, const Dense& a,
                              const std::shared_ptr<const Blocking>& blocking) {
  std::vector<Triplet> mine;
  for (int j = 0; j < a.n; ++j)
    for (int i = 0; i < a.n; ++i)
      if ((i + j) % comm.size() == comm.rank() && (a(i, j) != 0 || i == j)) mine.push_back({i, j, a(i, j)});
  return assemble(comm, blocking, mine, share_columns(comm, *blocking), 1e-9);
}
inline std::shared_ptr<const Blocking> blocks_of(const Ring& r) {
  return std::make_shared<const Blocking>(blocking_of_sizes(r.a.n, r.sizes));
}

/// The whole matrix on every rank; blocks that are not there are 0.
inline Dense collect(const BlockMatrix& m) {
  Dense whole(m.blocking->n_rows());
  for (const Triplet& t : elements(m)) whole(t.row, t.column) = t.value;
  m.comm.reduce(std::span<double>(whole.value), Comm::Reduction::sum);
  return whole;
}

inline double largest_difference(const Dense& a, const Dense& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.value.size(); ++i)
    largest = std::max(largest, std::abs(a.value[i] - b.value[i]));
  return largest;
}

}  // namespace quintet::electronic::reference
