#include "physics/electronic/submatrix/truncation_error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <numeric>
#include <span>

#include "io/parallel/together.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/submatrix_sweep.hpp"

namespace quintet::electronic {

namespace {

constexpr int least_columns = 2, most_columns = 16;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

double sum_of_squares(const double* values, std::size_t n) {
  return std::inner_product(values, values + n, values, 0.0);
}

/// |sum_c e_c^T (P P - P) e_c| of each block column. Collective.
std::vector<double> defects_of_columns(const BlockMatrix& p) {
  std::vector<double> defects;
  for (int c = 0; c < p.n_columns(); ++c) {
    const auto size = at(p.blocking->size(p.first + c));
    double defect = 0;
    for (auto q = p.column_begin[at(c)]; q < p.column_begin[at(c + 1)]; ++q) {
      const double* block = p.value.data() + p.offset[at(q)];
      defect += sum_of_squares(block, at(p.blocking->size(p.row[at(q)])) * size);
      if (p.row[at(q)] == p.first + c)
        for (std::size_t i = 0; i < size; ++i) defect -= block[i * size + i];
    }
    defects.push_back(std::abs(defect));
  }
  return p.comm.all_gather(std::span<const double>(defects));
}

/// A block column of the sample; `chosen` for what it is like, not by chance.
struct Sampled {
  std::int32_t column;
  bool chosen;
};

/// Candidates in the order in which they are wanted: of four the third is the least idempotent column left.
std::vector<Sampled> candidates(const BlockMatrix& p) {
  const std::vector<double> defect = defects_of_columns(p);
  const int n = p.blocking->n_blocks();
  std::vector<std::int32_t> worst(at(n));
  std::iota(worst.begin(), worst.end(), 0);
  const int n_worst = std::min(most_columns / 4, n / 4);
  std::partial_sort(worst.begin(), worst.begin() + n_worst, worst.end(), [&](auto i, auto j) {
    return defect[at(i)] != defect[at(j)] ? defect[at(i)] > defect[at(j)] : i < j;
  });
  std::vector<char> taken(at(n), 0);
  for (int i = 0; i < n_worst; ++i) taken[at(worst[at(i)])] = 1;
  std::vector<Sampled> sample;
  for (int next_worst = 0, step = 1; static_cast<int>(sample.size()) < std::min(n, most_columns);) {
    if (sample.size() % 4 == 2 && next_worst < n_worst) {
      sample.push_back({worst[at(next_worst++)], true});
      continue;
    }
    auto column = static_cast<std::int32_t>(n * std::fmod(step++ * (std::numbers::phi - 1), 1.0));
    while (taken[at(column)]) column = (column + 1) % n;
    taken[at(column)] = 1;
    sample.push_back({column, false});
  }
  return sample;
}

/// The rows of grown submatrices: blocks where |A|^shells x >= threshold width^(shells - 1), x being 1 in the
/// columns that shared a submatrix, and the rows of that.
class Growth {
 public:
  Growth(const BlockMatrix& a, const std::vector<Submatrix>& work, double threshold, double width)
      : work_(work), norms_(block_norms(a)), product_(norms_), threshold_(threshold), width_(width) {}

  /// Collective; on all ranks.
  BlockRows operator()(std::int32_t column, int shells) {
    const Comm& comm = norms_.comm;
    BlockRows rows, together;
    for (const Submatrix& s : work_)
      if (std::any_of(s.columns.begin(), s.columns.end(),
                      [=](const auto& c) { return c.column == column; })) {
        rows = s.rows;
        for (const auto& c : s.columns) together.push_back(c.column);
      }
    together = comm.all_gather(std::span<const std::int32_t>(together));
    std::vector<double> x(at(norms_.n_columns()), 0.0), y;
    for (const auto c : together)
      if (c >= norms_.first && c < norms_.last) x[at(c - norms_.first)] = 1;
    for (int k = 0; k < shells; ++k) {
      product_(x, y);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = y[i] / (k == 0 ? 1 : width_);
    }
    for (std::size_t i = 0; i < x.size(); ++i)
      if (x[i] > 0 && x[i] >= threshold_) rows.push_back(norms_.first + static_cast<std::int32_t>(i));
    rows = comm.all_gather(std::span<const std::int32_t>(rows));
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    return rows;
  }

