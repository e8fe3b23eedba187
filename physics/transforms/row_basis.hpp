#pragma once

#include <cstddef>
#include <vector>

namespace quintet {

/// A basis of rows of n values in which second differences L along the row are diagonal: L = B diag(-k^2) F,
/// F B = 1.
class RowBasis {
 public:
  virtual ~RowBasis() = default;
  [[nodiscard]] virtual int size() const = 0;
  /// k^2 of each coefficient, [n].
  [[nodiscard]] virtual const std::vector<double>& squares() const = 0;

  /// Rows that forward() and backward() take at most, and doubles that they need beside them (aligned to 64
  /// bytes).
  [[nodiscard]] virtual int batch() const = 0;
  [[nodiscard]] virtual std::size_t work_size() const = 0;
  /// Coefficients c = F x of `n_rows` rows; row r begins at from + r from_stride, its coefficients go to to +
  /// r to_stride.
  virtual void forward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                       int n_rows, double* work) const = 0;
  /// Values x = B c from coefficients.
  virtual void backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride,
                        int n_rows, double* work) const = 0;
};

}  // namespace quintet
