#include "physics/electronic/submatrix/submatrix_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "physics/electronic/matrix/column_store.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::electronic {

namespace {

constexpr int window_columns = 64;

/// Block columns of a rank.
struct Range {
  int first, last;
};

/// All block columns of the windows that this rank has a part in.
std::vector<std::int32_t> columns_of_windows(const Blocking& blocking, Range own, int window) {
  std::vector<std::int32_t> columns;
  if (own.first == own.last) return columns;
  const int end = std::min(blocking.n_blocks(), (own.last - 1) / window * window + window);
  for (int c = own.first / window * window; c < end; ++c) columns.push_back(c);
  return columns;
}

/// The eigen and Newton-Schulz kernels hold three dense matrices, the polynomial one its upper triangle.
double bytes_of(double n, double n_own, bool dense) {
  return 8 * (dense ? 3 * n * n : 0.5 * n * n) + 8.0 * 4 * n * std::max<double>(n_own, pack_width<double>);
}

int rows_of(const Blocking& blocks, const BlockRows& rows) {
  int n = 0;
  for (const auto row : rows) n += blocks.size(row);
  return n;
}

/// Orbitals in the union of two lists of blocks.
int rows_of_union(const Blocking& blocks, const Submatrix& a, const Submatrix& b) {
  int n = a.n + b.n;
  auto p = a.rows.begin();
  for (auto q = b.rows.begin(); p != a.rows.end() && q != b.rows.end();)
    if (*p < *q)
      ++p;
    else if (*q < *p)
      ++q;
    else
      n -= blocks.size(*p), ++p, ++q;
  return n;
}

/// Joins the clusters of one window.
class Agglomeration {
 public:
  Agglomeration(const Blocking& blocks, const Clustering& clustering, std::vector<Submatrix> single)
      : blocks_(blocks), clustering_(clustering), cluster_(std::move(single)) {
    const std::size_t n = cluster_.size();
    for (const auto& s : cluster_) cost_.push_back(clustering_.cost(s.n, s.n_own));
    saving_.assign(n * n, never);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i + 1; j < n; ++j) saving_[i * n + j] = saving(i, j);
  }

  [[nodiscard]] std::vector<Submatrix> clusters() {
    while (join_best()) {
    }
    std::erase_if(cluster_, [](const Submatrix& s) { return s.columns.empty(); });
    return std::move(cluster_);
  }

 private:
  static constexpr double never = -std::numeric_limits<double>::infinity();
  /// Part of the time: a polynomial that fills no more registers would save its set-up at most.
  [[nodiscard]] double least_saving() const { return clustering_.cost.may_eigen ? 0.02 : 0.05; }

  /// Seconds that one submatrix for both saves; `never` if they must not share one.
  [[nodiscard]] double saving(std::size_t i, std::size_t j) const {
    const Submatrix &a = cluster_[i], &b = cluster_[j];
    if (a.columns.empty() || b.columns.empty()) return never;
    const int n_own = a.n_own + b.n_own, most = clustering_.most;
    const double apart = cost_[i] + cost_[j], least = most > 1 ? never : least_saving() * apart;
    if (most > 1 && static_cast<int>(a.columns.size() + b.columns.size()) > most) return never;
    if (apart - clustering_.cost(std::max(a.n, b.n), n_own) < least) return never;  // even if all rows agree
    const int n = rows_of_union(blocks_, a, b);
    const double saved = apart - clustering_.cost(n, n_own);
    return saved < least || bytes_of(n, n_own, clustering_.dense) > clustering_.memory_bytes ? never : saved;
  }

  bool join_best() {
    const std::size_t n = cluster_.size();
    const auto best = std::max_element(saving_.begin(), saving_.end());
    if (best == saving_.end() || *best == never) return false;
    const auto i = (best - saving_.begin()) / n, j = (best - saving_.begin()) % n;
    join(cluster_[i], cluster_[j]);
    cost_[i] = clustering_.cost(cluster_[i].n, cluster_[i].n_own);
    for (std::size_t k = 0; k < n; ++k) {
      if (k != i) saving_[std::min(i, k) * n + std::max(i, k)] = saving(i, k);
      if (k != j) saving_[std::min(j, k) * n + std::max(j, k)] = never;
    }
    return true;
  }

