#include "surrogates/flow/evaluation/grid_residuals.hpp"

#include <gtest/gtest.h>

#include "evaluation_support.hpp"

namespace quintet::flow {
namespace {

constexpr double pi = std::numbers::pi;
const std::vector<FieldWalls> no_walls(1, FieldWalls(2));

Residuals residuals_of(const char* text, double diffusivity = 0.1) {
  return PdeSystem({{"f", text, "f"}}, {{"f"}, {"t", "z", "x"}, {"P"}})
      .residuals(std::vector<std::vector<double>>{{diffusivity}});
}

std::vector<double> frames_of(const RectilinearGrid& grid, const std::vector<double>& times,
                              const std::function<double(double, double, double)>& f) {
  std::vector<double> values;
  for (const double t : times) {
    const auto frame = sampled(grid, [&](double z, double x) { return f(t, z, x); });
    values.insert(values.end(), frame.begin(), frame.end());
  }
  return values;
}

double greatest(const std::vector<double>& f) {
  return greatest_difference(f, std::vector<double>(f.size(), 0));
}

TEST(GridResiduals, every_derivative_of_a_polynomial_is_exact) {
  const RectilinearGrid grid({clustered("z", 10), clustered("x", 9, 1.5)});
  const std::vector<double> times = {0, 0.1, 0.25, 0.4, 0.5, 0.7};
  const auto f = frames_of(grid, times, [](double t, double z, double x) {
    return t * t * z + 2 * t * x * x + z * z * x + z * x + t * z * x + t * t * t;
  });
  const char* texts[] = {"dt(f) - (2*t*z + 2*x^2 + z*x + 3*t^2)",
                         "dtt(f) - (2*z + 6*t)",
                         "dtx(f) - (4*x + z)",
                         "dtz(f) - (2*t + x)",
                         "dzx(f) - (2*z + 1 + t)",
                         "dzz(f) - 2*x",
                         "dx(f) - (4*t*x + z^2 + z + t*z)"};
  for (const char* text : texts) {
    const GridResiduals residuals(grid, times, no_walls, residuals_of(text), 0);
    for (int frame = 0; frame < 6; ++frame)
      EXPECT_LT(greatest(residuals.of_frame(frame, {f})[0]), 1e-10) << text;
  }
}

/// Diffusion of cos(pi z) cos(2 x) between walls at which it is 0.
double diffusion_residual(int n) {
  const RectilinearGrid grid({clustered("z", n), ring("x", n, 2 * pi)});
  std::vector<double> times;
  for (int i = 0; i <= n; ++i) times.push_back(static_cast<double>(i) / n);
  const auto f = frames_of(grid, times, [](double t, double z, double x) {
    return std::exp(-0.1 * (pi * pi + 4) * t) * std::cos(pi * z) * std::cos(2 * x);
  });
  std::vector<FieldWalls> walls = {{{0.0, 0.0}, {}}};
  const GridResiduals residuals(grid, times, walls, residuals_of("dt(f) - P*(dxx(f) + dzz(f))"), 0);
  double most = 0;
  for (const int frame : {0, 1, n / 2, n}) most = std::max(most, greatest(residuals.of_frame(frame, {f})[0]));
  return most;
}

TEST(GridResiduals, a_solution_of_the_equation_leaves_less_and_less) {
  const double coarse = diffusion_residual(16), fine = diffusion_residual(32);
  EXPECT_LT(fine, 1e-3);
  EXPECT_GT(std::log2(coarse / fine), 2.5);
}

TEST(GridResiduals, equations_that_are_wrong_do_not_vanish) {
  const RectilinearGrid grid({ring("z", 16, 2 * pi), ring("x", 16, 2 * pi)});
  const std::vector<double> times = {0, 0.1, 0.2};
  const auto f = frames_of(grid, times, [](double, double z, double) { return std::sin(z); });
  EXPECT_LT(greatest(GridResiduals(grid, times, no_walls, residuals_of("dx(f)"), 0).of_frame(1, {f})[0]),
            1e-12);
  EXPECT_NEAR(greatest(GridResiduals(grid, times, no_walls, residuals_of("dz(f)"), 0).of_frame(1, {f})[0]), 1,
              1e-2);
}

}  // namespace
}  // namespace quintet::flow
