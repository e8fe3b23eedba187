#include "physics/convection/initial.hpp"

#include <array>
#include <cmath>
#include <numbers>

#include "physics/kernels/random.hpp"

namespace quintet::convection {

namespace {

constexpr std::uint32_t stream_of_noise = 1, stream_of_modes = 2;
constexpr double pi = std::numbers::pi;

double normal(std::uint64_t seed, std::uint32_t stream, std::uint64_t id) {
  double x, y;
  normal_pair(seed, stream, id, 0, x, y);
  return x;
}

/// The sum over modes at (x, z), see Start.
double modes_at(const Problem& problem, int n_modes, std::uint64_t seed, double x, double z) {
  double sum = 0;
  for (int m = 1; m <= n_modes; ++m)
    for (int n = 1; n <= n_modes; ++n) {
      double a, b;
      const auto id = static_cast<std::uint64_t>(m) << 20 | static_cast<std::uint64_t>(n);
      normal_pair(seed, stream_of_modes, id, 0, a, b);
      const double along_x = problem.sides == Sides::periodic
                                 ? a * std::cos(2 * pi * m * x) + b * std::sin(2 * pi * m * x)
                                 : a * std::cos(pi * m * x);
      sum += along_x * std::sin(n * pi * (z + 0.5));
    }
  return sum;
}

}  // namespace

void fill(const Problem& problem, const Start& start, std::uint64_t seed, Boussinesq& flow, int member) {
  const Grid& grid = flow.grid();
  BoussinesqState& state = flow.state(member);
  for (const Field* field : {&state.u, &state.w, &state.p}) Kokkos::deep_copy(field->values, 0.0);
  const double waves = problem.sides == Sides::periodic ? 2 * pi : pi;
  for (int j = 0; j < grid.rows_here(); ++j) {
    const int row = grid.first_row() + j;
    const double z = grid.z.centres[row];
    for (int i = 0; i < grid.x.n(); ++i) {
      const double x = (grid.x.centres[i] - grid.x.faces[0]) / grid.x.length();
      double b = 0;
      if (start.conducting) b = problem.heated == Heated::plates ? -z : 0.5 - x;
      b += start.roll * std::cos(waves * start.roll_pairs * x) * std::cos(pi * z);
      const auto id = static_cast<std::uint64_t>(row) * grid.x.n() + i;
      if (start.noise != 0)
        b +=
            start.noise * (start.noise_modes > 0 ? modes_at(problem, start.noise_modes, seed, x, z)
                                                 : normal(seed, stream_of_noise, id) * (0.5 - z) * (z + 0.5));
      state.b.row(j)[i] = b;
    }
  }
}

}  // namespace quintet::convection
