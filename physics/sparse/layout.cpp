#include "physics/sparse/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet {

namespace {

constexpr SpmmKindRow kinds[] = {
    {SpmmKind::automatic, "auto", "the one that takes least time by count of its messages and words"},
    {SpmmKind::one_d, "1d", "rows over ranks, all rows of the panel travel"},
    {SpmmKind::sparse_1d, "sparse_1d", "rows over ranks, only the rows that nonzeros need travel"},
    {SpmmKind::one_and_a_half_d, "1.5d", "several ranks hold the same rows of the panel"},
    {SpmmKind::two_d, "2d", "tiles of the matrix and of the panel"},
    {SpmmKind::three_d, "3d", "tiles in layers, on 8, 27, 64 ... ranks"}};

/// Copies that hold blocks of columns [share(l), share(l + 1)) of `groups`.
int share(int l, int groups, int copies) { return std::int64_t{groups} * l / copies; }

struct Place {
  int i, j, l;
};
Place place_of(const SpmmLayout& layout, int rank) {
  const int tile = rank / layout.layers;
  return {tile / layout.columns, tile % layout.columns, rank % layout.layers};
}

std::vector<int> cuts_of(const RowShares& shares, int groups) {
  std::vector<int> cuts;
  for (int i = 0; i <= groups; ++i) cuts.push_back(shares.cut(i, groups));
  return cuts;
}

/// Cuts of the inner dimension, so that a stage's part of A has one holder and its part of H another.
std::vector<int> inner_cuts(const RowShares& shares, const SpmmLayout& layout) {
  if (layout.kind == SpmmKind::three_d) return cuts_of(shares, layout.rows * layout.layers);
  std::vector<int> cuts = cuts_of(shares, layout.rows);
  if (layout.kind == SpmmKind::two_d) {
    const auto more = cuts_of(shares, layout.columns);
    cuts.insert(cuts.end(), more.begin(), more.end());
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  }
  return cuts;
}

/// Ranks begin at different stages, so that not all ask one.
void rotate(std::vector<SpmmStage>& stages, std::size_t by) {
  if (!stages.empty()) std::rotate(stages.begin(), stages.begin() + (by % stages.size()), stages.end());
}

bool has_layers(const SpmmLayout& layout) { return layout.layers > 1; }

/// Whether some layout of a kind shares out over so many ranks.
bool fits(SpmmKind kind, int n_ranks) {
  if (kind == SpmmKind::three_d) {
    int q = 2;
    while (std::int64_t{q} * q * q < n_ranks) ++q;
    return std::int64_t{q} * q * q == n_ranks;
  }
  if (kind != SpmmKind::two_d && kind != SpmmKind::one_and_a_half_d) return true;
  // Two factors of 2 or more are a grid, and the smaller of them a number of copies.
  for (int c = 2; std::int64_t{c} * c <= n_ranks; ++c)
    if (n_ranks % c == 0) return true;
  return false;
}

/// "nearest: 4", or "nearest: 4 or 6" where both are as near.
std::string nearest_ranks(SpmmKind kind, int n_ranks) {
  for (int d = 1;; ++d) {
    const bool less = n_ranks > d && fits(kind, n_ranks - d), more = fits(kind, n_ranks + d);
    if (less && more) return fmt::format("nearest: {} or {}", n_ranks - d, n_ranks + d);
    if (less || more) return fmt::format("nearest: {}", less ? n_ranks - d : n_ranks + d);
  }
}

}  // namespace

std::span<const SpmmKindRow> spmm_kinds() { return kinds; }

std::string SpmmLayout::name() const {
  const std::string kind_name = row_of(kinds, kind).name;
  switch (kind) {
    case SpmmKind::two_d:
      return fmt::format("{} on {} x {} ranks", kind_name, rows, columns);
    case SpmmKind::one_and_a_half_d:
      return fmt::format("{} with {} copies", kind_name, layers);
    case SpmmKind::three_d:
      return fmt::format("{} on {} x {} x {} ranks", kind_name, rows, columns, layers);
    case SpmmKind::automatic:
    case SpmmKind::one_d:
    case SpmmKind::sparse_1d:
      break;
  }
  return kind_name;
}

SpmmLayout layout_1d(int n_ranks, bool sparse_aware) {
  return {sparse_aware ? SpmmKind::sparse_1d : SpmmKind::one_d, n_ranks, 1, 1};
}

