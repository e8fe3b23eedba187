#include "physics/electronic/submatrix/block_multiply.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <vector>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/electronic/matrix/column_store.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/matrix/ranked_columns.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"
#include "physics/kernels/pack.hpp"
#include "physics/sparse/device_products.hpp"

namespace quintet::electronic {

namespace {

using Lanes = Pack<double>;
constexpr int width = pack_width<double>;

/// A block of A beside the place of its rows in a column of C.
struct Term {
  const double* block;
  std::int32_t place, rows;
};

/// y[0 .. height) += A x for `height` rows of a column-major block with `stride` rows; sums in registers.
template <int height>
void add_rows(const double* __restrict a, int stride, int columns, const Lanes* __restrict x,
              Lanes* __restrict y) {
  Lanes sum[height];
  for (int r = 0; r < height; ++r) sum[r] = y[r];
  for (int c = 0; c < columns; ++c, a += stride)
#pragma GCC unroll 6
    for (int r = 0; r < height; ++r) sum[r] += a[r] * x[c];
  for (int r = 0; r < height; ++r) y[r] = sum[r];
}

/// y += A x, A [rows, columns] column-major.
void add_block(const double* a, int rows, int columns, const Lanes* x, Lanes* y) {
  int r = 0;
  for (; r + 6 <= rows; r += 6) add_rows<6>(a + r, rows, columns, x, y + r);
  switch (rows - r) {
    case 0:
      return;
    case 1:
      return add_rows<1>(a + r, rows, columns, x, y + r);
    case 2:
      return add_rows<2>(a + r, rows, columns, x, y + r);
    case 3:
      return add_rows<3>(a + r, rows, columns, x, y + r);
    case 4:
      return add_rows<4>(a + r, rows, columns, x, y + r);
    case 5:
      return add_rows<5>(a + r, rows, columns, x, y + r);
    default:
      throw InternalError("a block with a negative number of rows");
  }
}

/// What a product of norms must reach to count in local column j: n products left out, of random signs, come
/// to sqrt(n) of them.
double limit_of(const BlockMatrix& b, int j, double error) {
  const auto n = b.column_begin[j + 1] - b.column_begin[j];
  return error / std::sqrt(static_cast<double>(std::max<std::int64_t>(1, n)));
}

/// y[place + p rows + r] += A x for the blocks of a column of A, p the pack of x; 6 x 6 blocks (a molecule of
/// water) with x in registers.
void add_terms(std::span<const Term> terms, int columns, int p, const Lanes* x, Lanes* y) {
  if (columns != 6) {
    for (const Term& term : terms)
      add_block(term.block, term.rows, columns, x, y + term.place + p * term.rows);
    return;
  }
  const Lanes own[6] = {x[0], x[1], x[2], x[3], x[4], x[5]};
  for (const Term& term : terms)
    if (term.rows == 6)
      add_rows<6>(term.block, 6, 6, own, y + term.place + 6 * p);
    else
      add_block(term.block, term.rows, columns, x, y + term.place + p * term.rows);
}

/// One block of each pair (i, j), (j, i), as many in each column: a chequerboard's.
bool in_half(std::int32_t row, std::int32_t column) {
  return row == column || (row < column) == ((row + column) % 2 == 0);
}

/// A block of B and the smallest norm of A's blocks that counts for it.
struct Factor {
  const double* block;
  double least;
};

/// A column of a product while its terms are summed.
class ColumnProduct {
 public:
  ColumnProduct(const Blocking& blocks, bool symmetric) : blocks_(&blocks), symmetric_(symmetric) {
    place_.assign(blocks.n_blocks(), unseen);
  }

  /// Begin with column `column`, without rows or with those of a pattern, to which it keeps.
  void start(std::int32_t column) {
    column_ = column;
    width_ = blocks_->size(column);
    n_packs_ = padded(width_, width) / width;
    closed_ = false;
    rows_.clear();
    unwanted_.clear();
    y_.clear();
  }
  void keep_to(std::span<const std::int32_t> rows) {
    closed_ = true;
    for (const auto row : rows)
      if (wants(row)) add_row(row);
  }