  void join(Submatrix& a, Submatrix& b) {
    BlockRows rows;
    std::set_union(a.rows.begin(), a.rows.end(), b.rows.begin(), b.rows.end(), std::back_inserter(rows));
    a.rows = std::move(rows);
    a.n = rows_of(blocks_, a.rows);
    a.n_own += b.n_own;
    for (auto& column : b.columns) a.columns.push_back(std::move(column));
    std::sort(a.columns.begin(), a.columns.end(),
              [](const auto& x, const auto& y) { return x.column < y.column; });
    b = {};
  }

  const Blocking& blocks_;
  const Clustering& clustering_;
  std::vector<Submatrix> cluster_;
  std::vector<double> cost_;
  std::vector<double> saving_;  ///< [n, n], upper triangle
};

/// The submatrix of one block column.
Submatrix single(const BlockMatrix& a, const ColumnStore& store, std::int32_t column) {
  const auto rows = store[column].row;
  Submatrix s;
  s.rows.assign(rows.begin(), rows.end());
  s.columns.push_back({column, s.rows});
  s.n = rows_of(*a.blocking, s.rows);
  s.n_own = a.blocking->size(column);
  return s;
}

/// To `work` go those clusters of the window [first, last) that are this rank's: each rank with columns in it
/// gets a share of the cost like its share of the columns.
void take_share(Range own_columns, const CostModel& cost, int first, int last,
                std::vector<Submatrix>& clusters, std::vector<Submatrix>& work) {
  double total = 0, before = 0;
  for (const auto& s : clusters) total += cost(s.n, s.n_own);
  for (auto& s : clusters) {
    const double own = cost(s.n, s.n_own);
    const int place = first + static_cast<int>((last - first) * (before + 0.5 * own) / total);
    if (place >= own_columns.first && place < own_columns.last) work.push_back(std::move(s));
    before += own;
  }
}

/// Those of the rank that has these columns.
std::vector<Submatrix> plan_of(const BlockMatrix& a, const Clustering& clustering, Range own) {
  const int window = clustering.most == 1 ? 1 : std::max(window_columns, clustering.most);
  const auto columns = columns_of_windows(*a.blocking, own, window);
  const ColumnStore store(a, columns);
  std::vector<Submatrix> work, singles;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    singles.push_back(single(a, store, columns[i]));
    if (i + 1 < columns.size() && columns[i + 1] % window != 0) continue;
    auto clusters = Agglomeration(*a.blocking, clustering, std::exchange(singles, {})).clusters();
    take_share(own, clustering.cost, columns[i] / window * window, columns[i] + 1, clusters, work);
  }
  return work;
}

}  // namespace

std::vector<Submatrix> plan_submatrices(const BlockMatrix& a, const Clustering& clustering) {
  return plan_of(a, clustering, {a.first, a.last});
}

CostModel first_cost(const SubmatrixOptions& options) {
  const bool dense = !row_of(submatrix_kernels, options.kernel).has_series;
  CostModel cost;
  if (options.single_precision) cost.lanes = pack_width<float>;
  cost.may_polynomial = !dense;
  cost.may_eigen = dense;
  return cost;
}

