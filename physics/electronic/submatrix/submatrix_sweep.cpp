#include "physics/electronic/submatrix/submatrix_sweep.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "io/log/error.hpp"
#include "physics/electronic/device/gathered_rows.hpp"

namespace quintet::electronic {

void Sweep::clear(std::size_t n_functions) {
  const Blocking& blocks = *pattern_.blocking;
  values_begin_.assign(1, 0);
  for (const Submatrix& s : work_) {
    std::size_t n_values = 0;
    for (const auto& column : s.columns)
      for (const auto row : column.rows)
        n_values += std::int64_t{blocks.size(row)} * blocks.size(column.column);
    values_begin_.push_back(values_begin_.back() + n_values);
  }
  values_.resize(n_functions);
  for (auto& value : values_) value.assign(values_begin_.back(), 0.0);
  moments_.clear();
  levels_ = {};
  kept_.clear();
}

void Sweep::own_rows(const Submatrix& s) {
  const Blocking& blocks = *pattern_.blocking;
  begin_.assign(1, 0);
  own_.clear();
  auto own = s.columns.begin();
  for (const auto row : s.rows) {
    if (own != s.columns.end() && row == own->column) {
      for (int i = 0; i < blocks.size(row); ++i) own_.push_back(begin_.back() + i);
      ++own;
    }
    begin_.push_back(begin_.back() + blocks.size(row));
  }
}

void Sweep::store(int which, std::size_t function, const std::vector<double>& columns) {
  const Submatrix& s = work_[which];
  const double* from = columns.data();
  double* to = values_[function].data() + values_begin_[which];
  for (const auto& column : s.columns) {
    const int width = pattern_.blocking->size(column.column);
    std::size_t i = 0;
    for (const auto row : column.rows) {
      while (s.rows[i] != row) ++i;  // the submatrix has all rows of the column
      const int rows = begin_[i + 1] - begin_[i];
      for (int j = 0; j < width; ++j, to += rows)
        std::copy_n(from + std::int64_t{j} * s.n + begin_[i], rows, to);
    }
    from += std::int64_t{width} * s.n;
  }
}

void Sweep::share_columns_of(const AlignedVector<double>& values, AlignedVector<double>& to) const {
  const Blocking& blocks = *pattern_.blocking;
  to.assign(pattern_.value.size(), 0.0);
  const auto place = [&](std::int32_t column) {
    return to.data() + pattern_.offset[pattern_.column_begin[column - pattern_.first]];
  };
  std::vector<std::vector<std::int32_t>> sizes(pattern_.comm.size());  // column, number of values
  std::vector<std::vector<double>> send(sizes.size());
  const double* from = values.data();
  for (const Submatrix& s : work_)
    for (const auto& column : s.columns) {
      std::int32_t n = 0;
      for (const auto row : column.rows) n += blocks.size(row) * blocks.size(column.column);
      const int owner = pattern_.owner(column.column);
      if (owner == pattern_.comm.rank()) {
        std::copy_n(from, n, place(column.column));
      } else {
        sizes[owner].insert(sizes[owner].end(), {column.column, n});
        send[owner].insert(send[owner].end(), from, from + n);
      }
      from += n;
    }
  if (pattern_.comm.size() == 1) return;
  sizes = pattern_.comm.all_to_all(sizes);
  send = pattern_.comm.all_to_all(send);
  for (std::size_t rank = 0; rank < send.size(); ++rank) {
    from = send[rank].data();
    for (std::size_t i = 0; i < sizes[rank].size(); from += sizes[rank][i + 1], i += 2)
      std::copy_n(from, sizes[rank][i + 1], place(sizes[rank][i]));
  }
}

template <class Real>
std::vector<int> Sweep::polynomial_of(std::span<const int> which, const ChebyshevSeries& series,
                                      double tolerance) {
  LocalMatrix<Real> local;
  ColumnPolynomial<Real> polynomial;
  OwnColumns columns;
  std::vector<int> refused;
  for (const int i : which) {
    if (must_stop()) break;
    const Submatrix& s = work_[i];
    local.assign(gathered_, s.rows, series.centre, 2 / series.half_width);
    own_rows(s);
    polynomial.evaluate(local, own_, series, columns);
    flops_ += 2 * local.n_elements() * series.degree() * s.n_own;
    if (!keep(i, columns, tolerance)) refused.push_back(i);
  }
  return refused;
}

bool Sweep::keep(int i, const OwnColumns& columns, double tolerance) {
  if (!(columns.idempotency <= tolerance * work_[i].n_own)) return false;
  for (std::size_t f = 0; f < columns.value.size(); ++f) store(i, f, columns.value[f]);
  moments_.resize(std::max(moments_.size(), columns.moment.size()), 0.0);
  for (std::size_t k = 0; k < columns.moment.size(); ++k) moments_[k] += columns.moment[k];
  return true;
}

std::vector<int> Sweep::polynomial_on_device(std::span<const int> which, const ChebyshevSeries& series,
                                             double tolerance, bool single_precision) {
  const Tasks tasks = tasks_of(which);
  std::vector<int> refused;
  OwnColumns columns;
  set_matrix(*device_, gathered_);
  device_->evaluate(tasks.wanted, {series.centre, series.half_width, series.coefficients}, single_precision,
                    [&](std::size_t task, std::span<const double> values, std::span<const double> moments,
                        double n_elements) {
                      const int i = which[task];
                      own_rows(work_[i]);
                      flops_ += 2 * n_elements * series.degree() * work_[i].n_own;
                      columns.value.resize(series.coefficients.size());
                      const std::size_t size = values.size() / columns.value.size();
                      for (std::size_t f = 0; f < columns.value.size(); ++f)
                        columns.value[f].assign(values.begin() + f * size, values.begin() + (f + 1) * size);
                      columns.moment.assign(moments.begin(), moments.end());
                      columns.idempotency = idempotency_error(columns.value.front(), own_);
                      if (!keep(i, columns, tolerance)) refused.push_back(i);
                      return !must_stop();
                    });
  return refused;
}

std::vector<int> Sweep::polynomial(std::span<const int> which, const ChebyshevSeries& series,
                                   double tolerance, bool single_precision) {
  if (device_ != nullptr) return polynomial_on_device(which, series, tolerance, single_precision);
  return single_precision ? polynomial_of<float>(which, series, tolerance)
                          : polynomial_of<double>(which, series, tolerance);
}

void Sweep::load_dense(const Submatrix& s, std::vector<double>& matrix) {
  dense_source_.assign(gathered_, s.rows, 0, 1);
  dense_source_.dense(matrix);
  own_rows(s);
}

void Sweep::take_pairs(int which, Eigenpairs& pairs, Functions functions, bool keep) {
  std::vector<double> columns;
  levels_.x.insert(levels_.x.end(), pairs.value.begin(), pairs.value.end());
  levels_.weight.insert(levels_.weight.end(), pairs.weight.begin(), pairs.weight.end());
  for (std::size_t f = 0; f < functions.size(); ++f) {
    transform_columns(pairs, own_, functions[f], columns);
    store(which, f, columns);
  }
  const double n = work_[which].n;
  flops_ += 9 * n * n * n + 2 * n * n * work_[which].n_own;
  if (keep) kept_.push_back({which, std::move(pairs)});
}

void Sweep::eigen_on_device(std::span<const int> which, Functions functions, bool keep) {
  const Tasks tasks = tasks_of(which);
  set_matrix(*device_, gathered_);
  device_->eigenpairs(tasks.wanted, [&](std::size_t task, std::span<const double> values,
                                        std::span<const double> vectors) {
    const Submatrix& s = work_[which[task]];
    if (values.empty())
      throw NumericalError(fmt::format(
          "no eigenpairs were found of a submatrix of {} rows; has it numbers that are not finite?", s.n));
    own_rows(s);
    Eigenpairs pairs{
        {values.begin(), values.end()}, {vectors.begin(), vectors.end()}, own_weights(vectors, own_)};
    take_pairs(which[task], pairs, functions, keep);
    return !must_stop();
  });
}

void Sweep::eigen(std::span<const int> which, Functions functions, bool keep) {
  if (device_ != nullptr) return eigen_on_device(which, functions, keep);
  std::vector<double> matrix;
  for (const int i : which) {
    if (must_stop()) break;
    load_dense(work_[i], matrix);
    Eigenpairs pairs = eigenpairs_of(std::move(matrix), own_);
    take_pairs(i, pairs, functions, keep);
    matrix = std::move(pairs.vector);  // its memory, unless it is kept
  }
}

void Sweep::transform(Functions functions) {
  std::vector<double> columns;
  values_.resize(functions.size());
  for (auto& value : values_) value.assign(values_begin_.back(), 0.0);
  for (const Kept& kept : kept_) {
    const Submatrix& s = work_[kept.which];
    own_rows(s);
    for (std::size_t f = 0; f < functions.size(); ++f) {
      transform_columns(kept.pairs, own_, functions[f], columns);
      store(kept.which, f, columns);
    }
  }
}

Sweep::Tasks Sweep::tasks_of(std::span<const int> which) {
  Tasks tasks;
  for (const int i : which) {
    own_rows(work_[i]);
    tasks.own.push_back(own_);
    tasks.wanted.push_back({work_[i].rows, tasks.own.back()});  // what `own` holds moves, its memory does not
  }
  return tasks;
}

void Sweep::newton_schulz_on_device(std::span<const int> which, double mu, double error, int order) {
  const Tasks tasks = tasks_of(which);
  std::vector<double> columns;
  set_matrix(*device_, gathered_);
  device_->newton_schulz(
      tasks.wanted, mu, error, order,
      [&](std::size_t task, std::span<const double> values, std::span<const double> history) {
        const Submatrix& s = work_[which[task]];
        if (values.empty()) throw_not_converged(s.n, mu, history);
        own_rows(s);
        columns.assign(values.begin(), values.end());
        store(which[task], 0, columns);
        return !must_stop();
      });
}

void Sweep::newton_schulz(std::span<const int> which, double mu, double error, int order) {
  if (device_ != nullptr) return newton_schulz_on_device(which, mu, error, order);
  std::vector<double> matrix, columns;
  for (const int i : which) {
    if (must_stop()) break;
    const Submatrix& s = work_[i];
    load_dense(s, matrix);
    newton_schulz_columns(matrix, s.n, mu, own_, error, order, columns);
    store(i, 0, columns);
  }
}

double Sweep::trace(std::size_t function) const {
  const Blocking& blocks = *pattern_.blocking;
  const double* block = values_[function].data();
  double sum = 0;
  for (const Submatrix& s : work_)
    for (const auto& column : s.columns) {
      const std::size_t n = blocks.size(column.column);
      for (const auto row : column.rows) {
        if (row == column.column)
          for (std::size_t i = 0; i < n; ++i) sum += block[i * n + i];
        block += n * blocks.size(row);
      }
    }
  return sum;
}

}  // namespace quintet::electronic
