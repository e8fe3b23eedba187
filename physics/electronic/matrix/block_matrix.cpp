#include "physics/electronic/matrix/block_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "io/log/error.hpp"

namespace quintet::electronic {

namespace {

/// Blocks of local column c: begin and end.
std::pair<std::int64_t, std::int64_t> blocks_of(const BlockMatrix& m, int c) {
  return {m.column_begin[c], m.column_begin[c + 1]};
}

/// Values of block p of local column c.
std::span<const double> block(const BlockMatrix& m, int c, std::int64_t p) {
  const std::size_t size = std::int64_t{m.blocking->size(m.row[p])} * m.blocking->size(m.first + c);
  return {m.value.data() + m.offset[p], size};
}

double sum_of_squares(std::span<const double> values) {
  double sum = 0;
  for (const double v : values) sum += v * v;
  return sum;
}

void check_alike(const BlockMatrix& a, const BlockMatrix& b) {
  QUINTET_CHECK(a.blocking->n_rows() == b.blocking->n_rows(),
                "two matrices of different size: {} rows and {} rows", a.blocking->n_rows(),
                b.blocking->n_rows());
  QUINTET_CHECK(a.blocking == b.blocking ||
                    (a.blocking->begin == b.blocking->begin && a.blocking->order == b.blocking->order),
                "two matrices of {} rows are divided into different blocks", a.blocking->n_rows());
  QUINTET_CHECK(a.rank_begin == b.rank_begin, "two matrices are shared out over the ranks differently");
}

/// Both matrices' blocks of local column c, rows ascending: visit(row, p in a or -1, q in b or -1).
template <class Visit>
void merge_column(const BlockMatrix& a, const BlockMatrix& b, int c, Visit&& visit) {
  auto [p, p_end] = blocks_of(a, c);
  auto [q, q_end] = blocks_of(b, c);
  while (p < p_end || q < q_end) {
    const bool in_a = p < p_end && (q == q_end || a.row[p] <= b.row[q]);
    const bool in_b = q < q_end && (p == p_end || b.row[q] <= a.row[p]);
    visit(in_a ? a.row[p] : b.row[q], in_a ? p : -1, in_b ? q : -1);
    p += in_a ? 1 : 0;
    q += in_b ? 1 : 0;
  }
}

void add_scaled(double factor, std::span<const double> from, double* to) {
  for (std::size_t k = 0; k < from.size(); ++k) to[k] += factor * from[k];
}

}  // namespace

BlockMatrix empty_like(const BlockMatrix& like) {
  BlockMatrix m(like.comm);
  m.blocking = like.blocking;
  m.first = like.first;
  m.last = like.last;
  m.rank_begin = like.rank_begin;
  return m;
}

bool same_matrix(const BlockMatrix& a, const BlockMatrix& b) {
  const bool same = *a.blocking == *b.blocking && a.rank_begin == b.rank_begin &&
                    a.column_begin == b.column_begin && a.row == b.row && a.value == b.value;
  return !a.comm.any(!same);
}

int BlockMatrix::owner(int column) const {
  const auto after = std::upper_bound(rank_begin.begin(), rank_begin.end(), column);
  return static_cast<int>(after - rank_begin.begin()) - 1;
}

double BlockMatrix::bytes() const {
  return value.size() * sizeof(double) + row.size() * sizeof row[0] +
         (offset.size() + column_begin.size()) * sizeof(std::int64_t);
}

std::vector<int> share_columns(const Comm& comm, const Blocking& blocking, std::span<const double> weight) {
  return share_columns(comm.size(), blocking, weight);
}

std::vector<int> share_columns(int n_ranks, const Blocking& blocking, std::span<const double> weight) {
  QUINTET_CHECK(weight.empty() || std::ssize(weight) == blocking.n_blocks(),
                "{} weights were given for {} block columns", weight.size(), blocking.n_blocks());
  const auto weight_of = [&](int b) { return weight.empty() ? blocking.size(b) : weight[b]; };
  double total = 0;
  for (int b = 0; b < blocking.n_blocks(); ++b) {
    QUINTET_CHECK(weight_of(b) >= 0 && std::isfinite(weight_of(b)), "block column {} has the weight {}",
                  b + 1, weight_of(b));
    total += weight_of(b);
  }
  std::vector<int> begin{0};
  double so_far = 0;
  for (int b = 0; b < blocking.n_blocks(); ++b) {
    const double middle = so_far + 0.5 * weight_of(b);
    while (std::ssize(begin) < n_ranks && middle * n_ranks > total * begin.size()) begin.push_back(b);
    so_far += weight_of(b);
  }
  begin.resize(n_ranks + 1, blocking.n_blocks());
  return begin;
}

std::vector<Triplet> elements(const BlockMatrix& matrix) {
  const auto& blocks = *matrix.blocking;
  const auto users_row = [&](int row) { return blocks.order.empty() ? row : blocks.order[row]; };
  std::vector<Triplet> list;
  list.reserve(matrix.value.size());
  for (int c = 0; c < matrix.n_columns(); ++c) {
    const int column = matrix.first + c;
    for (auto [p, end] = blocks_of(matrix, c); p < end; ++p) {
      const double* value = matrix.value.data() + matrix.offset[p];
      const int row = matrix.row[p];
      for (int j = blocks.begin[column]; j < blocks.begin[column + 1]; ++j)
        for (int i = blocks.begin[row]; i < blocks.begin[row + 1]; ++i, ++value)
          if (*value != 0 || i == j) list.push_back({users_row(i), users_row(j), *value});
    }
  }
  return list;
}

double filter(BlockMatrix& matrix, double threshold) {
  QUINTET_CHECK(threshold >= 0, "a threshold of {} for blocks; expected 0 or more", threshold);
  double dropped = 0;
  std::int64_t kept = 0, end_of_values = 0;
  for (int c = 0; c < matrix.n_columns(); ++c) {
    const auto [begin, end] = blocks_of(matrix, c);
    matrix.column_begin[c] = kept;
    // blocks move to the front only, so what is still to be read is not overwritten
    for (auto p = begin; p < end; ++p) {
      const auto values = block(matrix, c, p);
      const double squares = sum_of_squares(values);
      if (matrix.row[p] != matrix.first + c && std::sqrt(squares) < threshold) {
        dropped += squares;
        continue;
      }
      std::copy(values.begin(), values.end(), matrix.value.begin() + end_of_values);
      matrix.row[kept] = matrix.row[p];
      matrix.offset[kept] = end_of_values;
      end_of_values += values.size();
      ++kept;
    }
    // the next column begins where this one ended before: column_begin[c + 1] is untouched until then
  }
  matrix.column_begin[matrix.n_columns()] = kept;
  matrix.row.resize(kept);
  matrix.offset.resize(kept);
  matrix.value.resize(end_of_values);
  return std::sqrt(matrix.comm.sum(dropped));
}

BlockMatrix add(double a, const BlockMatrix& A, double b, const BlockMatrix& B) {
  check_alike(A, B);
  BlockMatrix sum = empty_like(A);
  std::int64_t n_values = 0;
  for (int c = 0; c < A.n_columns(); ++c) {
    merge_column(A, B, c, [&](std::int32_t row, std::int64_t, std::int64_t) {
      sum.row.push_back(row);
      sum.offset.push_back(n_values);
      n_values += std::int64_t{A.blocking->size(row)} * A.blocking->size(A.first + c);
    });
    sum.column_begin.push_back(sum.n_blocks());
  }
  sum.value.assign(n_values, 0.0);
  std::size_t k = 0;
  for (int c = 0; c < A.n_columns(); ++c)
    merge_column(A, B, c, [&](std::int32_t, std::int64_t p, std::int64_t q) {
      double* to = sum.value.data() + sum.offset[k++];
      if (p >= 0) add_scaled(a, block(A, c, p), to);
      if (q >= 0) add_scaled(b, block(B, c, q), to);
    });
  return sum;
}

namespace {

/// A sum of many numbers with the rounding of one: what each addition loses is kept (Neumaier 1974).
class CompensatedSum {
 public:
  void add(double x) {
    const double sum = sum_ + x;
    lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - sum) + x : (x - sum) + sum_;
    sum_ = sum;
  }
  [[nodiscard]] double value() const { return sum_ + lost_; }