SpmmLayout layout_one_and_a_half_d(int n_ranks, int c) {
  QUINTET_CHECK(c >= 2 && n_ranks % c == 0,
                "1.5d: {} copies on {} ranks: expected 2 or more that divide them", c, n_ranks);
  QUINTET_CHECK(
      n_ranks / c >= c,
      "1.5d: {} copies on {} ranks leave {} groups of rows, so that some copy has none to multiply: "
      "expected at most as many copies as groups",
      c, n_ranks, n_ranks / c);
  return {SpmmKind::one_and_a_half_d, n_ranks / c, 1, c};
}

SpmmLayout layout_2d(int n_ranks, int rows, int columns) {
  QUINTET_CHECK(
      rows >= 2 && columns >= 2 && std::int64_t{rows} * columns == n_ranks,
      "2d: a grid of {} x {} for {} ranks: expected 2 or more each way, and as many places as ranks", rows,
      columns, n_ranks);
  return {SpmmKind::two_d, rows, columns, 1};
}

SpmmLayout layout_3d(int n_ranks) {
  int q = 2;
  while (std::int64_t{q} * q * q < n_ranks) ++q;
  QUINTET_CHECK(std::int64_t{q} * q * q == n_ranks, "3d: {} ranks are no cube: expected 8, 27, 64 ..., {}",
                n_ranks, nearest_ranks(SpmmKind::three_d, n_ranks));
  return {SpmmKind::three_d, q, q, q};
}

std::vector<SpmmLayout> layouts_of(SpmmKind kind, int n_ranks) {
  const auto wanted = [&](SpmmKind one) { return kind == SpmmKind::automatic || kind == one; };
  std::vector<SpmmLayout> list;
  if (wanted(SpmmKind::sparse_1d)) list.push_back(layout_1d(n_ranks, true));
  if (wanted(SpmmKind::one_d)) list.push_back(layout_1d(n_ranks, false));
  if (wanted(SpmmKind::one_and_a_half_d))
    for (int c = 2; c * c <= n_ranks; ++c)
      if (n_ranks % c == 0) list.push_back(layout_one_and_a_half_d(n_ranks, c));
  if (wanted(SpmmKind::two_d))
    for (int rows = 2; rows <= n_ranks / 2; ++rows)
      if (n_ranks % rows == 0) list.push_back(layout_2d(n_ranks, rows, n_ranks / rows));
  if (kind == SpmmKind::three_d) {
    list.push_back(layout_3d(n_ranks));
  } else if (kind == SpmmKind::automatic) {
    for (int q = 2; q * q * q <= n_ranks; ++q)
      if (q * q * q == n_ranks) list.push_back(layout_3d(n_ranks));
  }
  QUINTET_CHECK(!list.empty(),
                "{} cannot be shared out over {} ranks: expected {} that {}, {}; auto finds what can",
                row_of(kinds, kind).name, n_ranks,
                kind == SpmmKind::two_d ? "two numbers of ranks, 2 or more," : "c >= 2 with c c <= ranks",
                kind == SpmmKind::two_d ? "make them a grid" : "divides them", nearest_ranks(kind, n_ranks));
  return list;
}

int RowShares::group(int unit, int m) const {
  const auto rank = std::upper_bound(rank_begin.begin(), rank_begin.end(), unit) - rank_begin.begin() - 1;
  return rank * m / n_ranks();
}

RowShares even_rows(int n, int n_ranks) {
  RowShares shares;
  shares.rank_begin.clear();
  for (int i = 1; i <= n; ++i) shares.unit_begin.push_back(i);
  for (int r = 0; r <= n_ranks; ++r) shares.rank_begin.push_back(std::int64_t{n} * r / n_ranks);
  return shares;
}

int slice_cut(const RowShares& shares, const SpmmLayout& layout, int i, int l) {
  return shares.cut(i * layout.layers + l, layout.rows * layout.layers);
}

PanelPart panel_part(const RowShares& shares, const SpmmLayout& layout, int rank) {
  const auto [i, j, l] = place_of(layout, rank);
  const bool sliced = layout.kind == SpmmKind::three_d;
  const int first = sliced ? slice_cut(shares, layout, i, l) : shares.cut(i, layout.rows);
  const int last = sliced ? slice_cut(shares, layout, i, l + 1) : shares.cut(i + 1, layout.rows);
  return {shares.unit_begin[first], shares.unit_begin[last], j, layout.columns, sliced || l == 0};
}

void check_shares(const RowShares& shares, const SpmmLayout& layout) {
  if (layout.kind == SpmmKind::sparse_1d) return;
  for (int r = 0; r < shares.n_ranks(); ++r)
    QUINTET_CHECK(
        shares.rank_begin[r] < shares.rank_begin[r + 1],
        "{}: rank {} has none of the {} rows in {} blocks: expected some on each of {} ranks; take fewer "
        "ranks, or sparse_1d",
        layout.name(), r, shares.n_rows(), shares.n_units(), shares.n_ranks());
}