 private:
  const std::vector<Submatrix>& work_;
  BlockMatrix norms_;
  SymmetricProduct product_;
  double threshold_, width_;
};

/// What belongs to one column: of E, of N, and |P' - P|^2.
struct Change {
  double energy = 0, n_pairs = 0, squares = 0;
};

Submatrix grown_submatrix(const BlockMatrix& a, std::int32_t column, BlockRows rows) {
  Submatrix s;
  for (const auto row : rows) s.n += a.blocking->size(row);
  s.n_own = a.blocking->size(column);
  s.columns.push_back({column, rows});
  s.rows = std::move(rows);
  return s;
}

/// E, N and P of column c of A and P less those of `value`, P's column on `rows`.
Change change_of(const BlockMatrix& a, const BlockMatrix& p, std::int32_t column, const BlockRows& rows,
                 const double* value) {
  const Blocking& blocks = *a.blocking;
  const auto size = at(blocks.size(column));
  auto q_a = a.column_begin[at(column - a.first)], end_a = a.column_begin[at(column - a.first + 1)];
  auto q_p = p.column_begin[at(column - p.first)], end_p = p.column_begin[at(column - p.first + 1)];
  Change change;
  for (const auto row : rows) {
    const std::size_t n = at(blocks.size(row)) * size;
    while (q_a < end_a && a.row[at(q_a)] < row) ++q_a;
    while (q_p < end_p && p.row[at(q_p)] < row) ++q_p;
    const double* a_block =
        q_a < end_a && a.row[at(q_a)] == row ? a.value.data() + a.offset[at(q_a)] : nullptr;
    const double* p_block =
        q_p < end_p && p.row[at(q_p)] == row ? p.value.data() + p.offset[at(q_p)] : nullptr;
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = (p_block ? p_block[i] : 0) - value[i];
      change.squares += difference * difference;
      if (a_block) change.energy += a_block[i] * difference;
      if (row == column && i % (size + 1) == 0) change.n_pairs += difference;
    }
    value += n;
  }
  return change;
}

/// Changes of these columns, the rows of each given, on all ranks. Each is evaluated where the column is.
std::vector<Change> changes(const BlockMatrix& a, const BlockMatrix& p, const GrownColumns& how,
                            const std::vector<Sampled>& sample, const std::vector<BlockRows>& rows) {
  std::vector<Submatrix> work;
  std::vector<std::size_t> number;
  std::vector<BlockRows> wanted;
  for (std::size_t s = 0; s < sample.size(); ++s) {
    if (sample[s].column < a.first || sample[s].column >= a.last) continue;
    work.push_back(grown_submatrix(a, sample[s].column, rows[s]));
    wanted.push_back(rows[s]);
    number.push_back(s);
  }
  const GatheredMatrix gathered = gather(a, wanted);
  Sweep sweep(a, gathered, work);
  sweep.clear(1);
  std::vector<int> by_polynomial, by_eigen;
  for (std::size_t i = 0; i < work.size(); ++i)
    (how.series && !how.cost.by_eigen(work[i].n, work[i].n_own) ? by_polynomial : by_eigen)
        .push_back(static_cast<int>(i));
  const std::function<double(double)> functions[] = {how.f};
  together(a.comm, [&] {
    if (how.series)
      for (const int i : sweep.polynomial(by_polynomial, *how.series, how.tolerance, false))
        by_eigen.push_back(i);
    sweep.eigen(by_eigen, functions, false);
  });
  std::vector<double> sums(3 * sample.size(), 0.0);
  const double* value = sweep.values().front().data();
  for (std::size_t i = 0; i < work.size(); ++i) {
    const Change change = change_of(a, p, work[i].columns[0].column, work[i].rows, value);
    value += at(work[i].n) * at(work[i].n_own);
    const double parts[] = {change.energy, change.n_pairs, change.squares};
    std::copy(parts, parts + 3, sums.begin() + static_cast<std::ptrdiff_t>(3 * number[i]));
  }
  a.comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  std::vector<Change> all;
  for (std::size_t s = 0; s < sample.size(); ++s) {
    all.push_back({sums[3 * s], sums[3 * s + 1], sums[3 * s + 2]});
    if (how.holds_pairs) all.back().energy -= how.mu * all.back().n_pairs;
  }
  return all;
}

/// Sum over all n columns and the standard deviation that the sampling leaves it.
struct Total {
  double sum = 0, deviation = 0;
};
Total total(const std::vector<Sampled>& sample, const std::vector<Change>& change, double Change::*number,
            int n) {
  double chosen = 0, sum = 0, squares = 0;
  int n_chosen = 0;
  for (std::size_t s = 0; s < sample.size(); ++s) {
    const double x = change[s].*number;
    if (sample[s].chosen)
      chosen += x, ++n_chosen;
    else
      sum += x, squares += x * x;
  }
  const double m = static_cast<double>(sample.size()) - n_chosen, rest = n - n_chosen, mean = sum / m;
  const double variance = m > 1 ? std::max(squares - m * mean * mean, 0.0) / (m - 1) : mean * mean;
  return {chosen + rest * mean, rest * std::sqrt(variance / m * std::max(1 - m / rest, 0.0))};
}

/// What a geometric series adds to its first term: 1/(1 - r), r the ratio of the second change to the first.
double rest_of_series(const std::vector<Change>& first, const std::vector<Change>& second,
                      double Change::*number) {
  double product = 0, squares = 0;
  for (std::size_t s = 0; s < second.size(); ++s) {
    product += (second[s].*number - first[s].*number) * (first[s].*number);
    squares += first[s].*number * (first[s].*number);
  }
  constexpr double rounding = 1e-13;
  if (!(squares > rounding * rounding * static_cast<double>(second.size()))) return 1;
  return 1 / (1 - std::clamp(product / squares, -0.5, 0.9));
}

}  // namespace

