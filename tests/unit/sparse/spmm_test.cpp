#include "physics/sparse/spmm.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

/// Whole numbers of a few bits, so that all sums are exact in any order.
double whole(std::int64_t i) { return (i * 7919 + 13) % 31 - 15; }

std::vector<double> panel(int n, int f, int shift) {
  std::vector<double> h(std::int64_t{n} * f);
  for (std::size_t i = 0; i < h.size(); ++i) h[i] = whole(static_cast<std::int64_t>(i) + shift);
  return h;
}

/// Rows of 0 to 9 nonzeros, some columns twice.
CsrMatrix sample(int n_rows, int n_columns) {
  CsrMatrix a;
  a.n_columns = n_columns;
  for (int i = 0; i < n_rows; ++i) {
    for (int k = 0; k < (i * 5) % 10; ++k) {
      a.column.push_back((i * 31 + k * k * 17) % n_columns);
      a.value.push_back(whole(std::int64_t{i} * 10 + k));
    }
    a.row_begin.push_back(a.column.size());
  }
  return a;
}

TEST(Spmm, rows_of_scalars_equal_the_plain_loop_at_all_widths) {
  const CsrMatrix a = sample(53, 41);
  check_csr(a);
  for (const int f : {0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 47, 64, 67}) {
    const auto h = panel(a.n_columns, f, 3);
    auto z = panel(a.n_rows(), f, 5), expected = z;
    for (int i = 0; i < a.n_rows(); ++i)
      for (auto p = a.row_begin[i]; p < a.row_begin[i + 1]; ++p)
        for (int c = 0; c < f; ++c) expected[i * f + c] += a.value[p] * h[a.column[p] * f + c];

    multiply_add(a, h.data(), z.data(), f);

    EXPECT_EQ(z, expected) << f << " columns";
  }
}

TEST(Spmm, rows_of_blocks_equal_the_plain_loop_at_all_sizes) {
  const std::vector<int> rows{1, 6, 3, 13, 2, 7, 6, 23, 5};
  std::vector<int> begin{0};
  for (const int n : rows) begin.push_back(begin.back() + n);
  BlockRows a;
  std::vector<double> value;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    a.first.push_back(begin[r]);
    a.rows.push_back(rows[r]);
    for (std::size_t s = 0; s < rows.size(); ++s) {
      if (r == 4 || (r * s) % 3 == 1) continue;  // block row 4 is empty
      a.source.push_back(begin[s]);
      a.inner.push_back(rows[s]);
      a.offset.push_back(value.size());
      for (int k = 0; k < rows[r] * rows[s]; ++k) value.push_back(whole(k + static_cast<int>(r * 100 + s)));
    }
    a.begin.push_back(a.source.size());
  }
  for (const int f : {1, 2, 5, 8, 13, 16, 31, 32, 33, 71}) {
    const auto h = panel(begin.back(), f, 1);
    auto z = panel(begin.back(), f, 2), expected = z;
    for (int r = 0; r < a.n_rows(); ++r)
      for (auto p = a.begin[r]; p < a.begin[r + 1]; ++p)
        for (int j = 0; j < a.rows[r]; ++j)
          for (int i = 0; i < a.inner[p]; ++i)
            for (int c = 0; c < f; ++c)
              expected[(a.first[r] + j) * f + c] +=
                  value[a.offset[p] + j * a.inner[p] + i] * h[(a.source[p] + i) * f + c];

    multiply_add(a, value.data(), h.data(), z.data(), f);

    EXPECT_EQ(z, expected) << f << " columns";
  }
}

/// What does not fit float32 exactly would show: sums here are whole numbers below 2^24.
TEST(Spmm, float32_equals_float64_where_sums_are_exact) {
  const auto single = [](const auto& values) { return std::vector<float>(values.begin(), values.end()); };
  const CsrMatrix a = sample(53, 41);
  BlockRows blocks;
  std::vector<double> value;
  for (int r = 0; r < 4; ++r) {  // 7 rows of 13 columns each, two blocks a row
    blocks.first.push_back(7 * r), blocks.rows.push_back(7);
    for (const int source : {0, 13 * r}) {
      blocks.source.push_back(source), blocks.inner.push_back(13);
      blocks.offset.push_back(value.size());
      for (int k = 0; k < 7 * 13; ++k) value.push_back(whole(k + r));
    }
    blocks.begin.push_back(blocks.source.size());
  }
  for (const int f : {1, 3, 8, 15, 16, 17, 31, 33, 64, 65, 127, 130}) {
    const auto h = panel(52, f, 3);
    auto z = panel(53, f, 5);
    auto z_single = single(z);
    multiply_add(a, h.data(), z.data(), f);
    multiply_add(a, single(a.value).data(), single(h).data(), z_single.data(), f, 0, a.n_rows());
    EXPECT_EQ(z_single, single(z)) << f << " columns";
    multiply(a, single(a.value).data(), single(h).data(), z_single.data(), f, 0, a.n_rows());
    multiply(a, a.value.data(), h.data(), z.data(), f, 0, a.n_rows());
    EXPECT_EQ(z_single, single(z)) << f << " columns, no sum";
    multiply_add(blocks, value.data(), h.data(), z.data(), f);
    multiply_add(blocks, single(value).data(), single(h).data(), z_single.data(), f, 0, blocks.n_rows());
    EXPECT_EQ(z_single, single(z)) << f << " columns of blocks";
  }
}

template <class Real>
void expect_same_bits_of_columns() {
  const CsrMatrix a = sample(29, 37);
  std::vector<Real> value;
  for (std::size_t p = 0; p < a.value.size(); ++p) value.push_back(Real(1) / (static_cast<Real>(p) + 3));
  constexpr int f = 65;
  std::vector<Real> h;
  for (const double x : panel(a.n_columns, f, 3)) h.push_back(1 / (static_cast<Real>(x) + Real(0.3)));
  std::vector<Real> z(std::int64_t{a.n_rows()} * f, 0);
  multiply_add(a, value.data(), h.data(), z.data(), f, 0, a.n_rows());
  for (int c = 0; c < f; ++c) {
    std::vector<Real> one_h, one_z(a.n_rows(), 0);
    for (int i = 0; i < a.n_columns; ++i) one_h.push_back(h[i * f + c]);
    multiply_add(a, value.data(), one_h.data(), one_z.data(), 1, 0, a.n_rows());
    for (int i = 0; i < a.n_rows(); ++i) EXPECT_EQ(one_z[i], z[i * f + c]) << "row " << i << ", column " << c;
  }
}
TEST(Spmm, a_column_has_the_same_bits_whatever_stands_beside_it) {
  expect_same_bits_of_columns<double>();
  expect_same_bits_of_columns<float>();
}

TEST(Spmm, matrices_that_are_none_are_refused) {
  CsrMatrix a = sample(9, 7);
  a.column[3] = 7;
  EXPECT_THROW(check_csr(a), InputError);
  a = sample(9, 7);
  a.row_begin[2] = a.row_begin[3] + 1;
  EXPECT_THROW(check_csr(a), InputError);
  a = sample(9, 7);
  a.value.pop_back();
  EXPECT_THROW(check_csr(a), InputError);
}

}  // namespace
}  // namespace quintet
