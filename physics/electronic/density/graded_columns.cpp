#include "physics/electronic/density/graded_columns.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/matrix/local_matrix.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::electronic {

namespace {

using Lanes = Pack<double>;
constexpr int width = pack_width<double>;

/// A block row of a column of F.
struct CoupledRow {
  std::int32_t block;
  double coupling;      ///< g
  std::int64_t offset;  ///< of the block in F
};

/// Those of local column c, the diagonal block first, then by falling coupling.
std::vector<CoupledRow> rows_by_coupling(const BlockMatrix& f, const BlockMatrix& reach, int c) {
  std::vector<CoupledRow> rows;
  double own = 1;
  for (auto p = f.column_begin[c]; p < f.column_begin[c + 1]; ++p) {
    rows.push_back({f.row[p], reach.value[p], f.offset[p]});
    if (f.row[p] == f.first + c) own = reach.value[p];
  }
  for (CoupledRow& row : rows)
    row.coupling = row.block == f.first + c ? std::numeric_limits<double>::infinity() : row.coupling / own;
  std::sort(rows.begin(), rows.end(), [](const CoupledRow& l, const CoupledRow& r) {
    return l.coupling != r.coupling ? l.coupling > r.coupling : l.block < r.block;
  });
  return rows;
}

/// sum_(l >= k) |c_l| of each k.
std::vector<double> tails_of(const std::vector<double>& c) {
  std::vector<double> tail(c.size());
  double sum = 0;
  for (std::size_t k = c.size(); k-- > 0;) tail[k] = sum += std::abs(c[k]);
  return tail;
}

/// Columns of a series, from its end, in as many leading rows as each degree needs.
class LeadingRows {
 public:
  /// @param a 2 (A - centre)/half_width @param n_rows of each degree, falling
  void evaluate(const LocalMatrix<double>& a, const std::vector<double>& c, const std::vector<int>& n_rows,
                int first, int count) {
    const std::size_t n = a.n();
    now_.assign(n, Lanes{});     // b_(k+1)
    before_.assign(n, Lanes{});  // b_(k+2)
    for (std::size_t k = c.size(); k-- > 1;) {
      for (int i = 0; i < n_rows[k]; ++i) before_[i] = -before_[i];
      a.apply_leading(now_.data(), before_.data(), n_rows[k]);
      for (int l = 0; l < count; ++l) before_[first + l][l] += c[k];
      now_.swap(before_);
    }
    for (Lanes& value : before_) value *= -2.0;  // f = c_0 V + X b_1 - b_2
    a.apply(now_.data(), before_.data());
    for (Lanes& value : before_) value *= 0.5;
    for (int l = 0; l < count; ++l) before_[first + l][l] += c[0];
  }
  [[nodiscard]] double operator()(int row, int lane) const { return before_[row][lane]; }

 private:
  AlignedVector<Lanes> now_, before_;
};

}  // namespace

GradedColumns evaluate_columns_graded(const BlockMatrix& a, const BlockMatrix& reach,
                                      const ChebyshevSeries& series, const GradedErrors& errors,
                                      const Interrupt& interrupt) {
  BlockMatrix f = pattern_of(reach, a.blocking);
  const GatheredMatrix gathered = gather(a, submatrix_rows(f));
  const auto& coefficients = series.coefficients.front();
  const std::vector<double> tail = tails_of(coefficients);
  LocalMatrix<double> local;
  LeadingRows columns;
  double work[] = {0, 0};  // done, and of all rows
  for (int c = 0; c < f.n_columns() && !(interrupt && interrupt()); ++c) {
    const std::vector<CoupledRow> rows = rows_by_coupling(f, reach, c);
    BlockRows blocks;
    for (const CoupledRow& row : rows) blocks.push_back(row.block);
    local.assign(gathered, blocks, series.centre, 2 / series.half_width);
    std::vector<int> n_rows(coefficients.size());
    for (std::size_t k = coefficients.size(), n = 1; k-- > 0;) {
      while (n < rows.size() && (tail[k] * rows[n].coupling > errors.column ||
                                 tail[k] * rows[n].coupling * rows[n].coupling > errors.diagonal))
        ++n;
      n_rows[k] = local.begin()[n];
    }
    n_rows[0] = local.n();
    for (std::size_t k = 0; k + 1 < n_rows.size(); ++k) {  // a step a degree
      work[0] += std::pow(n_rows[k], 2);
      work[1] += std::pow(local.n(), 2);
    }
    const int n_own = f.blocking->size(f.first + c);
    for (int first = 0; first < n_own; first += width) {
      const int count = std::min(width, n_own - first);
      columns.evaluate(local, coefficients, n_rows, first, count);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const int begin = local.begin()[i], size = local.begin()[i + 1] - begin;
        double* to = f.value.data() + rows[i].offset + std::int64_t{first} * size;
        for (int l = 0; l < count; ++l)
          for (int r = 0; r < size; ++r) *to++ = columns(begin + r, l);
      }
    }
  }
  give_up_if_asked(f.comm, interrupt);
  symmetrise(f);
  f.comm.reduce(std::span<double>(work), Comm::Reduction::sum);
  return {std::move(f), work[1] > 0 ? work[0] / work[1] : 1};
}

}  // namespace quintet::electronic
