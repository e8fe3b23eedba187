#include "physics/electronic/device/dense_functions.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace quintet::electronic::device {

namespace {

bool has_converged(const std::vector<double>& history, int n, double error) {
  return history.back() <= error * std::sqrt(n);
}

}  // namespace

/// Batches of submatrices of about a size: visit(task, i) for each that is number i of the batch at hand,
/// until it returns false.
template <class Visit>
void DenseFunctions::by_size(std::span<const WantedColumns> tasks, const Visit& visit) {
  std::vector<std::size_t> order(tasks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return batches_.rows_of(tasks[a]) > batches_.rows_of(tasks[b]);
  });
  std::vector<WantedColumns> sorted;
  for (const std::size_t i : order) sorted.push_back(tasks[i]);
  for (std::size_t begin = 0, end = 0; begin < sorted.size(); begin = end) {
    end = batches_.load(sorted, begin, {1, n_dense});
    for (std::size_t i = begin; i < end; ++i)
      if (!visit(order[i], i - begin)) return;
  }
}

template <class Kernel>
void DenseFunctions::over(const char* label, std::int64_t items, const Kernel& kernel) const {
  Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(space_, 0, items), kernel);
}

void DenseFunctions::newton_schulz(std::span<const WantedColumns> tasks, double mu, double error, int order,
                                   const DeviceSubmatrices::DoneSign& done) {
  by_size(tasks, [&](std::size_t task, std::size_t i) {
    if (i == 0) {
      histories_ = iterate(mu, error, order);
      values_.copy_to(host_values_, batches_.n_values());
    }
    const Place& s = batches_.places()[i];
    const std::size_t size = has_converged(histories_[i], s.n, error) ? std::int64_t{s.n} * s.n_own : 0;
    return done(task, std::span(host_values_).subspan(s.values, size), histories_[i]);
  });
}

void DenseFunctions::eigenpairs(std::span<const WantedColumns> tasks,
                                const DeviceSubmatrices::DonePairs& done) {
  std::vector<double> values, vectors;
  by_size(tasks, [&](std::size_t task, std::size_t i) {
    if (i == 0) diagonalise();
    sorted_pairs(i, values, vectors);
    return done(task, values, vectors);
  });
}

DenseFunctions::Dense DenseFunctions::fill_dense() {
  const int m = Batches::padded(batches_.places().front().n), count = batches_.places().size();
  const std::int64_t n = std::int64_t{m} * m * count;
  const Dense d{batches_.view(), m, count, dense_[0].reserve(n)};
  over("submatrix::clear", n, Scale{0, d.x, d.x, true});
  over("submatrix::fill_dense", batches_.n_blocks() * FillDense::lanes, FillDense{d.b, m, d.x});
  Kokkos::fence();
  return d;
}

/// Compute each matrix's largest column sum (1) or sum of squares (2).
const double* DenseFunctions::norms(const Dense& d, int norm, const double* of) {
  const std::int64_t n_columns = std::int64_t{d.count} * d.m;
  double* const sums = sums_.reserve(n_columns);
  over("submatrix::column_sums", n_columns, ColumnSums{d.m, norm, of, sums});
  double* const result = norms_.reserve(batches_.places().size());
  over("submatrix::norms", d.count, MatrixNorm{d.m, norm, sums, result});
  return result;
}

/// Eigenpairs of the batch, to sorted_pairs(); with as much memory more as an iteration would take, which it
/// has in turn.
void DenseFunctions::diagonalise() {
  for (int i = 1; i < n_dense; ++i) dense_[i].give_back();
  const Dense d = fill_dense();
  const std::size_t count = d.count, m = d.m;
  const std::int64_t n_columns = std::int64_t{d.count} * d.m;
  double* const level = levels_.reserve(count * m);
  double* const total = totals_.reserve(count);
  int* const failed = failed_.reserve(count);
  const Kokkos::Timer timer;
  const double* const norm = norms(d, 1, d.x);
  over("submatrix::totals", d.count, MatrixNorm{d.m, 2, sums_.data(), total});
  over("submatrix::pad_for_solver", n_columns, PadForSolver{d.b, d.m, norm, total, d.x});
  eigensolver_.solve(space_, {d.x, level, failed, d.m, d.count},
                     (n_dense - 1) * sizeof(double) * count * m * m);
  over("submatrix::fail_not_finite", d.count, FailNotFinite{total, failed});
  Kokkos::fence();
  kernel_seconds_ += timer.seconds();
  dense_[0].copy_to(host_vectors_, count * m * m);
  levels_.copy_to(host_levels_, count * m);
  failed_.copy_to(host_failed_, count);
}

