#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::electronic {

namespace {

/// Elements handed in by a rank at once, which bounds the memory of the exchange.
constexpr std::size_t portion = 1 << 19;

/// A block on its way to its owner.
struct BlockKey {
  std::int32_t column, row;
  auto operator<=>(const BlockKey&) const = default;
};

/// Collects elements into a block matrix: first the pattern, then the values.
class Assembly {
 public:
  Assembly(const Comm& comm, std::shared_ptr<const Blocking> blocking, const std::vector<int>& rank_begin,
           bool symmetrise)
      : matrix_(comm), symmetrise_(symmetrise) {
    check_blocking(*blocking);
    QUINTET_CHECK(
        std::ssize(rank_begin) == comm.size() + 1 && rank_begin.front() == 0 &&
            rank_begin.back() == blocking->n_blocks() && std::is_sorted(rank_begin.begin(), rank_begin.end()),
        "the shares of block columns do not fit {} ranks and {} blocks", comm.size(), blocking->n_blocks());
    matrix_.blocking = std::move(blocking);
    matrix_.rank_begin = rank_begin;
    matrix_.first = rank_begin[comm.rank()];
    matrix_.last = rank_begin[comm.rank() + 1];
    row_of_ = blocked_rows(*matrix_.blocking);
    block_of_ = block_of_rows(*matrix_.blocking);
    owner_of_.resize(matrix_.blocking->n_blocks());
    for (int r = 0; r < comm.size(); ++r)
      std::fill(owner_of_.begin() + rank_begin[r], owner_of_.begin() + rank_begin[r + 1], r);
  }

  void make_pattern(std::span<const Triplet> elements) {
    check_range(elements);
    const auto keys = own_keys(elements);
    BlockMatrix& m = matrix_;
    std::int64_t n_values = 0;
    auto key = keys.begin();
    for (int c = m.first; c < m.last; ++c) {
      for (; key != keys.end() && key->column == c; ++key) {
        m.row.push_back(key->row);
        m.offset.push_back(n_values);
        n_values += std::int64_t{m.blocking->size(key->row)} * m.blocking->size(c);
      }
      m.column_begin.push_back(m.n_blocks());
    }
    m.value.assign(n_values, 0.0);
    given_.assign(n_values, 0);
    if (symmetrise_) difference_.assign(n_values, 0.0);
  }

  void fill(std::span<const Triplet> elements) {
    const Comm& comm = matrix_.comm;
    const long n = (elements.size() + portion - 1) / portion;
    for (long k = 0, rounds = comm.maximum(n); k < rounds; ++k) {
      const auto begin = std::min(k * portion, elements.size());
      const auto part = elements.subspan(begin, std::min(portion, elements.size() - begin));
      std::vector<std::vector<Triplet>> as_is(comm.size()), transposed(comm.size());
      for (const auto& e : part) {
        as_is[owner_of_element(e.column)].push_back(blocked(e));
        if (symmetrise_) transposed[owner_of_element(e.row)].push_back(blocked({e.column, e.row, e.value}));
      }
      for (const auto& list : comm.all_to_all(as_is))
        for (const auto& e : list) put(e, false);
      if (!symmetrise_) continue;
      for (const auto& list : comm.all_to_all(transposed))
        for (const auto& e : list) put(e, true);
    }
  }

  void check_asymmetry(double limit) const {
    const Comm& comm = matrix_.comm;
    double largest = 0;
    std::size_t place = 0;
    for (std::size_t k = 0; k < difference_.size(); ++k)
      if (!(std::abs(difference_[k]) <= largest)) {
        largest =
            std::isnan(difference_[k]) ? std::numeric_limits<double>::infinity() : std::abs(difference_[k]);
        place = k;
      }
    const double worst = comm.maximum(largest);
    throw_together(comm, worst > limit && largest == worst ? asymmetry_text(place, limit) : "");
  }

  void check_twice() const { throw_together(matrix_.comm, twice_); }
  [[nodiscard]] BlockMatrix take() { return std::move(matrix_); }

 private:
  [[nodiscard]] int owner_of_element(std::int32_t users_column) const {
    return owner_of_[block_of_[row_of_[users_column]]];
  }
  [[nodiscard]] Triplet blocked(const Triplet& e) const {
    return {row_of_[e.row], row_of_[e.column], e.value};
  }
  [[nodiscard]] int users_row(int row) const {
    const auto& order = matrix_.blocking->order;
    return order.empty() ? row : order[row];
  }

  void check_range(std::span<const Triplet> elements) const {
    const int n = matrix_.blocking->n_rows();
    std::string message;
    for (const auto& e : elements)
      if (e.row < 0 || e.row >= n || e.column < 0 || e.column >= n) {
        message = fmt::format("element (row {}, column {}) lies outside a matrix of {} rows",
                              std::int64_t{e.row} + 1, std::int64_t{e.column} + 1, n);
        break;
      }
    throw_together(matrix_.comm, message);
  }

