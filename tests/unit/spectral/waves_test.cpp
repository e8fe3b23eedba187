#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/spectral/wave_grid.hpp"
#include "physics/spectral/wave_statistics.hpp"

namespace quintet::spectral {
namespace {

constexpr double pi = std::numbers::pi;
/// Values of f at this rank's points.
template <class Function>
std::vector<double> values_of(const WaveGrid& grid, const Function& f) {
  std::vector<double> values;
  for (int j = 0; j < grid.rows_here(); ++j)
    for (int i = 0; i < grid.n_x(); ++i)
      values.push_back(
          f(grid.length_x() * i / grid.n_x(), grid.length_y() * (grid.first_row() + j) / grid.n_y()));
  return values;
}

double some_waves(double x, double y) {
  return 0.3 + std::cos(x) - 2 * std::sin(3 * x + pi * y) + 0.5 * std::cos(2 * x - 2 * pi * y) +
         std::sin(pi * y);
}

TEST(Waves, go_to_points_and_back_on_any_ranks) {
  for (const auto& row : dealias_rows()) {
    WaveGrid grid = product_grid(Comm::world(), {2 * pi, 2, 30, 18, row.value});
    const auto values = values_of(grid, some_waves);
    const Modes modes = grid.make_modes();
    grid.to_modes(values.data(), modes);
    std::vector<double> back(values.size());
    grid.to_points(modes, back.data());
    for (std::size_t i = 0; i < back.size(); ++i) ASSERT_NEAR(back[i], values[i], 1e-14) << row.name;
    // -2 sin(3 x + pi y) is the wave (3, 1) of amplitude i.
    for (int l = 0; l < 2 * grid.waves_y() + 1; ++l)
      for (int j = 0; j < grid.columns_here(); ++j) {
        const bool here = grid.first_column() + j == 3 && grid.wave_of_row(l) == 1;
        if (!here) continue;
        EXPECT_NEAR(modes.re(l * grid.columns_here() + j), 0, 1e-15);
        EXPECT_NEAR(modes.im(l * grid.columns_here() + j), 1, 1e-15);
      }
  }
}

TEST(Waves, of_a_noise_are_the_same_on_all_grids_and_ranks) {
  const Noise noise{0.5, 2, 5};
  const auto points = [&](const Comm& comm, int n) {
    WaveGrid grid(comm, 2 * pi, 2 * pi, 7, 6, n, n);
    const Modes modes = grid.make_modes();
    add_noise(grid, noise, 42, 3, modes);
    std::vector<double> values(grid.n_points());
    grid.to_points(modes, values.data());
    std::vector<double> coarse;  // every n/16-th point
    for (int j = 0; j < grid.rows_here(); ++j)
      if ((grid.first_row() + j) % (n / 16) == 0)
        for (int i = 0; i < n; i += n / 16) coarse.push_back(values[j * n + i]);
    return comm.all_gather(std::span<const double>(coarse));
  };
  const auto alone = points(Comm::self(), 16), together = points(Comm::world(), 48);
  ASSERT_EQ(alone.size(), together.size());
  for (std::size_t i = 0; i < alone.size(); ++i) ASSERT_NEAR(alone[i], together[i], 1e-14);
}

TEST(Waves, of_a_noise_have_its_mean_square_on_average) {
  WaveGrid grid(Comm::world(), 2 * pi, 2 * pi, 7, 7, 16, 16);
  const Noise noise{0.5, 2, 5};
  double sum = 0;
  constexpr int n = 400;
  for (int seed = 0; seed < n; ++seed) {
    const Modes modes = grid.make_modes();
    add_noise(grid, noise, seed, 0, modes);
    for (const double share : shell_spectrum(grid, modes)) sum += share / n;
  }
  // 80 waves: the mean over 400 fields has a standard error of 0.25 sqrt(2/32000) = 0.002.
  EXPECT_NEAR(sum, 0.25, 0.01);
}

TEST(Waves, shells_add_up_to_the_mean_square) {
  WaveGrid grid = product_grid(Comm::world(), {2 * pi, 2, 30, 18, Dealias::three_halves});
  const auto values = values_of(grid, some_waves);
  const Modes modes = grid.make_modes();
  grid.to_modes(values.data(), modes);
  const auto shells = shell_spectrum(grid, modes);
  double sum = 0, square = 0;
  for (const double share : shells) sum += share;
  for (const double value : values) square += value * value;
  square = grid.comm().sum(square) / (static_cast<double>(grid.n_x()) * grid.n_y());
  EXPECT_NEAR(sum, square, 1e-14);
  EXPECT_NEAR(shells[0], 0.09, 1e-15);
  EXPECT_NEAR(shells[1], 0.5, 1e-15);  // cos(x)
  EXPECT_NEAR(shells[4], 2.0, 1e-14);  // |(3, pi)| = 4.34 in units of k_1 = 1
  EXPECT_NEAR(shells[3], 0.5, 1e-15);  // sin(pi y)
}

TEST(Waves, beyond_two_thirds_are_the_tail) {
  WaveGrid grid(Comm::world(), 2 * pi, 2 * pi, 6, 6, 16, 16);
  const auto share = [&](int wave) {
    const auto values =
        values_of(grid, [&](double x, double y) { return 5 + std::cos(x) + std::cos(wave * y); });
    const Modes modes = grid.make_modes();
    grid.to_modes(values.data(), modes);
    return tail_share(grid, modes);
  };
  EXPECT_NEAR(share(4), 0, 1e-15);
  EXPECT_NEAR(share(5), 0.5, 1e-14);
}

TEST(Waves, of_no_wavenumber_along_x_are_made_those_of_a_real_field) {
  WaveGrid grid(Comm::world(), 2 * pi, 2 * pi, 3, 3, 8, 8);
  const Modes modes = grid.make_modes();
  for (std::size_t i = 0; i < grid.n_modes(); ++i) modes.re(i) = 1 + 0.1 * i, modes.im(i) = 2;
  grid.make_real(modes);
  std::vector<double> values(grid.n_points());
  grid.to_points(modes, values.data());
  const Modes again = grid.make_modes();
  grid.to_modes(values.data(), again);
  for (std::size_t i = 0; i < grid.n_modes(); ++i) {
    EXPECT_NEAR(again.re(i), modes.re(i), 1e-14);
    EXPECT_NEAR(again.im(i), modes.im(i), 1e-14);
  }
}

TEST(Waves, need_a_fast_transform) {
  EXPECT_THROW(WaveGrid(Comm::self(), 1, 1, 3, 3, 17, 16), InputError);
  EXPECT_NO_THROW(WaveGrid(Comm::self(), 1, 1, 3, 3, 13, 16));
}

}  // namespace
}  // namespace quintet::spectral
