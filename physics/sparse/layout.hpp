#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

/// How Z = A H is shared out over ranks, A [n, n] sparse and H, Z [n, f] dense, and what a product moves.
///
/// Source: Tripathy, Yelick and Buluc 2020 (SC, "CAGNET").
namespace quintet {

enum class SpmmKind {
  automatic,         ///< the least time by count of messages and words
  one_d,             ///< a rank has rows of A and H, and gets all other rows of H
  sparse_1d,         ///< the same, but gets the rows that its nonzeros need
  one_and_a_half_d,  ///< c ranks have the same rows of H; each multiplies a share of A's columns
  two_d,             ///< a rank has a tile of A and of H
  three_d            ///< q^3 ranks: 2D in q layers that share out the inner dimension
};
struct SpmmKindRow {
  SpmmKind value;
  const char *name, *doc;
};
[[nodiscard]] std::span<const SpmmKindRow> spmm_kinds();

/// Ranks as a grid: rank (i columns + j) layers + l has rows of group i and columns of group j; l counts
/// layers (3D) or copies (1.5D). rows columns layers = number of ranks.
struct SpmmLayout {
  SpmmKind kind = SpmmKind::sparse_1d;
  int rows = 1, columns = 1, layers = 1;

  [[nodiscard]] int n_ranks() const { return rows * columns * layers; }
  [[nodiscard]] int rank(int i, int j, int l) const { return (i * columns + j) * layers + l; }
  [[nodiscard]] std::string name() const;  ///< "2d on 2 x 3 ranks"
};
[[nodiscard]] SpmmLayout layout_1d(int n_ranks, bool sparse_aware);
/// Throws InputError if c does not divide n_ranks, or leaves fewer groups of rows than copies.
[[nodiscard]] SpmmLayout layout_one_and_a_half_d(int n_ranks, int c);
/// Throws InputError if the grid has not n_ranks places, or is not 2 or more each way.
[[nodiscard]] SpmmLayout layout_2d(int n_ranks, int rows, int columns);
/// Throws InputError if n_ranks is not 8, 27, 64 ...
[[nodiscard]] SpmmLayout layout_3d(int n_ranks);
/// All layouts of one kind (automatic: of all kinds) that fit so many ranks, sparse-aware 1D first. Throws
/// InputError if no layout does, with the nearest number of ranks that fit.
[[nodiscard]] std::vector<SpmmLayout> layouts_of(SpmmKind kind, int n_ranks);

/// Rows of a square sparse matrix, in units that stay together (blocks of orbitals; or single rows), shared
/// out over ranks. All cuts of a layout are cuts of these shares: group i of m has the shares of ranks i P/m
/// to (i + 1) P/m.
struct RowShares {
  std::vector<int> unit_begin{0};  ///< first row of each unit, then the number of rows
  std::vector<int> rank_begin{0};  ///< first unit of each rank, then the number of units

  [[nodiscard]] int n_units() const { return std::ssize(unit_begin) - 1; }
  [[nodiscard]] int n_rows() const { return unit_begin.back(); }
  [[nodiscard]] int n_ranks() const { return std::ssize(rank_begin) - 1; }
  [[nodiscard]] int size(int unit) const { return unit_begin[unit + 1] - unit_begin[unit]; }
  /// First unit of group i of m, m a divisor of the number of ranks.
  [[nodiscard]] int cut(int i, int m) const { return rank_begin[std::int64_t{n_ranks()} * i / m]; }
  /// Group of m that has this unit.
  [[nodiscard]] int group(int unit, int m) const;
};
/// Units of one row each, rank r having [n r/P, n (r + 1)/P).
[[nodiscard]] RowShares even_rows(int n, int n_ranks);

/// Part of H and Z that a rank holds [rows last - first, columns]: rows of the whole, and columns [f j/m, f
/// (j + 1)/m) of f.
struct PanelPart {
  int first = 0, last = 0;    ///< rows
  int group = 0, groups = 1;  ///< j, m of the columns
  bool counts = true;         ///< false: another rank has the same part, and it counts where parts are summed