std::vector<SpmmStage> stages_of(const RowShares& shares, const SpmmLayout& layout, int rank) {
  const auto [i, j, l] = place_of(layout, rank);
  std::vector<SpmmStage> stages;
  switch (layout.kind) {
    case SpmmKind::one_d:
    case SpmmKind::sparse_1d:
      for (int k = 0; k < layout.rows; ++k)
        stages.push_back({shares.cut(k, layout.rows), shares.cut(k + 1, layout.rows), rank, k});
      rotate(stages, i);
      break;
    case SpmmKind::one_and_a_half_d: {
      const int first = share(l, layout.rows, layout.layers), last = share(l + 1, layout.rows, layout.layers);
      for (int k = first; k < last; ++k)  // copies take turns to send a group's rows
        stages.push_back({shares.cut(k, layout.rows), shares.cut(k + 1, layout.rows), rank,
                          k == i ? rank : layout.rank(k, 0, i % layout.layers)});
      rotate(stages, i >= first ? i - first : i);
      break;
    }
    case SpmmKind::two_d: {
      const auto cuts = inner_cuts(shares, layout);
      for (std::size_t k = 0; k + 1 < cuts.size(); ++k)
        stages.push_back({cuts[k], cuts[k + 1], layout.rank(i, shares.group(cuts[k], layout.columns), 0),
                          layout.rank(shares.group(cuts[k], layout.rows), j, 0)});
      const int n = stages.size();
      rotate(stages, i * n / layout.rows + j * n / layout.columns);
      break;
    }
    case SpmmKind::three_d:
      for (int k = 0; k < layout.rows; ++k)
        stages.push_back({slice_cut(shares, layout, k, l), slice_cut(shares, layout, k, l + 1),
                          layout.rank(i, k, l), layout.rank(k, j, l)});
      rotate(stages, i + j);
      break;
    case SpmmKind::automatic:
      throw InternalError("stages of a layout that is not chosen");
  }
  return stages;
}

int holder_of(const RowShares& shares, const SpmmLayout& layout, int row, int column) {
  const int i = shares.group(row, layout.rows);
  switch (layout.kind) {
    case SpmmKind::one_and_a_half_d: {
      const int k = shares.group(column, layout.rows);
      int l = 0;
      while (share(l + 1, layout.rows, layout.layers) <= k) ++l;
      return layout.rank(i, 0, l);
    }
    case SpmmKind::two_d:
      return layout.rank(i, shares.group(column, layout.columns), 0);
    case SpmmKind::three_d: {
      const int slice = shares.group(column, layout.columns * layout.layers);
      return layout.rank(i, slice / layout.layers, slice % layout.layers);
    }
    case SpmmKind::one_d:
    case SpmmKind::sparse_1d:
    case SpmmKind::automatic:
      break;
  }
  return i;
}