  /// Blocks of this rank's columns that hold an element of any rank, sorted, once each.
  [[nodiscard]] std::vector<BlockKey> own_keys(std::span<const Triplet> elements) const {
    std::vector<std::vector<BlockKey>> send(owner_count());
    BlockKey last{-1, -1};
    for (const auto& e : elements) {
      const BlockKey key{block_of_[row_of_[e.column]], block_of_[row_of_[e.row]]};
      if (key == last) continue;
      last = key;
      send[owner_of_[key.column]].push_back(key);
      if (symmetrise_) send[owner_of_[key.row]].push_back({key.row, key.column});
    }
    for (auto& list : send) sort_once(list);
    std::vector<BlockKey> own;
    for (int c = matrix_.first; c < matrix_.last; ++c) own.push_back({c, c});
    for (const auto& list : matrix_.comm.all_to_all(send)) own.insert(own.end(), list.begin(), list.end());
    sort_once(own);
    return own;
  }
  [[nodiscard]] std::size_t owner_count() const { return matrix_.comm.size(); }
  static void sort_once(std::vector<BlockKey>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }

  /// Place of an element of the blocked matrix, which is in the pattern, in `value`.
  [[nodiscard]] std::size_t place(std::int32_t i, std::int32_t j) {
    const BlockMatrix& m = matrix_;
    const auto block_row = block_of_[i], block_column = block_of_[j];
    if (block_row != last_.row || block_column != last_.column) {  // neighbours in a file are so in a block
      const auto c = block_column - m.first;
      const auto begin = m.row.begin() + m.column_begin[c], end = m.row.begin() + m.column_begin[c + 1];
      last_ = {block_column, block_row};
      last_block_ = std::lower_bound(begin, end, block_row) - m.row.begin();
    }
    const auto local_row = i - m.blocking->begin[block_row],
               local_column = j - m.blocking->begin[block_column];
    return m.offset[last_block_] + std::int64_t{local_column} * m.blocking->size(block_row) + local_row;
  }

  /// Add an element (or the transposed of one) to its place: M/2 and M^T/2, or M alone.
  void put(const Triplet& e, bool transposed) {
    const auto k = place(e.row, e.column);
    const std::uint8_t mark = transposed ? 2 : 1;
    if ((given_[k] & mark) != 0 && twice_.empty()) twice_ = twice_text(e, transposed);
    given_[k] |= mark;
    matrix_.value[k] += symmetrise_ ? 0.5 * e.value : e.value;
    if (symmetrise_) difference_[k] += transposed ? -e.value : e.value;
  }

  [[nodiscard]] std::string twice_text(const Triplet& e, bool transposed) const {
    return fmt::format("element (row {}, column {}) is given twice",
                       users_row(transposed ? e.column : e.row) + 1,
                       users_row(transposed ? e.row : e.column) + 1);
  }

  [[nodiscard]] std::string asymmetry_text(std::size_t place, double limit) const {
    const BlockMatrix& m = matrix_;
    const auto p = std::upper_bound(m.offset.begin(), m.offset.end(), static_cast<std::int64_t>(place)) -
                   m.offset.begin() - 1;
    const auto c =
        std::upper_bound(m.column_begin.begin(), m.column_begin.end(), p) - m.column_begin.begin() - 1;
    const auto n = m.blocking->size(m.row[p]);
    const auto inside = static_cast<std::int64_t>(place) - m.offset[p];
    const auto i = users_row(m.blocking->begin[m.row[p]] + static_cast<int>(inside % n));
    const auto j = users_row(m.blocking->begin[m.first + c] + static_cast<int>(inside / n));
    const auto text = [&](int mark, double value) {
      return (given_[place] & mark) == 0 ? std::string("absent") : fmt::format("{:.10g}", value);
    };
    const double mean = m.value[place], half = 0.5 * difference_[place];
    return fmt::format(
        "the matrix is not symmetric: element (row {}, column {}) is {}, (row {}, column {}) is {}; they may "
        "differ by {:g}. Is the file whole, and does it hold both triangles?",
        i + 1, j + 1, text(1, mean + half), j + 1, i + 1, text(2, mean - half), limit);
  }

  BlockMatrix matrix_;
  bool symmetrise_;
  std::vector<std::int32_t> row_of_, block_of_, owner_of_;
  AlignedVector<double> difference_;  ///< M - M^T
  std::vector<std::uint8_t> given_;   ///< 1: the element, 2: its transposed
  BlockKey last_{-1, -1};
  std::size_t last_block_ = 0;
  std::string twice_;
};

}  // namespace

BlockMatrix assemble(const Comm& comm, std::shared_ptr<const Blocking> blocking,
                     std::span<const Triplet> elements, const std::vector<int>& rank_begin,
                     double asymmetry) {
  const bool symmetrise = !(asymmetry < 0);
  Assembly assembly(comm, std::move(blocking), rank_begin, symmetrise);
  assembly.make_pattern(elements);
  assembly.fill(elements);
  assembly.check_twice();
  if (symmetrise) assembly.check_asymmetry(asymmetry);
  return assembly.take();
}

}  // namespace quintet::electronic
