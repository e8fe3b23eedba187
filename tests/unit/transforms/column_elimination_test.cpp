#include "physics/transforms/column_elimination.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

using namespace quintet;

namespace {

/// Second differences on uneven cells with a shift for each column: of `bound` both ends hold a value, else
/// there is no flux through them and column 0 is singular.
TridiagonalColumns differences(int n_rows, int n_columns, bool bound) {
  TridiagonalColumns e;
  for (int j = 0; j < n_rows; ++j) {
    const auto strength = [](int face) { return 1 + 0.5 * std::sin(3.0 * face); };
    const double lower = j > 0 || bound ? strength(j) : 0,
                 upper = j + 1 < n_rows || bound ? strength(j + 1) : 0, width = 1 + 0.3 * std::cos(5.0 * j);
    e.below.push_back(-lower / width);
    e.above.push_back(-upper / width);
    e.diagonal.push_back((lower + upper) / width);
  }
  for (int m = 0; m < n_columns; ++m) e.shift.push_back(0.01 * m * m);
  return e;
}

double wanted(int j, int m) { return std::sin(1.7 * j + 0.3) + std::cos(2.3 * m * (j + 1)); }

/// The largest error of the solution whose right-hand side was made from wanted().
double error(const Comm& comm, int n_rows, int n_columns, const TridiagonalColumns& e,
             double (*expected)(int, int)) {
  ColumnElimination elimination(comm, n_rows, n_columns);
  elimination.factorise({&e, 1});
  const Shares shares{n_rows, comm.size()};
  const int first = shares.first(comm.rank()), rows = shares.size(comm.rank());
  std::vector<double> q;
  for (int j = first; j < first + rows; ++j)
    for (int m = 0; m < n_columns; ++m) {
      const std::size_t i = j;
      double sum = (e.diagonal[i] + e.shift[m]) * expected(j, m);
      if (j > 0) sum += e.below[i] * expected(j - 1, m);
      if (j + 1 < n_rows) sum += e.above[i] * expected(j + 1, m);
      q.push_back(sum);
    }
  elimination.solve(q.data());
  double worst = 0;
  for (int j = 0; j < rows; ++j)
    for (int m = 0; m < n_columns; ++m)
      worst = std::max(worst, std::abs(q[j * n_columns + m] - expected(first + j, m)));
  return comm.maximum(worst);
}

/// Two rows and three columns at a time.
void in_tiles(ColumnElimination& elimination, int matrix, double* q, bool upwards) {
  const auto whole = elimination.whole();
  for (int column = 0; column < whole.column_end; column += 3)
    for (int step = 0; 2 * step < whole.row_end; ++step) {
      const int row = 2 * (upwards ? step : (whole.row_end - 1) / 2 - step);
      const ColumnElimination::Tile tile{row, std::min(row + 2, whole.row_end), column,
                                         std::min(column + 3, whole.column_end)};
      upwards ? elimination.eliminate(matrix, q, tile) : elimination.substitute(matrix, q, tile);
    }
}

}  // namespace

TEST(ColumnElimination, solves_tridiagonal_equations_on_any_ranks) {
  const Comm comm = Comm::world();
  for (const auto& [n_rows, n_columns] : {std::pair{4, 1}, std::pair{7, 5}, std::pair{64, 130}})
    EXPECT_LT(error(comm, n_rows, n_columns, differences(n_rows, n_columns, true), wanted), 1e-11)
        << n_rows << " x " << n_columns;
}

TEST(ColumnElimination, has_a_row_a_rank_at_least) {
  const Comm comm = Comm::world();
  const int n = comm.size();
  EXPECT_LT(error(comm, n, 9, differences(n, 9, true), wanted), 1e-13);
  if (n > 1) {
    EXPECT_THROW(ColumnElimination(comm, n - 1, 9), InputError);
  }
}

TEST(ColumnElimination, leaves_an_empty_row_at_zero) {
  const Comm comm = Comm::world();
  const int n_rows = 12, n_columns = 20;
  TridiagonalColumns e = differences(n_rows, n_columns, true);
  e.diagonal[0] = e.above[0] = 0;
  EXPECT_LT(error(comm, n_rows, n_columns, e, [](int j, int m) { return j == 0 ? 0.0 : wanted(j, m); }),
            1e-12);
}

TEST(ColumnElimination, solves_singular_columns_up_to_a_constant) {
  const Comm comm = Comm::world();
  const int n_rows = 30, n_columns = 3;
  const TridiagonalColumns e = differences(n_rows, n_columns, false);
  ColumnElimination elimination(comm, n_rows, n_columns);
  elimination.factorise({&e, 1});
  const Shares shares{n_rows, comm.size()};
  const int first = shares.first(comm.rank()), rows = shares.size(comm.rank());
  std::vector<double> q(rows * n_columns, 0.0);
  for (int j = 0; j < rows; ++j) {
    const std::size_t i = first + j;
    const auto x = [](std::size_t row) { return wanted(row, 0); };
    double& here = q[j * n_columns];
    here = e.diagonal[i] * x(i);
    if (i > 0) here += e.below[i] * x(i - 1);
    if (i + 1 < static_cast<std::size_t>(n_rows)) here += e.above[i] * x(i + 1);
  }
  elimination.solve(q.data());
  const double constant = comm.sum(comm.rank() == 0 ? q[0] - wanted(0, 0) : 0.0);
  EXPECT_LT(std::abs(constant), 10);
  for (int j = 0; j < rows; ++j) EXPECT_NEAR(q[j * n_columns] - wanted(first + j, 0), constant, 1e-12);
}

TEST(ColumnElimination, sends_four_numbers_a_column) {
  const Comm comm = Comm::world();
  const int n_rows = 48, n_columns = 12;
  ColumnElimination elimination(comm, n_rows, n_columns);
  const TridiagonalColumns e = differences(n_rows, n_columns, true);
  elimination.factorise({&e, 1});
  std::vector<double> q(n_rows * n_columns, 1.0);
  comm.reset_counters();
  elimination.solve(q.data());
  const auto bytes = comm.sum(static_cast<long>(comm.counter(Comm::Call::point_to_point).bytes));
  EXPECT_EQ(bytes, 8L * 4 * n_columns * (comm.size() - 1));
}

TEST(ColumnElimination, takes_several_matrices_at_once_and_tiles_of_any_size) {
  const Comm comm = Comm::world();
  const int n_rows = 13, n_columns = 10;
  const std::vector<TridiagonalColumns> e{differences(n_rows, n_columns, true),
                                          differences(n_rows, n_columns, true)};
  std::vector<TridiagonalColumns> changed = e;
  for (double& shift : changed[1].shift) shift += 2;
  ColumnElimination both(comm, n_rows, n_columns, 2);
  both.factorise(changed);
  const int rows = Shares{n_rows, comm.size()}.size(comm.rank());
  std::vector<std::vector<double>> q(2, std::vector<double>(rows * n_columns));
  for (auto& matrix : q)
    for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = std::sin(static_cast<double>(i));
  auto alone = q;
  for (int i = 0; i < 2; ++i) in_tiles(both, i, q[i].data(), true);
  both.solve_ends();
  for (int i = 0; i < 2; ++i) in_tiles(both, i, q[i].data(), false);
  for (std::size_t i = 0; i < 2; ++i) {
    ColumnElimination one(comm, n_rows, n_columns);
    one.factorise({&changed[i], 1});
    one.solve(alone[i].data());
    EXPECT_EQ(q[i], alone[i]);
  }
}
