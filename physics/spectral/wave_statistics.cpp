#include "physics/spectral/wave_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"

namespace quintet::spectral {

namespace {

/// f(column of this rank, row, place in the modes).
template <class Function>
void for_waves(const WaveGrid& grid, const Function& f) {
  for (int l = 0; l < 2 * grid.waves_y() + 1; ++l)
    for (int j = 0; j < grid.columns_here(); ++j) f(j, l, std::int64_t{l} * grid.columns_here() + j);
}

double square(const Modes& modes, std::size_t i) {
  return modes.re(i) * modes.re(i) + modes.im(i) * modes.im(i);
}

}  // namespace

std::int64_t n_waves_of(const Noise& noise, int waves_x, int waves_y) {
  std::int64_t n = 0;
  for (int j = -waves_x; j <= waves_x; ++j)
    for (int l = -waves_y; l <= waves_y; ++l) {
      const double number = std::hypot(j, l);
      if ((j != 0 || l != 0) && number >= noise.least && number <= noise.most) ++n;
    }
  return n;
}

void add_noise(const WaveGrid& grid, const Noise& noise, std::uint64_t seed, std::uint32_t stream,
               const Modes& modes) {
  const auto n = n_waves_of(noise, grid.waves_x(), grid.waves_y());
  if (n == 0) return;
  const double size = noise.rms / std::sqrt(2.0 * n);  // of real and imaginary part
  for_waves(grid, [&](int column, int row, std::size_t i) {
    const int j = grid.first_column() + column, l = grid.wave_of_row(row);
    const double number = std::hypot(j, l);
    if ((j == 0 && l == 0) || number < noise.least || number > noise.most) return;
    // A wave's number does not depend on the grid. Of k_x = 0 both signs of k_y are one wave and its
    // conjugate.
    const bool conjugate = j == 0 && l < 0;
    const auto id =
        static_cast<std::uint64_t>(j) << 24 | static_cast<std::uint64_t>((conjugate ? -l : l) + (1 << 22));
    double re = 0, im = 0;
    normal_pair(seed, stream, id, 0, re, im);
    modes.re(i) += size * re;
    modes.im(i) += size * (conjugate ? -im : im);
  });
}

double shell_width(const WaveGrid& grid) {
  return 2 * std::numbers::pi / std::max(grid.length_x(), grid.length_y());
}

std::vector<double> shell_spectrum(const WaveGrid& grid, const Modes& modes) {
  const double width = shell_width(grid);
  const double most_x = 2 * std::numbers::pi * grid.waves_x() / grid.length_x(),
               most_y = 2 * std::numbers::pi * grid.waves_y() / grid.length_y();
  std::vector<double> shells(static_cast<std::size_t>(std::hypot(most_x, most_y) / width + 0.5) + 1);
  for_waves(grid, [&](int column, int row, std::size_t i) {
    const double number = std::hypot(grid.k_x(column), grid.k_y(row)) / width;
    shells[static_cast<std::size_t>(number + 0.5)] += grid.weight(column) * square(modes, i);
  });
  grid.comm().reduce(std::span<double>(shells), Comm::Reduction::sum);
  return shells;
}

double tail_share(const WaveGrid& grid, const Modes& modes) {
  double sums[2] = {0, 0};  // of the tail, of all
  for_waves(grid, [&](int column, int row, std::size_t i) {
    const int j = grid.first_column() + column, l = std::abs(grid.wave_of_row(row));
    if (j == 0 && l == 0) return;
    const double part = grid.weight(column) * square(modes, i);
    sums[1] += part;
    if (3 * j > 2 * grid.waves_x() || 3 * l > 2 * grid.waves_y()) sums[0] += part;
  });
  grid.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  if (!std::isfinite(sums[1])) return std::numeric_limits<double>::quiet_NaN();
  return sums[1] > 0 ? sums[0] / sums[1] : 0;
}

}  // namespace quintet::spectral
