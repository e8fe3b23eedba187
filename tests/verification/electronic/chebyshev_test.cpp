#include "physics/electronic/functions/chebyshev.hpp"

#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace quintet::electronic {
namespace {

using Function = std::function<double(double)>;
const std::array<Function, 1> step = {[](double x) { return x < 0.07 ? 1.0 : 0.0; }};

double largest_error(const ChebyshevSeries& series, std::span<const Band> bands, const Function& f) {
  double largest = 0;
  for (const Band& band : bands)
    for (int i = 0; i <= 1000; ++i) {
      const double x = band.lower + (band.upper - band.lower) * i / 1000;
      largest = std::max(largest, std::abs(series(x) - f(x)));
    }
  return largest;
}

TEST(Chebyshev, step_on_two_bands_is_reached_with_the_degree_of_a_minimax_fit) {
  // bands of water: 23, 35 and 47 are the degrees of the best polynomials; least squares needs a few more
  const std::array<Band, 2> bands = {Band{-0.87, -0.2123}, Band{0.297, 0.614}};
  for (const auto& [error, best] : {std::pair{1e-4, 23}, {1e-6, 35}, {1e-8, 47}}) {
    const ChebyshevSeries series = fit(bands, step, 0.5 * error, 500);  // of the sign, twice the step

    EXPECT_LE(series.degree(), best + 4) << error;
    EXPECT_LE(largest_error(series, bands, step[0]), 0.51 * error);
    EXPECT_NEAR(series.error, largest_error(series, bands, step[0]), 0.2 * error);
  }
}

TEST(Chebyshev, degree_grows_as_the_inverse_of_the_gap) {
  const auto degree = [](double gap) {
    const std::array<Band, 2> bands = {Band{-0.9, 0.07 - gap / 2}, Band{0.07 + gap / 2, 0.6}};
    return fit(bands, step, 1e-6, 2000).degree();
  };
  EXPECT_NEAR(static_cast<double>(degree(0.05)) / degree(0.1), 2, 0.3);
  EXPECT_NEAR(static_cast<double>(degree(0.025)) / degree(0.05), 2, 0.3);
}

TEST(Chebyshev, step_stays_between_its_values_in_the_gap) {
  const std::array<Band, 2> bands = {Band{-0.87, -0.2123}, Band{0.297, 0.614}};
  const ChebyshevSeries series = fit(bands, step, 1e-7, 500);
  for (double x = -0.21; x < 0.29; x += 0.01) {
    EXPECT_GT(series(x), -1e-6) << x;
    EXPECT_LT(series(x), 1 + 1e-6) << x;
  }
}

TEST(Chebyshev, inverse_square_root_and_companions_on_one_band) {
  const std::array<Band, 1> band = {Band{0.28, 2.5}};
  const std::array<Function, 2> functions = {[](double x) { return 1 / std::sqrt(x); },
                                             [](double x) { return x * x; }};

  const ChebyshevSeries series = fit(band, functions, 1e-10, 500);

  EXPECT_LE(largest_error(series, band, functions[0]), 1.01e-10);
  for (const double x : {0.28, 1.0, 2.5}) EXPECT_NEAR(series(x, 1), x * x, 1e-12);
  EXPECT_LT(series.degree(), 40);
}

TEST(Chebyshev, error_is_smallest_where_the_states_are) {
  const std::array<Band, 2> bands = {Band{-0.87, -0.2123}, Band{0.297, 0.614}};
  SpectralMeasure density;
  for (int i = 0; i < 12; ++i) {
    density.x.push_back(i < 8 ? -0.8 + 0.07 * i : 0.3 + 0.09 * (i - 8));
    density.weight.push_back(1 + 0.1 * i);
  }
  const auto rms_error = [&](const ChebyshevSeries& series) {
    double sum = 0;
    for (std::size_t i = 0; i < density.x.size(); ++i)
      sum += density.weight[i] * std::pow(series(density.x[i]) - step[0](density.x[i]), 2);
    return std::sqrt(sum);
  };

  const auto with = fit(bands, step, 1e-4, 500, density), without = fit(bands, step, 1e-4, 500);

  EXPECT_LT(rms_error(with), 0.5 * rms_error(without));
  EXPECT_LE(largest_error(with, bands, step[0]), 1.01e-4);
}

TEST(Chebyshev, gap_that_is_too_small_is_said) {
  const std::array<Band, 2> bands = {Band{-0.9, 0.0699}, Band{0.0701, 0.6}};
  EXPECT_THROW(static_cast<void>(fit(bands, step, 1e-8, 100)), NumericalError);
}

}  // namespace
}  // namespace quintet::electronic