  /// Add A_k B_k, all blocks of A's column k times one of B.
  void add(std::int32_t k, const RankedColumns::Column& a, const Factor& b) {
    const int size = blocks_->size(k);
    load_packs(b.block, size);  // well before they are read as packs
    find_terms(a, size, b.least);
    for (int p = 0; p < n_packs_; ++p) add_terms(terms_, size, p, x_.data() + p * size, y_.data());
  }

  /// Append the column to C without its blocks below `threshold`.
  void finish(BlockMatrix& c, double threshold) {
    std::sort(rows_.begin(), rows_.end());
    for (const auto row : rows_) append_block(c, row, threshold);
    c.column_begin.push_back(c.n_blocks());
    for (const auto row : rows_) place_[row] = unseen;
    for (const auto row : unwanted_) place_[row] = unseen;
  }

 private:
  static constexpr std::int32_t unseen = -1, unwanted = -2;

  [[nodiscard]] bool wants(std::int32_t row) const { return !symmetric_ || in_half(row, column_); }

  void add_row(std::int32_t row) {
    place_[row] = y_.size();
    rows_.push_back(row);
    y_.resize(y_.size() + (blocks_->size(row) * n_packs_), Lanes{});
  }

  /// A row that no column of A had so far.
  void meet(std::int32_t row) {
    if (!closed_ && wants(row)) return add_row(row);
    place_[row] = unwanted;
    unwanted_.push_back(row);
  }

  /// Blocks of A's column of norms not below `least` (not a number counts) in wanted rows.
  void find_terms(const RankedColumns::Column& a, int columns, double least) {
    std::size_t n = 0;
    while (n < a.norm.size() && !(a.norm[n] < least)) ++n;
    terms_.resize(n);
    Term* term = terms_.data();
    const double* block = a.value;
    for (const auto row : a.row.first(n)) {
      if (place_[row] == unseen) meet(row);
      const int rows = blocks_->size(row);
      *term = {block, place_[row], rows};
      term += place_[row] >= 0 ? 1 : 0;  // no branch: which rows are wanted is hard to foresee
      block += rows * columns;
    }
    terms_.resize(term - terms_.data());
  }

  /// The columns of B's block b [size, width_], a pack of them at a time.
  void load_packs(const double* b, int size) {
    x_.assign(n_packs_ * size, Lanes{});
    for (int c = 0; c < width_; ++c)
      for (int i = 0; i < size; ++i) x_[c / width * size + i][c % width] = *b++;
  }

  void append_block(BlockMatrix& c, std::int32_t row, double threshold) {
    const int rows = blocks_->size(row);
    const Lanes* from = y_.data() + place_[row];
    Lanes squares{};  // lanes without a column are 0
    for (int i = 0; i < n_packs_ * rows; ++i) squares += from[i] * from[i];
    if (row != column_ && horizontal_sum<double>(squares) < threshold * threshold) return;
    c.row.push_back(row);
    c.offset.push_back(c.value.size());
    c.value.resize(c.value.size() + (rows * width_));
    double* to = c.value.data() + c.offset.back();
    for (int l = 0; l < width_; ++l)
      for (int i = 0; i < rows; ++i) *to++ = from[l / width * rows + i][l % width];
  }

  const Blocking* blocks_;
  bool symmetric_, closed_ = false;
  std::int32_t column_ = 0;
  int width_ = 0, n_packs_ = 0;
  std::vector<std::int32_t> place_;  ///< of each block row in y_, or one of these
  std::vector<std::int32_t> rows_, unwanted_;
  std::vector<Term> terms_;
  AlignedVector<Lanes> x_, y_;
};

/// All columns of a product, a group of them at a time: what one of them brought into the cache of A the
/// others use.
class Product {
 public:
  Product(const RankedColumns& a, const BlockMatrix& b, const ProductOptions& options)
      : a_(a),
        b_(b),
        norms_(block_norms(b).value),
        options_(options),
        columns_(together, ColumnProduct(*b.blocking, options.symmetric)),
        bound_(b.blocking->n_blocks(), -1) {}

