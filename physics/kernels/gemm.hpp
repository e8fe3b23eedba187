#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {

namespace detail {
/// Elements of a cache line.
template <class T>
inline constexpr int cache_line = 64 / sizeof(T);
/// Rows that a copy fetches before it comes to them, those it reads and those it writes: they lie so far
/// apart that the processor does not.
inline constexpr int rows_ahead = 4;
}  // namespace detail

/// The right-hand matrix of many products, B[k, n], stored once in the order in which the kernel reads it.
///
/// Column panels of three packs, each panel [k][3 W], zero-padded.
template <class T>
class PackedMatrix {
 public:
  static constexpr int panel = 3 * pack_width<T>;

  PackedMatrix() = default;
  /// From row-major B `[k, n]`, or from its transpose (then `b` is `[n, k]`).
  PackedMatrix(const double* b, int k, int n, bool transposed = false);
  /// Pack B from values of T, as the constructor does, in the same memory: for weights that change in every
  /// step.
  void assign(const T* b, int k, int n, bool transposed = false);
  /// B and its transpose from B's rows of n numbers, which may lie anywhere: both while they are at hand.
  static void assign_both(const std::vector<const T*>& rows, int n, PackedMatrix& b,
                          PackedMatrix& transposed);

  [[nodiscard]] int k() const { return k_; }
  [[nodiscard]] int n() const { return n_; }
  /// Columns of a product's rows in memory: n rounded up to whole packs; the padding comes out as 0.
  [[nodiscard]] int stride() const { return padded(n_, pack_width<T>); }
  [[nodiscard]] const T* panel_data(int i) const { return data_.data() + std::int64_t{i} * k_ * panel; }
  /// All panels.
  [[nodiscard]] std::span<const T> memory() const { return data_; }
  /// Row-major B `[k, n]` again.
  void unpack(T* b) const;

 private:
  void resize(int k, int n);
  void set_row(int i, const T* row);
  template <class Row>
  void transpose_rows(const Row& row, int begin, int end, int first, int k);

  int k_ = 0, n_ = 0;
  AlignedVector<T> data_;
};

/// C = A B for row-major A `[m, k]` (stride lda) and C `[m, b.stride()]` (stride ldc).
///
/// Register tiles of 8 rows x 3 packs (4 x 3 without AVX-512), B in panels that stay in the first-level
/// cache; every row's sum runs over k in order, so a row's result does not depend on m. 2 m n k flops.
/// Instantiated for float and double.
template <class T>
void multiply(const T* a, int lda, int m, const PackedMatrix<T>& b, T* c, int ldc);

/// Row-major A `[rows, k]` (stride lda) and B `[rows, n]` (stride ldb) of a product A^T B.
template <class T>
struct TransposedFactors {
  const T* a;
  int lda;
  const T* b;
  int ldb;
};

/// C += sum of A^T B over the pairs, C `[k, n]` (stride ldc): the gradient of weights.
///
/// n is a multiple of the pack width (pad B's rows with 0). Strips of B's rows are copied into the order in
/// which the register tiles read them (work space of the thread, kept), so that its stride is of no matter;
/// of A's, multiples of large powers of two cost a few percent. Every sum runs over the rows in order.
template <class T>
void add_transposed_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int k, int n, T* c,
                             std::ptrdiff_t ldc);
/// Add products to a C whose rows lie anywhere, c[i] row i; see the function above.
template <class T>
void add_transposed_products(std::initializer_list<TransposedFactors<T>> pairs, int rows, int n,
                             const std::vector<T*>& c);

/// Columns of a left-hand matrix: row-major `[rows, k]` (stride lda).
template <class T>
struct LeftColumns {
  const T* a;
  int lda;
  int k;
  int delay = 0;  ///< row r is a[r - delay]; rows before are 0
};

/// C += A^T B as above, for an A whose columns lie in several places side by side, C `[k of all, n]`: strips
/// of B are copied once for all of them. Sums are those of one place after the other, to the bit.
template <class T>
void add_transposed_products(std::initializer_list<LeftColumns<T>> a, const T* b, int ldb, int rows, int n,
                             T* c, std::ptrdiff_t ldc);

}  // namespace quintet
