#include "physics/transforms/column_elimination.hpp"

#include <algorithm>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/transforms/elimination_cell.hpp"

namespace quintet {

ColumnElimination::ColumnElimination(const Comm& comm, int n_rows, int n_columns, int n_matrices)
    : comm_(comm),
      n_columns_(n_columns),
      n_matrices_(n_matrices),
      first_row_(Shares{n_rows, comm.size()}.first(comm.rank())),
      n_rows_(Shares{n_rows, comm.size()}.size(comm.rank())),
      downwards_(comm.size() > 1 && comm.rank() == comm.size() - 1),
      between_(comm.rank() > 0 && !downwards_),
      shares_(n_matrices),
      ends_(comm, 2 * comm.size(), n_matrices * n_columns) {
  QUINTET_CHECK(n_rows >= comm.size(), "{} rows on {} ranks; each rank needs one", n_rows, comm.size());
  for (Share& share : shares_) {
    const std::size_t area = at(n_rows_);
    share.inverse.resize(area);
    if (between_) share.spike.resize(area);
    if (between_) share.weight.resize(area);
  }
}

void ColumnElimination::factorise(std::span<const TridiagonalColumns> equations) {
  for (std::size_t i = 0; i < shares_.size(); ++i) {
    Share& share = shares_[i];
    const auto &below = equations[i].below, &above = equations[i].above;
    share.from.clear();
    share.to.clear();
    for (int k = 0; k < n_rows_; ++k) {
      const std::size_t j = first_row_ + row_of(k);
      const double lower = j > 0 ? below[j] : 0, upper = j + 1 < above.size() ? above[j] : 0;
      share.from.push_back(downwards_ ? upper : lower);
      share.to.push_back(downwards_ ? lower : upper);
    }
    factorise_share(share, equations[i]);
  }
  if (comm_.size() > 1) factorise_ends();
}

void ColumnElimination::factorise_share(Share& share, const TridiagonalColumns& equations) const {
  for (int k = 0; k < n_rows_; ++k) {
    const std::size_t i = k;
    const double d = equations.diagonal[first_row_ + row_of(k)];
    const double product = k == 0 ? 0 : share.from[i] * share.to[i - 1];
    double* const inverse = share.inverse.data() + at(k);
    const double* const before = k == 0 ? inverse : inverse - n_columns_;
    for (int m = 0; m < n_columns_; ++m) {
      const double carried = k == 0 ? 0.0 : product * before[m];
      inverse[m] = elimination::inverse_of(d + equations.shift[m] - carried, d);
    }
    if (!between_) continue;
    double *const spike = share.spike.data() + at(k), *const weight = share.weight.data() + at(k);
    for (int m = 0; m < n_columns_; ++m) {
      const double last = k == 0 ? -1.0 : (spike - n_columns_)[m];
      spike[m] = elimination::next_spike(share.from[i], last, inverse[m]);
      weight[m] =
          k == 0 ? 1.0 : elimination::next_weight(share.to[i - 1] * before[m], (weight - n_columns_)[m]);
    }
  }
}

/// fill(matrix, m, f, l) makes this rank's two numbers of a column; f and l get those of all ranks, for the
/// columns here.
template <class Fill>
void ColumnElimination::share_ends(AlignedVector<double>& f, AlignedVector<double>& l, const Fill& fill) {
  for (int i = 0; i < n_matrices_; ++i) {
    const auto [own_f, own_l] = ends(i);
    for (int m = 0; m < n_columns_; ++m) {
      own_f[m] = own_l[m] = 0;
      fill(shares_[i], m, own_f[m], own_l[m]);
    }
  }
  ends_.to_columns();
  const std::ptrdiff_t columns = ends_.columns_here();
  f.clear();
  l.clear();
  const double* from = ends_.columns();
  for (int r = 0; r < comm_.size(); ++r, from += 2 * columns) {
    f.insert(f.end(), from, from + columns);
    l.insert(l.end(), from + columns, from + 2 * columns);
  }
}

void ColumnElimination::factorise_ends() {
  const int last = n_rows_ - 1, columns = ends_.columns_here();
  const auto to_next = [&](const Share& share, int m) {
    return share.to[last] * share.inverse[at(last) + m];
  };
  share_ends(left_.f_of_below, left_.l_of_below, [&](const Share& share, int m, double& f, double& l) {
    if (downwards_) f = to_next(share, m);
    if (!between_) return;
    for (int k = 0; k < n_rows_; ++k) f += share.weight.data()[at(k) + m] * share.spike.data()[at(k) + m];
    l = share.spike.data()[at(last) + m];
  });
  share_ends(left_.f_of_above, left_.l_of_above, [&](const Share& share, int m, double& f, double& l) {
    if (downwards_) return;
    l = to_next(share, m);
    if (between_) f = share.weight.data()[at(last) + m] * l;
  });
  left_.inverse.assign(left_.f_of_below.size(), 1.0);
  for (std::size_t i = columns; i < left_.inverse.size(); ++i) {
    // The rank below has l_below = ... - l_of_f f.
    const double l_of_f = left_.l_of_above[i - columns];
    left_.inverse[i] = elimination::join_below(l_of_f, left_.f_of_below[i], left_.l_of_below[i],
                                               left_.f_of_above[i], left_.l_of_above[i]);
  }
}

/// y_k = (q_k - from_k y_{k-1})/pivot_k, and what is left: this rank's first and last equation.
void ColumnElimination::eliminate(int matrix, double* q, const Tile& tile) {
  const Share& share = shares_[matrix];
  const auto [f, l] = ends(matrix);
  for (int k = tile.row; k < tile.row_end; ++k) {
    double* const y = row(q, k);
    const double *const inverse = share.inverse.data() + at(k), *const before = k == 0 ? y : row(q, k - 1);
    const double factor = share.from[k];
    if (k == 0)
      for (int m = tile.column; m < tile.column_end; ++m) y[m] *= inverse[m];
    else
      for (int m = tile.column; m < tile.column_end; ++m)
        y[m] = elimination::eliminated(y[m], factor, before[m], inverse[m]);
    if (!between_) continue;
    const double* const weight = share.weight.data() + at(k);
    for (int m = tile.column; m < tile.column_end; ++m) f[m] = (k == 0 ? 0.0 : f[m]) + weight[m] * y[m];
  }
  if (comm_.size() == 1 || tile.row_end < n_rows_) return;
  const double* const y = row(q, n_rows_ - 1);
  std::copy(y + tile.column, y + tile.column_end, (downwards_ ? f : l) + tile.column);
}

/// From the right-hand sides f, l of each rank to what it needs of its neighbours: l_below, f_above.
void ColumnElimination::solve_ends() {
  if (comm_.size() == 1) return;
  ends_.to_columns();
  const int ranks = comm_.size();
  const std::ptrdiff_t columns = ends_.columns_here();
  double* const q = ends_.columns();
  for (int r = 1; r < ranks; ++r) {
    double *const f = q + 2 * r * columns, *const l = f + columns, *const l_below = f - columns;
    const double *const f_of_below = left_.f_of_below.data() + r * columns,
                        *const l_of_below = left_.l_of_below.data() + r * columns,
                        *const l_of_f = left_.l_of_above.data() + (r - 1) * columns,
                        *const inverse = left_.inverse.data() + r * columns;
    for (std::ptrdiff_t m = 0; m < columns; ++m)
      elimination::join_sides(l_below[m], l_of_f[m], f_of_below[m], l_of_below[m], inverse[m], f[m], l[m]);
  }
  for (int r = ranks - 1; r > 0; --r) {
    double *const f = q + 2 * r * columns, *const l_below = f - columns, *const f_below = l_below - columns;
    const double *const l_of_f = left_.l_of_above.data() + (r - 1) * columns, *const f_of_f =
                                                                                  left_.f_of_above.data() +
                                                                                  (r - 1) * columns;
    for (std::ptrdiff_t m = 0; m < columns; ++m) {
      const double value = f[m];
      f[m] = elimination::substituted(l_below[m], l_of_f[m], value);
      l_below[m] = value;
      f_below[m] -= f_of_f[m] * value;
    }
  }
  ends_.to_rows();
}

/// x_k = y_k - (to_k/pivot_k) x_{k+1} - spike_k x_below.
void ColumnElimination::substitute(int matrix, double* q, const Tile& tile) {
  const Share& share = shares_[matrix];
  const auto [below, above] = ends(matrix);
  const double* const beyond = downwards_ ? below : above;
  for (int k = tile.row_end - 1; k >= tile.row; --k) {
    if (comm_.size() == 1 && k == n_rows_ - 1) continue;
    double* const x = row(q, k);
    const double *const after = k < n_rows_ - 1 ? row(q, k + 1) : beyond, *const inverse =
                                                                              share.inverse.data() + at(k);
    const double factor = share.to[k];
    for (int m = tile.column; m < tile.column_end; ++m)
      x[m] = elimination::substituted(x[m], factor * inverse[m], after[m]);
    if (!between_) continue;
    const double* const spike = share.spike.data() + at(k);
    for (int m = tile.column; m < tile.column_end; ++m) x[m] -= spike[m] * below[m];
  }
}

}  // namespace quintet