  void append_to(BlockMatrix& c) {
    if (has_device() && append_from_device(c)) return;
    for (int first = 0; first < b_.n_columns(); first += together) {
      if (options_.interrupt && options_.interrupt()) return;
      append_group(c, first, std::min(together, b_.n_columns() - first));
      if (first == 0)  // memory that is not written costs nothing
        c.value.reserve(c.value.size() * (c.column_begin.size() + b_.n_columns()) /
                        (c.column_begin.size() - 1));
    }
  }

 private:
  static constexpr int together = 8;

  [[nodiscard]] bool has_device() const {
    return options_.device != nullptr && knows_rows() && b_.value.size() >= options_.least_on_device;
  }
  /// Whether rows of C are known before it is computed, and those of a column.
  [[nodiscard]] bool knows_rows() const { return options_.pattern != nullptr || options_.threshold > 0; }
  std::span<const std::int32_t> wanted_rows(int c) {
    if (options_.pattern != nullptr) return rows_of(*options_.pattern, c);
    return rows_that_may_stay(c);
  }

  /// All columns by the device. False where it has no memory for them.
  bool append_from_device(BlockMatrix& c) {
    const Blocking& blocks = *b_.blocking;
    std::vector<std::int32_t> size, width, row;
    std::vector<std::int64_t> begin{0}, offset;
    std::vector<double> least;
    for (std::int32_t i = 0; i < blocks.n_blocks(); ++i) size.push_back(blocks.size(i));
    std::int64_t n_values = 0;
    for (int j = 0; j < b_.n_columns(); ++j) {
      width.push_back(size[b_.first + j]);
      for (auto p = b_.column_begin[j]; p < b_.column_begin[j + 1]; ++p)
        least.push_back(limit_of(b_, j, options_.error) / norms_[p]);
      for (const auto i : wanted_rows(j))
        if (!options_.symmetric || in_half(i, b_.first + j)) row.push_back(i);
      std::sort(row.begin() + begin.back(), row.end());
      for (std::size_t q = begin.back(); q < row.size(); ++q) {
        offset.push_back(n_values);
        n_values += std::int64_t{size[row[q]]} * width.back();
      }
      begin.push_back(row.size());
    }
    const auto a = a_.by_rows(blocks);
    AlignedVector<double> value;
    try {
      value.resize(n_values);  // of all columns, which the core has not at once
      options_.device->multiply({size, a.begin, a.row, a.norm, a.offset, a_.values(), width, b_.column_begin,
                                 b_.row, least, b_.offset, b_.value, begin, row, offset},
                                value);
    } catch (const std::exception& error) {
      log::info("A product of block matrices of {:.3g} and {:.3g} bytes stays on the cores: {}",
                8.0 * a_.values().size(), b_.bytes(), error.what());
      return false;
    }
    const double least_squares = options_.threshold * options_.threshold;
    for (int j = 0; j < b_.n_columns(); ++j) {
      for (auto q = begin[j]; q < begin[j + 1]; ++q) {
        const std::span block(value.data() + offset[q], std::int64_t{size[row[q]]} * width[j]);
        double squares = 0;
        for (const double element : block) squares += element * element;
        if (row[q] != b_.first + j && squares < least_squares) continue;
        c.row.push_back(row[q]);
        c.offset.push_back(c.value.size());
        c.value.insert(c.value.end(), block.begin(), block.end());
      }
      c.column_begin.push_back(c.n_blocks());
    }
    return true;
  }

