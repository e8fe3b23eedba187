#include "physics/codes/code_tables.hpp"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/codes/coded_matrix.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {
namespace {

constexpr float untouched = -7;

struct Case {
  BinaryCodes codes;
  std::vector<float> x;
  int n, ldx, ldy;
};
Case some(int rows, int columns, int n, const CodeOptions& options) {
  std::mt19937 random(static_cast<unsigned>(rows + 1000 * columns + 7 * n));
  std::normal_distribution<double> normal;
  std::vector<double> w(std::int64_t{rows} * columns);
  for (double& v : w) v = normal(random);
  Case made{encode(w, rows, columns, options), {}, n, columns + 3, padded(rows, pack_width<float>) + 5};
  made.x.resize(std::int64_t{n} * made.ldx);
  for (float& v : made.x) v = static_cast<float>(normal(random));
  return made;
}
std::vector<float> product(const Case& c, const PackedCodes& packed, TableUnit unit, bool add = false) {
  std::vector<float> y(std::int64_t{c.n} * c.ldy, untouched);
  multiply_codes(c.x.data(), c.ldx, c.n, packed, y.data(), c.ldy, add, unit);
  return y;
}
/// Largest |y - W~ x - start|/(|W~| |x|); the padding is right.
double difference(const Case& c, const std::vector<float>& y, double start) {
  const auto w = decode(c.codes);
  const int rows = c.codes.rows, columns = c.codes.columns, stride = padded(rows, pack_width<float>);
  double largest = 0;
  for (int v = 0; v < c.n; ++v) {
    for (int r = 0; r < rows; ++r) {
      double sum = start, size = std::abs(start);
      for (int i = 0; i < columns; ++i) {
        const double term = w[std::int64_t{r} * columns + i] * c.x[std::int64_t{v} * c.ldx + i];
        sum += term;
        size += std::abs(term);
      }
      largest = std::max(largest, std::abs(y[std::int64_t{v} * c.ldy + r] - sum) / size);
    }
    for (int r = rows; r < c.ldy; ++r)
      EXPECT_EQ(y[std::int64_t{v} * c.ldy + r], r < stride && start == 0 ? 0 : untouched);
  }
  return largest;
}

TEST(CodeTables, look_up_the_dense_product_of_the_decoded_matrix) {
  for (const TableUnit unit : {TableUnit::portable, TableUnit::registers}) {
    if (!has_unit(unit)) continue;
    for (const auto& [rows, columns] :
         {std::pair{1, 1}, {3, 7}, {16, 32}, {17, 33}, {80, 80}, {129, 100}, {300, 115}})
      for (const int bits : {1, 2, 3, 5, 8})
        for (const int group : {0, 4, 20}) {
          const auto c = some(rows, columns, 3, {bits, group, 1});
          const PackedCodes packed(c.codes);
          EXPECT_LT(difference(c, product(c, packed, unit), 0), 1e-6)
              << rows << " x " << columns << ", " << bits << " bits, " << group;
          EXPECT_LT(difference(c, product(c, packed, unit, true), untouched), 1e-6);
        }
  }
}

TEST(CodeTables, a_vector_does_not_depend_on_those_beside_it) {
  for (const TableUnit unit : {TableUnit::portable, TableUnit::registers}) {
    if (!has_unit(unit)) continue;
    for (const int bits : {1, 3, 7}) {
      const auto c = some(150, 90, 11, {bits, 32, 1});
      const PackedCodes packed(c.codes);
      const auto all = product(c, packed, unit);
      for (int v = 0; v < c.n; ++v) {
        std::vector<float> one(c.ldy);
        multiply_codes(c.x.data() + std::int64_t{v} * c.ldx, c.ldx, 1, packed, one.data(), c.ldy, false,
                       unit);
        for (int r = 0; r < 150; ++r) ASSERT_EQ(one[r], all[std::int64_t{v} * c.ldy + r]);
      }
    }
  }
}

TEST(CodeTables, numbers_that_are_none_show) {
  auto c = some(20, 24, 1, {2, 8, 1});
  c.x[5] = std::nanf("");
  for (const TableUnit unit : {TableUnit::portable, TableUnit::registers}) {
    if (!has_unit(unit)) continue;
    const auto y = product(c, PackedCodes(c.codes), unit);
    for (int r = 0; r < 20; ++r) EXPECT_TRUE(std::isnan(y[r]));
  }
}

TEST(CodedMatrix, all_kernels_give_the_product_and_auto_is_one_of_them) {
  for (const int n : {1, 5, 70}) {
    const auto c = some(90, 70, n, {3, 32, 2});
    for (const bool add : {false, true})
      for (const CodeKernel kernel :
           {CodeKernel::fp32, CodeKernel::bf16, CodeKernel::tables, CodeKernel::automatic}) {
        CodedMatrix matrix(c.codes, kernel);
        std::vector<float> y(std::int64_t{n} * c.ldy, untouched);
        matrix.multiply(c.x.data(), c.ldx, n, y.data(), c.ldy, add);
        const CodeKernel used = matrix.kernel_for(n);
        EXPECT_NE(used, CodeKernel::automatic);
        EXPECT_LT(difference(c, y, add ? untouched : 0), is_exact(used) ? 1e-6 : 6e-3)
            << name_of(kernel) << n;
      }
  }
}

TEST(CodedMatrix, choices_hold_for_all_matrices_of_a_shape) {
  const auto first = some(64, 64, 1, {2, 0, 1}), second = some(64, 64, 2, {2, 0, 1});
  CodedMatrix a(first.codes), b(second.codes);
  EXPECT_EQ(a.kernel_for(1), b.kernel_for(1));
  EXPECT_EQ(a.kernel_for(64), a.kernel_for(1000));
}

}  // namespace
}  // namespace quintet