  [[nodiscard]] int n_rows() const { return last - first; }
  [[nodiscard]] int first_column(int f) const { return std::int64_t{f} * group / groups; }
  [[nodiscard]] int last_column(int f) const { return std::int64_t{f} * (group + 1) / groups; }
  [[nodiscard]] int n_columns(int f) const { return last_column(f) - first_column(f); }
  /// The part of the same rows that has the columns of group j.
  [[nodiscard]] PanelPart beside(int j) const { return {first, last, j, groups, counts}; }
};
/// The part of H and Z that a rank has.
[[nodiscard]] PanelPart panel_part(const RowShares& shares, const SpmmLayout& layout, int rank);
/// Throws InputError if some rank would have no rows of its own; sparse-aware 1D can do with that.
void check_shares(const RowShares& shares, const SpmmLayout& layout);

/// One of the parts in which a rank's product is done: Z += A[own rows, begin .. end) H[begin .. end).
struct SpmmStage {
  int begin = 0, end = 0;  ///< units of the inner dimension
  int a_rank = 0;          ///< who has this part of A
  int h_rank = 0;          ///< who has this part of H, of the same columns
};
/// Stages of a rank, in its order; of sparse-aware 1D one for each rank, though rows of H come all at once.
[[nodiscard]] std::vector<SpmmStage> stages_of(const RowShares& shares, const SpmmLayout& layout, int rank);
/// Rank that holds the element in unit row i, unit column k.
[[nodiscard]] int holder_of(const RowShares& shares, const SpmmLayout& layout, int row, int column);
/// First unit of slice l of the rows of group i, which rank (i, j, l) adds up over layers or copies; l up to
/// their number.
[[nodiscard]] int slice_cut(const RowShares& shares, const SpmmLayout& layout, int i, int l);

/// Traffic that a rank receives from others in a product.
struct SpmmTraffic {
  std::int64_t dense_words = 0;  ///< numbers of H, and of sums of Z
  std::int64_t nonzeros = 0;     ///< numbers of A; where they stand is told once, before
  std::int64_t messages = 0;
  SpmmTraffic& operator+=(const SpmmTraffic& other) {
    dense_words += other.dense_words, nonzeros += other.nonzeros, messages += other.messages;
    return *this;
  }
  friend bool operator==(const SpmmTraffic&, const SpmmTraffic&) = default;
};

/// This rank's rows of a sparse matrix, in units: blocks row_begin[r] <= p < row_begin[r + 1] of its unit row
/// r, in unit column column[p] (ascending), row-major from value + offset[p].
struct SparseRows {
  RowShares shares;
  std::vector<std::int64_t> row_begin{0};
  std::vector<std::int32_t> column;
  std::vector<std::int64_t> offset;
  const double* value = nullptr;
};

/// Count what each rank receives in a product with f columns, from the pattern, exactly. Collective.
[[nodiscard]] std::vector<SpmmTraffic> count_traffic(const Comm& comm, const SparseRows& a,
                                                     const SpmmLayout& layout, int f);
/// The same of ranks that need not exist: of a matrix whose rows are all here, shared out as `shares` says.
[[nodiscard]] std::vector<SpmmTraffic> count_traffic(const SparseRows& whole, const SpmmLayout& layout,
                                                     int f);
/// Count what each rank receives to multiply its rows of H [n, f] by weights, which takes the columns that
/// others have of them (RowParts): n_i (f - f_j) words of a rank with n_i rows and f_j columns.
[[nodiscard]] std::vector<SpmmTraffic> count_row_parts(const RowShares& shares, const SpmmLayout& layout,
                                                       int f);

/// Cost of messages: seconds a message, seconds a word of 8 bytes, and the source of these.
struct MessageCosts {
  double message = 1e-6, word = 8e-10;
  std::string source = "assumed";
};
/// The same costs of words of so many bytes.
[[nodiscard]] inline MessageCosts of_words(MessageCosts costs, double bytes) {
  costs.word *= bytes / 8;
  return costs;
}
struct SpmmChoice {
  SpmmLayout layout;
  std::string reason;  ///< counts and time of it, and of the next best of another kind
};
/// The one of these layouts with the least messages a + words b of its worst rank; of equal ones the first.
/// Throws InputError if the shares fit none. Collective.
/// @param weighs_rows rows are multiplied by weights, too: count_row_parts() is counted with each product
[[nodiscard]] SpmmChoice choose_layout(const Comm& comm, const SparseRows& a, int f,
                                       const std::vector<SpmmLayout>& layouts, const MessageCosts& costs,
                                       bool weighs_rows = false);
/// The same of ranks that need not exist, with all rows of A here.
[[nodiscard]] SpmmChoice choose_layout(const SparseRows& whole, int f, const std::vector<SpmmLayout>& layouts,
                                       const MessageCosts& costs, bool weighs_rows = false);
/// The best layout of a kind, as above. Throws InputError also if the ranks fit no layout. Collective.
[[nodiscard]] SpmmChoice choose_layout(const Comm& comm, const SparseRows& a, int f, SpmmKind kind,
                                       const MessageCosts& costs);

}  // namespace quintet