namespace {

/// Numbers of A in the rows of each group, by parts of the inner dimension: [rows of the grid][part]. Of the
/// rows from unit row `first` on.
std::vector<std::int64_t> tile_counts(const SparseRows& a, int first, const SpmmLayout& layout,
                                      const std::vector<int>& cuts) {
  const RowShares& s = a.shares;
  const std::size_t parts = cuts.size() - 1;
  std::vector<std::int64_t> counts(layout.rows * parts, 0);
  for (int r = 0; r < std::ssize(a.row_begin) - 1; ++r) {
    const std::size_t row = s.group(first + r, layout.rows) * parts;
    for (auto p = a.row_begin[r]; p < a.row_begin[r + 1]; ++p) {
      const auto part = std::upper_bound(cuts.begin(), cuts.end(), a.column[p]) - cuts.begin() - 1;
      counts[row + part] += std::int64_t{s.size(first + r)} * s.size(a.column[p]);
    }
  }
  return counts;
}

/// Rows of H of each owner that these columns of nonzeros need.
std::vector<std::int64_t> needed_rows(const RowShares& s, std::span<const std::int32_t> columns) {
  std::vector<char> needed(s.n_units(), 0);
  for (const auto k : columns) needed[k] = 1;
  std::vector<std::int64_t> rows(s.n_ranks(), 0);
  for (int r = 0; r < s.n_ranks(); ++r)
    for (int k = s.rank_begin[r]; k < s.rank_begin[r + 1]; ++k)
      if (needed[k] != 0) rows[r] += s.size(k);
  return rows;
}

/// What of a pattern tells its traffic: rows of H that each rank needs of each other, [rank][owner], in
/// sparse-aware 1D; numbers of A of the parts in tiles.
using PatternCounts = std::vector<std::int64_t>;

/// What each rank receives in a product. Long for the kinds of words: of H, of A, and of sums of Z.
std::vector<SpmmTraffic> traffic_of(const RowShares& shares, const SpmmLayout& layout, int f,
                                    const PatternCounts& counts) {
  const std::size_t n_ranks = shares.n_ranks();
  std::vector<SpmmTraffic> result(n_ranks);
  const auto count_dense = [](SpmmTraffic& to, std::int64_t words) {
    to.dense_words += words;
    to.messages += words > 0 ? 1 : 0;
  };
  if (layout.kind == SpmmKind::sparse_1d) {
    for (std::size_t r = 0; r < n_ranks; ++r)
      for (std::size_t s = 0; s < n_ranks; ++s)
        if (s != r) count_dense(result[r], counts[r * n_ranks + s] * f);
    return result;
  }
  const auto cuts = inner_cuts(shares, layout);
  const auto rows_between = [&](int begin, int end) {
    return std::int64_t{shares.unit_begin[end] - shares.unit_begin[begin]};
  };
  for (int r = 0; r < shares.n_ranks(); ++r) {
    SpmmTraffic& to = result[r];
    const auto [i, j, l] = place_of(layout, r);
    const std::int64_t columns = panel_part(shares, layout, r).n_columns(f);
    for (const auto& stage : stages_of(shares, layout, r)) {
      if (stage.h_rank != r) count_dense(to, rows_between(stage.begin, stage.end) * columns);
      if (stage.a_rank == r) continue;
      const auto part = std::upper_bound(cuts.begin(), cuts.end(), stage.begin) - cuts.begin() - 1;
      const auto nonzeros = counts[i * (cuts.size() - 1) + part];
      to.nonzeros += nonzeros;
      to.messages += nonzeros > 0 ? 1 : 0;
    }
    for (int other = 0; has_layers(layout) && other < layout.layers; ++other) {
      if (other == l) continue;
      count_dense(
          to, rows_between(slice_cut(shares, layout, i, l), slice_cut(shares, layout, i, l + 1)) * columns);
      if (layout.kind == SpmmKind::one_and_a_half_d)
        count_dense(
            to, rows_between(slice_cut(shares, layout, i, other), slice_cut(shares, layout, i, other + 1)) *
                    columns);
    }
  }
  return result;
}

}  // namespace

std::vector<SpmmTraffic> count_traffic(const Comm& comm, const SparseRows& a, const SpmmLayout& layout,
                                       int f) {
  PatternCounts counts;
  if (layout.kind == SpmmKind::sparse_1d) {
    counts = comm.all_gather(std::span<const std::int64_t>(needed_rows(a.shares, a.column)));
  } else if (layout.columns > 1) {
    counts = tile_counts(a, a.shares.rank_begin[comm.rank()], layout, inner_cuts(a.shares, layout));
    comm.reduce(std::span<std::int64_t>(counts), Comm::Reduction::sum);
  }
  return traffic_of(a.shares, layout, f, counts);
}

std::vector<SpmmTraffic> count_traffic(const SparseRows& whole, const SpmmLayout& layout, int f) {
  PatternCounts counts;
  const RowShares& s = whole.shares;
  for (int r = 0; r < s.n_ranks() && layout.kind == SpmmKind::sparse_1d; ++r) {
    const auto begin = whole.row_begin[s.rank_begin[r]], end = whole.row_begin[s.rank_begin[r + 1]];
    const auto rows = needed_rows(s, std::span(whole.column).subspan(begin, end - begin));
    counts.insert(counts.end(), rows.begin(), rows.end());
  }
  if (layout.columns > 1) counts = tile_counts(whole, 0, layout, inner_cuts(s, layout));
  return traffic_of(s, layout, f, counts);
}

std::vector<SpmmTraffic> count_row_parts(const RowShares& shares, const SpmmLayout& layout, int f) {
  std::vector<SpmmTraffic> result(layout.n_ranks());
  for (int r = 0; r < layout.n_ranks(); ++r) {
    const PanelPart own = panel_part(shares, layout, r);
    for (int j = 0; j < layout.columns; ++j) {
      const std::int64_t words = std::int64_t{own.n_rows()} * own.beside(j).n_columns(f);
      if (j == own.group || words == 0) continue;
      result[r].dense_words += words;
      ++result[r].messages;
    }
  }
  return result;
}

}  // namespace quintet