std::vector<SubmatrixNeeds> submatrix_needs(const BlockMatrix& a, const SubmatrixOptions& options,
                                            const std::vector<int>& rank_begin) {
  const CostModel cost = first_cost(options);
  const Clustering clustering{options.columns_together, cost, cost.may_eigen,
                              memory_of_a_rank(a.comm, options.memory_bytes)};
  std::vector<SubmatrixNeeds> needs(rank_begin.size() - 1);
  std::vector<std::vector<BlockRows>> rows(needs.size());
  for (std::size_t rank = 0; rank < needs.size(); ++rank)
    for (const Submatrix& s : plan_of(a, clustering, {rank_begin[rank], rank_begin[rank + 1]})) {
      needs[rank].seconds += cost(s.n, s.n_own);
      rows[rank].push_back(s.rows);
    }
  const auto bytes = gather_bytes(a, rank_begin, rows);
  for (std::size_t rank = 0; rank < needs.size(); ++rank) needs[rank].bytes_sent = bytes[rank];
  return needs;
}

double CostModel::polynomial(double n, double n_own) const {
  // Multiply-adds of a pack of 512 bits: one a cycle of an EPYC of Zen 4; cores that do two are up to twice
  // as fast. Beside them the recurrence and the sum of the series pass over n packs.
  constexpr double packs_per_second = 3.5e9, seconds_a_row = 4.8e-9;
  const double packs = padded(static_cast<int>(n_own), lanes) / lanes;
  return (degree * packs + 4) * fill * n * n / packs_per_second + degree * packs * n * seconds_a_row;
}

double CostModel::eigen(double n, double n_own) {
  return 8.6e-11 * n * n * n + 1.1e-10 * n * n * n_own + 4.1e-8 * n * n +
         1e-6 * n;  // OpenBLAS dsyevd, n 60 to 1536
}

bool CostModel::by_eigen(double n, double n_own) const {
  return may_eigen && !(may_polynomial && polynomial(n, n_own) <= eigen(n, n_own));
}

double CostModel::operator()(double n, double n_own) const {
  return by_eigen(n, n_own) ? eigen(n, n_own) : polynomial(n, n_own);
}

PredictedWork predicted_work(const Blocking& blocks, const std::vector<Submatrix>& work,
                             const CostModel& cost) {
  PredictedWork sum;
  for (const Submatrix& s : work) {
    sum.together += cost(s.n, s.n_own);
    for (const auto& column : s.columns)
      sum.alone += cost(rows_of(blocks, column.rows), blocks.size(column.column));
  }
  return sum;
}

std::vector<double> predicted_costs(const BlockMatrix& a, const SubmatrixOptions& options) {
  const bool eigen = !row_of(submatrix_kernels, options.kernel).has_series;
  const CostModel cost{.may_polynomial = !eigen, .may_eigen = eigen};
  BlockMatrix filtered = a;
  filter(filtered, options.threshold);
  std::vector<double> costs;
  for (const Submatrix& s : plan_submatrices(filtered, {1, cost})) costs.push_back(cost(s.n, s.n_own));
  return a.comm.all_gather(std::span<const double>(costs));
}

double memory_of_a_rank(const Comm& comm, double memory_bytes) {
  if (memory_bytes > 0) return memory_bytes;
  return memory_limit_of_this_rank(comm);
}

void check_memory(const BlockMatrix& a, const std::vector<Submatrix>& work, bool dense, double memory_bytes) {
  const double limit = memory_of_a_rank(a.comm, memory_bytes);
  const Submatrix none;
  const Submatrix* largest = &none;
  for (const Submatrix& s : work)
    if (s.n > largest->n) largest = &s;
  const double bytes = bytes_of(largest->n, largest->n_own, dense), over = a.comm.maximum(bytes / limit);
  if (over <= 1) return;
  const int rank = a.comm.minimum(bytes / limit == over ? a.comm.rank() : a.comm.size());
  std::string message;
  if (rank == a.comm.rank())
    message = fmt::format(
        "the submatrix of block column {} has {} rows ({} blocks) and needs {:.3g} MB; a rank may use {:.3g} "
        "MB: raise the threshold, use fewer ranks a node or smaller blocks",
        largest->columns.front().column + 1, largest->n, largest->rows.size(), 1e-6 * bytes, 1e-6 * limit);
  throw InputError(a.comm.broadcast(message, rank));
}

}  // namespace quintet::electronic