/// Sort the pairs of matrix i of the batch; none if they were not found. The padding has the highest levels.
void DenseFunctions::sorted_pairs(std::size_t i, std::vector<double>& values,
                                  std::vector<double>& vectors) const {
  const std::size_t n = batches_.places()[i].n, m = Batches::padded(batches_.places().front().n);
  values.clear();
  vectors.clear();
  const double* const level = host_levels_.data() + i * m;
  const bool is_finite = std::all_of(level, level + m, [](double one) { return std::isfinite(one); });
  if (!is_finite || host_failed_[i] != 0) return;
  std::vector<std::size_t> order(m);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return level[a] < level[b]; });
  order.resize(n);
  for (const std::size_t c : order) {
    values.push_back(level[c]);
    const double* const column = host_vectors_.data() + (i * m + c) * m;
    vectors.insert(vectors.end(), column, column + n);
  }
}

/// The Newton-Schulz iteration of the batch; its columns are then in values_. History of each matrix.
std::vector<std::vector<double>> DenseFunctions::iterate(double mu, double error, int order) {
  constexpr double coefficient[] = {1, 1.0 / 2, 3.0 / 8, 5.0 / 16};
  eigensolver_.give_back();
  const Dense d = fill_dense();
  const int m = d.m, count = d.count;
  const std::int64_t size = std::int64_t{m} * m, n_columns = std::int64_t{count} * m, n = size * count;
  double *x = d.x, *r = dense_[1].reserve(n), *f = dense_[2].reserve(n), *next = dense_[3].reserve(n);
  std::vector<std::int32_t> task_of_own;
  for (std::size_t i = 0; i < batches_.places().size(); ++i)
    task_of_own.insert(task_of_own.end(), static_cast<std::size_t>(batches_.places()[i].n_own),
                       static_cast<int>(i));
  const std::int32_t* const device_task_of_own = device_task_of_own_.copy(task_of_own);
  double* const values = values_.reserve(batches_.n_values());
  const Kokkos::Timer timer;
  over("submatrix::shift", n_columns, ShiftRows{d.b, m, mu, x});
  over("submatrix::normalise", n_columns, Normalise{d.b, m, norms(d, 1, x), x});

  std::vector<std::vector<double>> histories(batches_.places().size());
  std::vector<double> squares;
  std::vector<char> goes_on(batches_.places().size(), 1);
  const auto any = [&] { return std::find(goes_on.begin(), goes_on.end(), 1) != goes_on.end(); };
  for (int k = 0; any(); ++k) {
    multiplier_.multiply(space_, quintet::device::SquareProducts{x, x, r, m, count, -1});
    over("submatrix::add_to_diagonal", n_columns, AddToDiagonal{m, 1, r});
    (void)norms(d, 2, r);
    Kokkos::fence();
    norms_.copy_to(squares, batches_.places().size());
    // Horner: c_0 + R (c_1 + R (c_2 + ...))
    over("submatrix::scale", n, Scale{coefficient[order - 1], r, f, false});
    for (int c = order - 2; c > 0; --c) {
      over("submatrix::add_to_diagonal", n_columns, AddToDiagonal{m, coefficient[c], f});
      multiplier_.multiply(space_, quintet::device::SquareProducts{r, f, next, m, count});
      std::swap(f, next);
    }
    over("submatrix::copy", n, Scale{1, x, next, false});
    multiplier_.multiply(space_, quintet::device::SquareProducts{x, f, next, m, count, 1, true});
    over("submatrix::take_next", n, TakeNext{size, goes_on_.copy(goes_on), next, x});
    for (std::size_t i = 0; i < batches_.places().size(); ++i) {
      if (goes_on[i] == 0) continue;
      histories[i].push_back(std::sqrt(squares[i]));
      goes_on[i] =
          !has_converged(histories[i], batches_.places()[i].n, error) && k + 1 < most_iterations ? 1 : 0;
    }
  }
  over("submatrix::own_columns", batches_.n_own() * m, OwnOfSign{d.b, m, device_task_of_own, x, values});
  Kokkos::fence();
  kernel_seconds_ += timer.seconds();
  return histories;
}

}  // namespace quintet::electronic::device
