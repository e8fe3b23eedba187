#include "physics/transforms/slab_transpose.hpp"

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"

using namespace quintet;

TEST(SlabTranspose, turns_rows_into_columns_and_back) {
  const Comm comm = Comm::world();
  for (const auto& [n_rows, n_columns] : {std::pair{7, 11}, std::pair{3, 3}, std::pair{12, 8}}) {
    SlabTranspose transpose(comm, n_rows, n_columns);
    const auto value = [](int r, int c) { return 100.0 * r + c; };
    for (int r = 0; r < transpose.rows_here(); ++r)
      for (int c = 0; c < n_columns; ++c)
        transpose.rows()[r * n_columns + c] = value(transpose.first_row() + r, c);
    transpose.to_columns();
    for (int r = 0; r < n_rows; ++r)
      for (int c = 0; c < transpose.columns_here(); ++c) {
        double& here = transpose.columns()[r * transpose.columns_here() + c];
        EXPECT_EQ(here, value(r, transpose.first_column() + c));
        here = -here;
      }
    transpose.to_rows();
    for (int r = 0; r < transpose.rows_here(); ++r)
      for (int c = 0; c < n_columns; ++c)
        EXPECT_EQ(transpose.rows()[r * n_columns + c], -value(transpose.first_row() + r, c));
  }
}

TEST(SlabTranspose, sends_each_number_to_its_rank_once) {
  const Comm comm = Comm::world();
  const int n_rows = 6, n_columns = 12;
  SlabTranspose transpose(comm, n_rows, n_columns);
  comm.reset_counters();
  transpose.to_columns();
  const auto bytes = comm.sum(static_cast<long>(comm.counter(Comm::Call::point_to_point).bytes));
  EXPECT_EQ(bytes, 8L * n_rows * n_columns * (comm.size() - 1) / comm.size());
}