TruncationError truncation_error(const BlockMatrix& a, const BlockMatrix& p,
                                 const std::vector<Submatrix>& work, const GrownColumns& how) {
  const auto start = std::chrono::steady_clock::now();
  Growth grown(a, work, how.threshold, how.width);
  const auto cost = [&](std::int32_t column, const BlockRows& rows) {
    const Submatrix s = grown_submatrix(a, column, rows);
    return how.cost(s.n, s.n_own);
  };
  std::vector<Sampled> sample;
  std::vector<BlockRows> rows;
  double seconds = 0;
  for (const Sampled& candidate : candidates(p)) {
    BlockRows r = grown(candidate.column, 2);
    seconds += cost(candidate.column, r) / a.comm.size();
    if (static_cast<int>(sample.size()) >= least_columns && seconds > how.seconds) break;
    sample.push_back(candidate);
    rows.push_back(std::move(r));
  }
  const std::vector<Change> first = changes(a, p, how, sample, rows);

  std::vector<Sampled> few;
  std::vector<BlockRows> more_rows;
  for (std::size_t s = 0; s < std::min<std::size_t>(sample.size(), 2); ++s) {
    BlockRows r = grown(sample[s].column, 3);
    if (r.size() == rows[s].size()) break;  // two columns alike: nothing is gained
    seconds += cost(sample[s].column, r) / a.comm.size();
    if (seconds > 2 * how.seconds) break;
    few.push_back(sample[s]);
    more_rows.push_back(std::move(r));
  }
  const std::vector<Change> second = few.empty() ? std::vector<Change>{} : changes(a, p, how, few, more_rows);

  const int n = a.blocking->n_blocks();
  const auto size_of = [&](double Change::*number) {
    const Total t = total(sample, first, number, n);
    return std::hypot(t.sum, t.deviation) * rest_of_series(first, second, number);
  };
  TruncationError error;
  error.energy = size_of(&Change::energy);
  error.n_pairs = size_of(&Change::n_pairs);
  error.p = std::sqrt(size_of(&Change::squares));
  error.n_columns = static_cast<int>(sample.size());
  error.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return error;
}

}  // namespace quintet::electronic
