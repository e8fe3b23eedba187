#pragma once

#include "physics/kernels/gemm.hpp"
#include "physics/transforms/row_basis.hpp"

namespace quintet {

/// The eigenvectors of second differences along a line of cells of any width, by products with dense
/// matrices: 2 n flops a value either way. What transforms do for equal cells of a length that factorises.
class LineModes : public RowBasis {
 public:
  /// Modes of a line between ends: weight L = -S with S symmetric, tridiagonal and positive semidefinite.
  /// @param diagonal [n], off_diagonal [n - 1] of S @param weight [n] > 0
  /// @param first 1 where value 0 is a wall: it and coefficient 0 are 0
  /// @param constant whether the constant is a mode of k = 0, which is then exactly so and the first one
  LineModes(const std::vector<double>& diagonal, const std::vector<double>& off_diagonal,
            const std::vector<double>& weight, int first, bool constant);
  /// Modes of a ring of n equal cells: 1, cos, sin, ..., with the k^2 of differences.
  LineModes(int n, double spacing);

  [[nodiscard]] int size() const override { return forward_.k(); }
  [[nodiscard]] const std::vector<double>& squares() const override { return squares_; }
  [[nodiscard]] int batch() const override { return 64; }
  [[nodiscard]] std::size_t work_size() const override;
  void forward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride, int n_rows,
               double* work) const override;
  void backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride, int n_rows,
                double* work) const override;

 private:
  /// From modes as rows [n, n], orthonormal, of values times sqrt(weight).
  void pack(const std::vector<double>& modes, const std::vector<double>& weight);

  PackedMatrix<double> forward_, backward_;
  std::vector<double> squares_;
};

}  // namespace quintet
