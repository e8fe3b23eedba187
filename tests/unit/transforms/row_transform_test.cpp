#include "physics/transforms/row_transform.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

using namespace quintet;

namespace {

constexpr double pi = std::numbers::pi;
/// Numbers without a pattern.
double value(int row, int i) { return std::sin(1.7 * row + 0.37 * i * i + 0.1) + 0.2 * row; }

/// What the docstring of LineBasis says, number k at point i, normalised.
double basis_value(LineBasis basis, int n, int k, int i) {
  const double norm = std::sqrt(2.0 / n), constant = std::sqrt(1.0 / n);
  switch (basis) {
    case LineBasis::periodic: {
      const int wave = (k + 1) / 2;
      if (k == 0) return constant;
      if (2 * wave == n) return constant * (i % 2 == 0 ? 1 : -1);
      const double angle = 2 * pi * wave * i / n;
      return norm * (k % 2 == 1 ? std::cos(angle) : -std::sin(angle));
    }
    case LineBasis::cosine:
      return k == 0 ? constant : norm * std::cos(pi * k * (i + 0.5) / n);
    case LineBasis::sine_centres:
      return (k == n - 1 ? constant : norm) * std::sin(pi * (k + 1) * (i + 0.5) / n);
    case LineBasis::sine_faces:
      return norm * std::sin(pi * k * i / n);
  }
  return NAN;
}

class EveryBasis : public ::testing::TestWithParam<std::tuple<LineBasis, int>> {};

}  // namespace

TEST(Fft, is_the_sum_that_it_stands_for) {
  for (const int n : {1,  2,  3,  4,  5,  6,  7,  8,  9,  11, 12, 13, 15,  16,  20,
                      22, 24, 26, 30, 32, 40, 48, 49, 56, 60, 64, 75, 128, 210, 512}) {
    const Fft fft(n);
    AlignedVector<double> re(std::int64_t{n} * Fft::lanes), im(re.size()), work(fft.work_size());
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < Fft::lanes; ++l) {
        re[j * Fft::lanes + l] = value(l, j);
        im[j * Fft::lanes + l] = value(l + 100, j);
      }
    const auto re_before = re, im_before = im;
    const auto z = fft.transform(re.data(), im.data(), work.data());
    for (int k = 0; k < n; ++k)
      for (int l = 0; l < Fft::lanes; ++l) {
        std::complex<double> sum = 0;
        for (int j = 0; j < n; ++j)
          sum += std::complex<double>(value(l, j), value(l + 100, j)) * std::polar(1.0, -2 * pi * j * k / n);
        EXPECT_NEAR(z.re[k * Fft::lanes + l], sum.real(), 1e-12 * (n + 10) * (l + 100)) << n << " " << k;
        EXPECT_NEAR(z.im[k * Fft::lanes + l], sum.imag(), 1e-12 * (n + 10) * (l + 100)) << n << " " << k;
      }
    std::copy_n(z.re, re.size(), re.begin());
    std::copy_n(z.im, im.size(), im.begin());
    const auto back = fft.inverse(re.data(), im.data(), work.data());
    for (std::size_t i = 0; i < re.size(); ++i) {
      EXPECT_NEAR(back.re[i] / n, re_before[i], 1e-12);
      EXPECT_NEAR(back.im[i] / n, im_before[i], 1e-11);
    }
  }
}

TEST(Fft, refuses_lengths_with_large_primes_and_names_the_next_good_one) {
  EXPECT_FALSE(Fft::possible(262));
  EXPECT_TRUE(Fft::possible(256));
  try {
    const Fft fft(262);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("264"), std::string::npos) << error.what();
  }
  EXPECT_THROW(Fft(0), InputError);
}

TEST_P(EveryBasis, coefficients_are_products_with_the_basis_and_come_back) {
  const auto [basis, n] = GetParam();
  const RowTransform transform(basis, n);
  AlignedVector<double> work(transform.work_size());
  const int stride = n + 3;
  for (const int n_rows : {1, 3, RowTransform::batch - 3, RowTransform::batch}) {
    std::vector<double> rows(n_rows * stride, -7.0), coefficients(n_rows * n), back(rows);
    for (int r = 0; r < n_rows; ++r)
      for (int i = 0; i < n; ++i) rows[r * stride + i] = value(r, i);
    transform.forward(rows.data(), stride, coefficients.data(), n, n_rows, work.data());
    const int first = basis == LineBasis::sine_faces ? 1 : 0;
    for (int r = 0; r < n_rows; ++r)
      for (int k = first; k < n; ++k) {
        double sum = 0;
        for (int i = first; i < n; ++i) sum += basis_value(basis, n, k, i) * value(r, i);
        ASSERT_NEAR(coefficients[r * n + k], sum, 1e-12 * n) << "row " << r << ", coefficient " << k;
      }
    transform.backward(coefficients.data(), n, back.data(), stride, n_rows, work.data());
    for (int r = 0; r < n_rows; ++r)
      for (int i = first; i < n; ++i) ASSERT_NEAR(back[r * stride + i], value(r, i), 1e-13 * n);
  }
}

TEST_P(EveryBasis, second_differences_are_diagonal) {
  const auto [basis, n] = GetParam();
  if (n < 3) return;
  const RowTransform transform(basis, n);
  const auto x = [&, b = basis, m = n](int k, int i) {  // beyond the ends as the basis goes on
    if (b == LineBasis::periodic) return basis_value(b, m, k, (i + m) % m);
    return basis_value(b, m, k, i);
  };
  const int first = basis == LineBasis::sine_faces ? 1 : 0;
  for (int k = first; k < n; ++k)
    for (int i = first; i < n; ++i) {
      const double difference = x(k, i + 1) - 2 * x(k, i) + x(k, i - 1);
      ASSERT_NEAR(difference, (-2 + 2 * std::cos(transform.angles()[k])) * x(k, i), 1e-12);
    }
}

INSTANTIATE_TEST_SUITE_P(Lengths, EveryBasis,
                         ::testing::Combine(::testing::Values(LineBasis::periodic, LineBasis::cosine,
                                                              LineBasis::sine_centres, LineBasis::sine_faces),
                                            ::testing::Values(1, 2, 4, 5, 6, 9, 16, 21, 32, 48)));
