#include "physics/electronic/submatrix/truncation_error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>

#include "io/parallel/together.hpp"
#include "physics/electronic/functions/column_sample.hpp"
#include "physics/electronic/matrix/block_vector.hpp"
#include "physics/electronic/matrix/gather.hpp"
#include "physics/electronic/submatrix/submatrix_sweep.hpp"

namespace quintet::electronic {

namespace {

constexpr int least_columns = 2;
constexpr std::size_t first_columns = 16, most_columns = 64;
constexpr double well_known = 0.3;  // relative deviation, or part that the last growth added

/// sum_c e_c^T (P P - P) e_c of each block column. Collective.
std::vector<double> defects_of_columns(const BlockMatrix& p) {
  std::vector<double> defects;
  for (int c = 0; c < p.n_columns(); ++c) {
    const std::size_t size = p.blocking->size(p.first + c);
    double defect = 0;
    for (auto q = p.column_begin[c]; q < p.column_begin[c + 1]; ++q) {
      const double* block = p.value.data() + p.offset[q];
      const std::size_t n = p.blocking->size(p.row[q]) * size;
      defect += std::inner_product(block, block + n, block, 0.0);
      if (p.row[q] == p.first + c)
        for (std::size_t i = 0; i < size; ++i) defect -= block[i * size + i];
    }
    defects.push_back(defect);
  }
  return p.comm.all_gather(std::span<const double>(defects));
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
    std::vector<double> x(norms_.n_columns(), 0.0), y;
    for (const auto c : together)
      if (c >= norms_.first && c < norms_.last) x[c - norms_.first] = 1;
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

/// What belongs to one column of P - P': of E, of N, |P' - P|^2 in all blocks and in those that P has, and
/// the derivatives of E' and N' by mu.
struct Change {
  double energy = 0, n_pairs = 0, squares = 0, squares_inside = 0, energy_by_mu = 0, n_pairs_by_mu = 0;
};
constexpr double Change::*numbers[] = {&Change::energy,       &Change::n_pairs,
                                       &Change::squares,      &Change::squares_inside,
                                       &Change::energy_by_mu, &Change::n_pairs_by_mu};

Submatrix grown_submatrix(const BlockMatrix& a, std::int32_t column, BlockRows rows) {
  Submatrix s;
  for (const auto row : rows) s.n += a.blocking->size(row);
  s.n_own = a.blocking->size(column);
  s.columns.push_back({column, rows});
  s.rows = std::move(rows);
  return s;
}

/// Blocks of one column of a matrix, asked for in ascending rows.
class BlocksOfColumn {
 public:
  BlocksOfColumn(const BlockMatrix& m, std::int32_t column)
      : m_(m), q_(m.column_begin[column - m.first]), end_(m.column_begin[column - m.first + 1]) {}
  /// Or nullptr.
  const double* operator()(std::int32_t row) {
    while (q_ < end_ && m_.row[q_] < row) ++q_;
    return q_ < end_ && m_.row[q_] == row ? m_.value.data() + m_.offset[q_] : nullptr;
  }

 private:
  const BlockMatrix& m_;
  std::int64_t q_, end_;
};

/// Column c of P less `value`, the column on `rows`; `by_mu` (or nullptr): of df/dmu.
Change change_of(const BlockMatrix& a, const BlockMatrix& p, std::int32_t column, const BlockRows& rows,
                 const double* value, const double* by_mu) {
  const std::size_t size = a.blocking->size(column);
  BlocksOfColumn of_a(a, column), of_p(p, column);
  Change change;
  for (const auto row : rows) {
    const std::size_t n = a.blocking->size(row) * size;
    const double *a_block = of_a(row), *p_block = of_p(row);
    for (std::size_t i = 0; i < n; ++i) {
      const double difference = (p_block ? p_block[i] : 0) - value[i];
      const bool diagonal = row == column && i % (size + 1) == 0;
      change.squares += difference * difference;
      if (p_block) change.squares_inside += difference * difference;
      if (a_block) change.energy += a_block[i] * difference;
      if (diagonal) change.n_pairs += difference;
      if (!by_mu) continue;
      if (a_block) change.energy_by_mu += a_block[i] * by_mu[i];
      if (diagonal) change.n_pairs_by_mu += by_mu[i];
    }
    value += n;
    if (by_mu) by_mu += n;
  }
  return change;
}

/// Changes of these columns, the rows of each given, on all ranks. Each is evaluated where the column is.
std::vector<Change> changes(const BlockMatrix& a, const BlockMatrix& p, const GrownColumns& how,
                            std::span<const SampledColumn> sample, const std::vector<BlockRows>& rows) {
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
  sweep.compute_on(how.device);
  sweep.clear(how.functions.size());
  std::vector<int> by_polynomial, by_eigen;
  for (std::size_t i = 0; i < work.size(); ++i)
    (how.series && !how.cost.by_eigen(work[i].n, work[i].n_own) ? by_polynomial : by_eigen).push_back(i);
  together(a.comm, [&] {
    if (how.series)
      for (const int i : sweep.polynomial(by_polynomial, *how.series, how.tolerance, false))
        by_eigen.push_back(i);
    sweep.eigen(by_eigen, how.functions, false);
  });
  std::vector<double> sums(std::size(numbers) * sample.size(), 0.0);
  std::size_t begin = 0;
  for (std::size_t i = 0; i < work.size(); ++i) {
    const double* by_mu = how.functions.size() > 1 ? sweep.values()[1].data() + begin : nullptr;
    const Change change =
        change_of(a, p, work[i].columns[0].column, work[i].rows, sweep.values()[0].data() + begin, by_mu);
    begin += std::int64_t{work[i].n} * work[i].n_own;
    for (std::size_t k = 0; k < std::size(numbers); ++k)
      sums[std::size(numbers) * number[i] + k] = change.*numbers[k];
  }
  a.comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  std::vector<Change> all(sample.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    all[i / std::size(numbers)].*numbers[i % std::size(numbers)] = sums[i];
  return all;
}

/// The sampled columns, grown once, and a few of them grown further.
class Growing {
 public:
  Growing(const BlockMatrix& a, const BlockMatrix& p, const std::vector<Submatrix>& work,
          const GrownColumns& how)
      : a_(a),
        p_(p),
        how_(how),
        sample_(defects_of_columns(p), most_columns),
        grown_(a, work, how.threshold, how.width) {}

  /// Until the sum over all columns is known well enough, or time is up. Collective.
  void sample() {
    sample_up_to(first_columns);
    const Estimate e = energy();
    const double missing = e.deviation / (well_known * std::abs(e.value));
    if (missing > 1) sample_up_to(std::min<double>(most_columns, first_.size() * missing * missing + 1));
  }

  /// Until the last growth adds little, or time is up. Collective.
  void grow_few() {
    choose_few();
    std::vector<SampledColumn> few;
    further_.emplace_back();
    std::size_t n_rows = a_.blocking->n_blocks();
    for (const auto s : few_) {
      few.push_back(sample_.columns()[s]);
      further_.front().push_back(first_[s]);
      n_rows = std::min(n_rows, rows_[s].size());
    }
    const auto enough = [&] {
      return settled(&Change::energy) && (how_.functions.size() < 2 || settled(&Change::n_pairs));
    };
    const std::size_t n_blocks = a_.blocking->n_blocks();
    for (int shells = 3; !enough() && n_rows < n_blocks; shells += shells - 1) {
      std::vector<BlockRows> rows;
      std::size_t least = n_blocks;
      for (const auto& column : few) {
        rows.push_back(grown_(column.column, shells));
        seconds_ += cost(column.column, rows.back());
        least = std::min(least, rows.back().size());
      }
      if (least == n_rows || seconds_ > 2 * how_.seconds) break;
      n_rows = least;
      further_.push_back(changes(a_, p_, how_, few, rows));
    }
    whole_ = n_rows == n_blocks;
  }

  /// Estimate the error of E or, at fixed pairs, of E - mu_eff N: that at equal N, but for the second order.
  [[nodiscard]] Estimate energy() const {
    std::vector<double> x;
    const double mu = mu_of_energy();
    for (const Change& c : first_) x.push_back(c.energy - mu * c.n_pairs);
    return of_all(&Change::energy, x);
  }
  [[nodiscard]] Estimate n_pairs() const { return of_all(&Change::n_pairs, of_first(&Change::n_pairs)); }
  /// `number`: a sum of squares.
  [[nodiscard]] double norm(double Change::*number) const {
    return std::sqrt(further(number) * sample_.total(of_first(number), false).size());
  }
  /// dN/dmu, 0 where mu is not what holds the pairs.
  [[nodiscard]] double n_pairs_by_mu() const {
    return sum(largest(), &Change::n_pairs_by_mu) * a_.blocking->n_blocks() / largest().size();
  }
  [[nodiscard]] int n_columns() const { return first_.size(); }

 private:
  /// Columns that are as unlike as their defects are: those of a symmetric system come in a few kinds.
  void choose_few() {
    few_ = {0};
    const auto unlike = [&](std::size_t s) { return std::abs(sample_.defect(s) - sample_.defect(0)); };
    std::size_t other = 1;
    for (std::size_t s = 1; s < first_.size(); ++s)
      if (unlike(s) > (1 + 1e-6) * unlike(other)) other = s;
    if (other < first_.size()) few_.push_back(other);
  }

  /// The sum over all columns, from what the first growth changes in those of the sample (`x`) and what more
  /// growth makes of it. What the few columns have not in common stands for how far that may be off.
  [[nodiscard]] Estimate of_all(double Change::*number, std::vector<double> x) const {
    Estimate sum = further(number) * sample_.total(x, true);
    for (double& value : x) value = std::abs(value);
    sum.deviation = std::hypot(sum.deviation, misfit(number) * sample_.total(x, false).value);
    return sum;
  }

  double cost(std::int32_t column, const BlockRows& rows) const {
    const Submatrix s = grown_submatrix(a_, column, rows);
    return how_.cost(s.n, s.n_own);
  }

  void sample_up_to(std::size_t most) {
    std::vector<BlockRows> more;
    const std::size_t begin = rows_.size();
    for (std::size_t i = begin; i < std::min(most, sample_.columns().size()); ++i) {
      BlockRows r = grown_(sample_.columns()[i].column, 2);
      seconds_ += cost(sample_.columns()[i].column, r);
      if (static_cast<int>(i) >= least_columns && seconds_ > how_.seconds) break;
      more.push_back(std::move(r));
    }
    const auto change = changes(a_, p_, how_, std::span(sample_.columns()).subspan(begin, more.size()), more);
    first_.insert(first_.end(), change.begin(), change.end());
    rows_.insert(rows_.end(), more.begin(), more.end());
  }

  [[nodiscard]] std::vector<double> of_first(double Change::*number) const {
    std::vector<double> x;
    for (const Change& c : first_) x.push_back(c.*number);
    return x;
  }

  /// The columns that are grown most: small submatrices have few levels within T of mu.
  [[nodiscard]] const std::vector<Change>& largest() const {
    return further_.empty() ? first_ : further_.back();
  }
  static double sum(const std::vector<Change>& change, double Change::*number) {
    return std::accumulate(change.begin(), change.end(), 0.0,
                           [=](double x, const Change& c) { return x + c.*number; });
  }
  /// dE/dN at fixed temperature: mu, or what the derivatives say.
  [[nodiscard]] double mu_of_energy() const {
    if (!how_.holds_pairs) return 0;
    const double n_pairs = sum(largest(), &Change::n_pairs_by_mu);
    return n_pairs > 0 ? sum(largest(), &Change::energy_by_mu) / n_pairs : how_.mu;
  }

  /// A number of a change; of the energy at equal N.
  [[nodiscard]] auto value_of(double Change::*number) const {
    const double mu = number == &Change::energy ? mu_of_energy() : 0;
    return [=](const Change& c) { return c.*number - mu * c.n_pairs; };
  }

  /// How much of the first change each growth of the few columns brings, by least squares; the first: 1.
  [[nodiscard]] std::vector<double> parts(double Change::*number) const {
    const auto of = value_of(number);
    std::vector<double> part;
    double before = 0;
    for (const auto& change : further_) {
      double product = 0, squares = 0;
      for (std::size_t s = 0; s < change.size(); ++s) {
        const double x = of(further_.front()[s]);
        product += x * of(change[s]);
        squares += x * x;
      }
      constexpr double rounding = 1e-13;
      if (!(squares > rounding * rounding * change.size())) return {1};
      part.push_back(product / squares - before);
      before += part.back();
    }
    return part;
  }
  /// How far the last growth of the few columns is from one multiple of the first, over the size of the
  /// first.
  [[nodiscard]] double misfit(double Change::*number) const {
    const auto part = parts(number);
    const double factor = std::accumulate(part.begin(), part.end(), 0.0);
    const auto of = value_of(number);
    double squares = 0, off = 0;
    if (part.size() < 2) return 0;
    for (std::size_t s = 0; s < further_.front().size(); ++s) {
      const double x = of(further_.front()[s]);
      squares += x * x;
      off += std::pow(of(further_.back()[s]) - factor * x, 2);
    }
    return std::sqrt(off / squares);
  }
  [[nodiscard]] bool settled(double Change::*number) const {
    const auto part = parts(number);
    const double sum = std::accumulate(part.begin(), part.end(), 0.0);
    return part.size() > 1 && std::abs(part.back()) < well_known * std::abs(sum);
  }
  /// What the change by the first growth is to be multiplied by: all parts and a geometric series.
  [[nodiscard]] double further(double Change::*number) const {
    const auto part = parts(number);
    const double sum = std::accumulate(part.begin(), part.end(), 0.0);
    if (part.size() < 2 || whole_) return part.empty() ? 1 : sum;
    const double ratio = std::clamp(part.back() / part[part.size() - 2], -0.5, 0.9);
    const double rest = part.back() * ratio / (1 - ratio);
    if (number == &Change::squares || number == &Change::squares_inside) return sum + std::max(rest, 0.0);
    return settled(number) || std::abs(sum + rest) > std::abs(part.back()) ? sum + rest : part.back();
  }

  const BlockMatrix &a_, &p_;
  const GrownColumns& how_;
  ColumnSample sample_;
  Growth grown_;
  std::vector<BlockRows> rows_;
  std::vector<Change> first_;
  std::vector<std::size_t> few_;              ///< places in the sample of those that are grown further
  std::vector<std::vector<Change>> further_;  ///< of the few columns, the first growth included
  bool whole_ = false;                        ///< the last growth reached all rows
  double seconds_ = 0;
};

}  // namespace

TruncationError truncation_error(const BlockMatrix& a, const BlockMatrix& p,
                                 const std::vector<Submatrix>& work, const GrownColumns& how) {
  const auto start = std::chrono::steady_clock::now();
  Growing growing(a, p, work, how);
  growing.sample();
  growing.grow_few();
  TruncationError error;
  error.energy = growing.energy();
  const Estimate n_pairs = growing.n_pairs();
  if (const double slope = growing.n_pairs_by_mu(); slope > 0) {
    error.energy.value -= n_pairs.value * n_pairs.value / (2 * slope);
    error.energy.deviation = std::hypot(error.energy.deviation, n_pairs.value * n_pairs.deviation / slope);
    error.mu = n_pairs.size() / slope;
  }
  error.n_pairs = n_pairs.size();
  error.p = growing.norm(&Change::squares);
  error.p_inside = growing.norm(&Change::squares_inside);
  error.n_columns = growing.n_columns();
  error.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return error;
}

}  // namespace quintet::electronic
