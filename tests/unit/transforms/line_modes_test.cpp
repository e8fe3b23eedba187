#include "physics/transforms/line_modes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "physics/transforms/tridiagonal.hpp"

namespace quintet {
namespace {

constexpr double pi = std::numbers::pi;

TEST(TridiagonalEigenpairs, of_second_differences_are_those_of_the_sines) {
  const int n = 40;
  const auto pairs = tridiagonal_eigenpairs(std::vector<double>(n, 2), std::vector<double>(n - 1, -1));
  for (int k = 0; k < n; ++k) {
    EXPECT_NEAR(pairs.values[k], 2 - 2 * std::cos(pi * (k + 1) / (n + 1)), 1e-14);
    const double sign = pairs.vectors[k * n] < 0 ? -1 : 1;
    for (int i = 0; i < n; ++i)
      EXPECT_NEAR(sign * pairs.vectors[k * n + i],
                  std::sqrt(2.0 / (n + 1)) * std::sin(pi * (k + 1) * (i + 1) / (n + 1)), 1e-12);
  }
}

/// Of matrices with nothing in their favour: blocks that fall apart, equal and nearly equal values, wide
/// ranges.
TEST(TridiagonalEigenpairs, are_orthonormal_and_rebuild_any_matrix) {
  const int n = 57;
  for (const int kind : {0, 1, 2, 3}) {
    std::vector<double> d(n), e(n - 1);
    for (int i = 0; i < n; ++i)
      d[i] = kind == 0   ? 0
             : kind == 1 ? std::sin(7.0 * i * i)
             : kind == 2 ? std::exp(0.3 * i)
                         : std::abs(i - n / 2);
    for (int i = 0; i + 1 < n; ++i)
      e[i] = kind == 2 ? std::exp(0.3 * i) : i % 11 == 3 ? 0 : kind == 3 ? 1 : std::cos(3.0 * i);
    const auto pairs = tridiagonal_eigenpairs(d, e);
    double scale = 0;
    for (const double value : pairs.values) scale = std::max(scale, std::abs(value));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) {
        double product = 0, rebuilt = 0;
        for (int k = 0; k < n; ++k) {
          product += pairs.vectors[i * n + k] * pairs.vectors[j * n + k];
          rebuilt += pairs.values[k] * pairs.vectors[k * n + i] * pairs.vectors[k * n + j];
        }
        const double wanted = i == j ? d[i] : j == i + 1 ? e[i] : i == j + 1 ? e[j] : 0;
        ASSERT_NEAR(product, i == j ? 1 : 0, 1e-13) << kind;
        ASSERT_NEAR(rebuilt, wanted, 1e-13 * scale) << kind;
      }
    EXPECT_TRUE(std::is_sorted(pairs.values.begin(), pairs.values.end()));
  }
}

/// L x by differences is B diag(-k^2) F x, on cells of widths in no order.
TEST(LineModes, make_differences_diagonal) {
  const int n = 23, rows = 5;
  std::vector<double> width, diagonal, off_diagonal;
  for (int i = 0; i < n; ++i) width.push_back(1 + 0.8 * std::sin(5.0 * i));
  std::vector<double> flux(n + 1, 0);  // 0 through the ends
  for (int i = 1; i < n; ++i) flux[i] = 2 / (width[i - 1] + width[i]);
  for (int i = 0; i < n; ++i) diagonal.push_back(flux[i] + flux[i + 1]);
  for (int i = 0; i + 1 < n; ++i) off_diagonal.push_back(-flux[i + 1]);
  const LineModes modes(diagonal, off_diagonal, width, 0, true);
  EXPECT_EQ(modes.squares()[0], 0);

  const int stride = 31;
  std::vector<double> x(rows * stride, 99), c(rows * n), back(rows * n);
  AlignedVector<double> work(modes.work_size());
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < n; ++i) x[r * stride + i] = std::cos(3.0 * i * i + r);
  modes.forward(x.data(), stride, c.data(), n, rows, work.data());
  for (int r = 0; r < rows; ++r)
    for (int k = 0; k < n; ++k) c[r * n + k] *= -modes.squares()[k];
  modes.backward(c.data(), n, back.data(), n, rows, work.data());
  for (int r = 0; r < rows; ++r)
    for (int i = 0; i < n; ++i) {
      const double* const row = &x[r * stride];
      const double right = i + 1 < n ? flux[i + 1] * (row[i + 1] - row[i]) : 0,
                   left = i > 0 ? flux[i] * (row[i] - row[i - 1]) : 0;
      EXPECT_NEAR(back[r * n + i], (right - left) / width[i], 1e-12);
    }
}

TEST(LineModes, of_a_ring_of_any_length_are_its_waves) {
  for (const int n : {17, 34}) {
    const double spacing = 0.3;
    const LineModes modes(n, spacing);
    std::vector<double> x, c(n), back(n);
    AlignedVector<double> work(modes.work_size());
    for (int i = 0; i < n; ++i) x.push_back(std::cos(3.0 * i * i));
    modes.forward(x.data(), n, c.data(), n, 1, work.data());
    for (int k = 0; k < n; ++k) c[k] *= -modes.squares()[k];
    modes.backward(c.data(), n, back.data(), n, 1, work.data());
    for (int i = 0; i < n; ++i)
      EXPECT_NEAR(back[i], (x[(i + 1) % n] - 2 * x[i] + x[(i + n - 1) % n]) / (spacing * spacing), 1e-11);
  }
}

}  // namespace
}  // namespace quintet
