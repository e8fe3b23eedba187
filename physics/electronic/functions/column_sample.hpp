#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quintet::electronic {

/// An estimated number with the standard deviation of the estimate.
struct Estimate {
  double value = 0, deviation = 0;
  /// Upper bound of the number, approximately.
  [[nodiscard]] double size() const { return std::hypot(value, deviation); }
};
/// Estimate of the sum of two independent numbers.
[[nodiscard]] inline Estimate operator+(Estimate a, Estimate b) {
  return {a.value + b.value, std::hypot(a.deviation, b.deviation)};
}
[[nodiscard]] inline Estimate operator*(double factor, Estimate a) {
  return {factor * a.value, std::abs(factor) * a.deviation};
}

/// A block column of a sample; `chosen` for what it is like, not by chance.
struct SampledColumn {
  std::int32_t column;
  bool chosen;
};

/// Block columns of a density matrix P whose errors stand for those of all.
///
/// Three of four follow each other at multiples of the golden ratio, which meets a supercell's cells evenly;
/// each fourth is the column with the largest defect d_c = Tr_c(P P - P) that no chosen one has already.
/// Sums over all columns are taken by regression on d, which is known of all: to first order an error of P
/// inside the occupied or the empty space is a defect, and what it takes from the energy is that times the
/// distance to mu. On water this halves the deviation.
class ColumnSample {
 public:
  /// At most `most` columns, in the order in which they are wanted; `defect` of each column of the matrix.
  ColumnSample(std::vector<double> defect, std::size_t most);

  [[nodiscard]] const std::vector<SampledColumn>& columns() const { return columns_; }
  /// Defect of the column at a place of columns().
  [[nodiscard]] double defect(std::size_t place) const { return defect_[columns_[place].column]; }
  /// Sum over all columns of a number that is known of the first columns, by regression if `regress`.
  [[nodiscard]] Estimate total(std::span<const double> number, bool regress) const;

 private:
  std::vector<double> defect_;
  std::vector<SampledColumn> columns_;
};

}  // namespace quintet::electronic
