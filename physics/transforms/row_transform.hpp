#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "physics/transforms/fft.hpp"
#include "physics/transforms/line_basis.hpp"

namespace quintet {

/// Orthonormal real transforms of rows of n values: c = Q x, x = Q^T c, so that sum c^2 = sum x^2.
///
/// periodic: coefficients in the order 1, cos 1, -sin 1, cos 2, -sin 2, ... (and the highest cosine alone
/// where n is even). Two rows are one complex transform, so 2 lanes of rows are worked on at a time. Sources:
/// Makhoul 1980, IEEE Trans. ASSP 28, 27 (DCT-II); Swarztrauber 1986, SIAM Rev. 28, 1 (sines).
class RowTransform {
 public:
  RowTransform(LineBasis basis, int n);
  [[nodiscard]] int size() const { return n_; }
  [[nodiscard]] LineBasis basis() const { return basis_; }
  /// The angle theta of each coefficient, [n]: second differences are -(2 - 2 cos theta) there.
  [[nodiscard]] const std::vector<double>& angles() const { return angles_; }

  /// Rows that forward() and backward() take at most.
  static constexpr int batch = 2 * Fft::lanes;
  [[nodiscard]] std::size_t work_size() const;

  /// Coefficients of `n_rows` (at most `batch`) rows; row r begins at from + r from_stride, its coefficients
  /// go to to + r to_stride (the same place is allowed). `work`: [work_size()], aligned to 64 bytes.
  void forward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride, int n_rows,
               double* work) const;
  /// Values from coefficients.
  void backward(const double* from, std::size_t from_stride, double* to, std::size_t to_stride, int n_rows,
                double* work) const;

 private:
  LineBasis basis_;
  int n_;
  Fft fft_;
  std::vector<double> angles_;
  std::vector<double> cos_, sin_;  ///< of pi k/(2 n), for cosines and sines at centres
};

}  // namespace quintet
