#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "io/device/factory.hpp"
#include "physics/sparse/device_products.hpp"

namespace quintet::electronic {

/// A symmetric block-sparse matrix by block rows, both triangles.
///
/// Block (i, column[p]), p in row_begin[i] .. row_begin[i + 1], is column-major [size[i], size[column[p]]] at
/// value + offset[p]; columns of a row ascend, and its blocks follow on each
/// other in memory where that is to be fast. A row that nobody asks for may be empty.
struct BlockRowsView {
  std::span<const std::int32_t> size;  ///< rows of each block
  std::span<const std::int64_t> row_begin;
  std::span<const std::int32_t> column;
  std::span<const std::int64_t> offset;
  std::span<const double> value;
};

/// A principal submatrix, and the columns of functions of it that are wanted.
struct WantedColumns {
  std::span<const std::int32_t> blocks;  ///< block rows, ascending
  std::span<const int> own;              ///< local rows
};

/// f(x) = sum_k c_k T_k((x - centre)/half_width), for several f of one degree.
struct SeriesView {
  double centre = 0, half_width = 1;
  std::span<const std::vector<double>> coefficients;
};

/// Functions of many submatrices on a device. No submatrix is copied there: they are cut from one copy of the
/// whole matrix.
///
/// Chebyshev series: what ColumnPolynomial does on a core, with a team for each submatrix and eight columns.
///
///     T_0 V = V,  T_1 V = a V,  T_{k+1} V = 2 a T_k V - T_{k-1} V,  a = (A - centre)/half_width
///
/// T_k V and T_{k-1} V stay in the team's fast memory [n, 8] where they fit (228 KB of a streaming
/// multiprocessor: n = 1750 in double precision), blocks of A stream from the whole matrix, which is in the
/// cache of the device where it is small.
///
/// Newton-Schulz: newton_schulz_columns() with products of all submatrices of about a size at once.
///
/// Eigenpairs: dense_eigen.hpp, a batch at a time.
///
/// And products of matrices of blocks.
class DeviceSubmatrices : public DeviceProducts {
 public:
  /// The matrix that submatrices are cut from from now on.
  virtual void set_matrix(const BlockRowsView& a) = 0;
  /// Evaluate; `done(task, columns, moments)` is called for one task after the other: columns [function][n,
  /// n_own] column-major, moments [term] = sum_c e_c^T T_k e_c over own columns, and the number of elements
  /// that the submatrix has stored. It returns false where the rest is not wanted any more.
  using Done = std::function<bool(std::size_t task, std::span<const double> columns,
                                  std::span<const double> moments, double n_elements)>;
  virtual void evaluate(std::span<const WantedColumns> tasks, const SeriesView& series, bool single_precision,
                        const Done& done) = 0;
  /// Own columns of (1 - sign(a - mu))/2, see newton_schulz_columns(), of the largest submatrices first.
  /// `done(task, columns, history)`: columns [n, n_own], ||R||_F of each iteration; where the last one is not
  /// below error sqrt(n) it has not converged, and columns are empty.
  using DoneSign =
      std::function<bool(std::size_t task, std::span<const double> columns, std::span<const double> history)>;
  virtual void newton_schulz(std::span<const WantedColumns> tasks, double mu, double error, int order,
                             const DoneSign& done) = 0;
  /// All eigenpairs, the largest submatrices first: `done(task, values, vectors)`, values [n] ascending,
  /// vectors [n, n] a column each. Both are empty where the solver has not converged.
  using DonePairs =
      std::function<bool(std::size_t task, std::span<const double> values, std::span<const double> vectors)>;
  virtual void eigenpairs(std::span<const WantedColumns> tasks, const DonePairs& done) = 0;
  /// Seconds that the device has computed since the start, copies not counted.
  [[nodiscard]] virtual double kernel_seconds() const = 0;
};

}  // namespace quintet::electronic

/// @param batch_bytes of results and lists on the device at a time
QUINTET_DEVICE_FACTORY quintet::electronic::DeviceSubmatrices* quintet_make_device_submatrices(
    double batch_bytes);