  void append_group(BlockMatrix& c, int first, int n) {
    std::array<std::int64_t, together> next{};  // block of B of each column
    for (int g = 0; g < n; ++g) {
      next[g] = b_.column_begin[first + g];
      columns_[g].start(b_.first + first + g);
      if (knows_rows()) columns_[g].keep_to(wanted_rows(first + g));
    }
    for (;;) {
      std::int32_t k = b_.blocking->n_blocks();
      for (int g = 0; g < n; ++g)
        if (next[g] < b_.column_begin[first + g + 1]) k = std::min(k, b_.row[next[g]]);
      if (k == b_.blocking->n_blocks()) break;
      const auto a = a_[k];
      for (int g = 0; g < n; ++g) {
        const auto p = next[g];
        if (p == b_.column_begin[first + g + 1] || b_.row[p] != k) continue;
        columns_[g].add(
            k, a, {b_.value.data() + b_.offset[p], limit_of(b_, first + g, options_.error) / norms_[p]});
        ++next[g];
      }
    }
    for (int g = 0; g < n; ++g) columns_[g].finish(c, options_.threshold);
  }

  /// Rows of local column c of C where the norms allow for the threshold: |C_ij| <= sum_k |A_ik| |B_kj|. The
  /// others need not be computed, which leaves the columns at hand in the cache.
  const std::vector<std::int32_t>& rows_that_may_stay(int c) {
    for (auto p = b_.column_begin[c]; p < b_.column_begin[c + 1]; ++p) {
      const auto a = a_[b_.row[p]];
      for (std::size_t i = 0; i < a.row.size(); ++i) {
        double& bound = bound_[a.row[i]];
        if (bound < 0) {
          bound = 0;
          met_.push_back(a.row[i]);
        }
        bound += a.norm[i] * norms_[p];
      }
    }
    rows_.clear();
    for (const auto row : met_) {
      if (row == b_.first + c || !(bound_[row] < options_.threshold)) rows_.push_back(row);
      bound_[row] = -1;
    }
    met_.clear();
    return rows_;
  }

  static std::span<const std::int32_t> rows_of(const BlockMatrix& m, int c) {
    const std::size_t from = m.column_begin[c], to = m.column_begin[c + 1];
    return std::span(m.row).subspan(from, to - from);
  }

  const RankedColumns& a_;
  const BlockMatrix& b_;
  const AlignedVector<double> norms_;
  const ProductOptions& options_;
  std::vector<ColumnProduct> columns_;
  std::vector<double> bound_;  ///< of the norm of each row's block, or -1
  std::vector<std::int32_t> met_, rows_;
};

void check_factors(const BlockMatrix& a, const BlockMatrix& b) {
  QUINTET_CHECK(a.blocking->begin == b.blocking->begin && a.rank_begin == b.rank_begin,
                "the factors of a product have different blocks or shares ({} and {} rows)",
                a.blocking->n_rows(), b.blocking->n_rows());
}

/// The smallest norm that matters in each block column of A.
std::vector<double> needed_norms(const BlockMatrix& b, double error) {
  const auto norms = block_norms(b).value;
  std::vector<double> needed(b.blocking->n_blocks(), std::numeric_limits<double>::infinity());
  for (int j = 0; j < b.n_columns(); ++j)
    for (auto p = b.column_begin[j]; p < b.column_begin[j + 1]; ++p) {
      double& least = needed[b.row[p]];
      const double norm = limit_of(b, j, error) / norms[p];
      least = std::isnan(norm) ? 0 : std::min(least, norm);
    }
  return needed;
}

}  // namespace

BlockMatrix multiply(const BlockMatrix& a, const BlockMatrix& b, const ProductOptions& options) {
  check_factors(a, b);
  if (options.pattern != nullptr) check_factors(*options.pattern, b);
  const RankedColumns columns(ColumnStore(a, b.row), *a.blocking, needed_norms(b, options.error));
  BlockMatrix c = empty_like(b);
  Product(columns, b, options).append_to(c);
  give_up_if_asked(b.comm, options.interrupt);
  return options.symmetric ? with_mirror(c) : c;
}

BlockMatrix multiply(const BlockMatrix& a, const BlockMatrix& b, double threshold) {
  return multiply(a, b, ProductOptions{.threshold = threshold});
}

}  // namespace quintet::electronic