 private:
  double sum_ = 0, lost_ = 0;
};

}  // namespace

double dot(const BlockMatrix& a, const BlockMatrix& b) {
  check_alike(a, b);
  CompensatedSum sum;
  for (int c = 0; c < a.n_columns(); ++c)
    merge_column(a, b, c, [&](std::int32_t, std::int64_t p, std::int64_t q) {
      if (p < 0 || q < 0) return;
      const auto x = block(a, c, p), y = block(b, c, q);
      double of_block = 0;
      for (std::size_t k = 0; k < x.size(); ++k) of_block += x[k] * y[k];
      sum.add(of_block);
    });
  return a.comm.sum(sum.value());
}

double trace(const BlockMatrix& a) {
  CompensatedSum sum;
  for (int c = 0; c < a.n_columns(); ++c) {
    const auto [begin, end] = blocks_of(a, c);
    const auto rows_begin = a.row.begin() + begin, rows_end = a.row.begin() + end;
    const auto found = std::lower_bound(rows_begin, rows_end, a.first + c);
    if (found == rows_end || *found != a.first + c) continue;
    const auto values = block(a, c, found - a.row.begin());
    const std::int64_t n = a.blocking->size(a.first + c);
    for (std::int64_t i = 0; i < n; ++i) sum.add(values[i * n + i]);
  }
  return a.comm.sum(sum.value());
}

double frobenius_norm(const BlockMatrix& a) {
  // the blocks fill `value` without gaps
  return std::sqrt(a.comm.sum(sum_of_squares({a.value.data(), a.value.size()})));
}

}  // namespace quintet::electronic
