#include "physics/convection/diffusion.hpp"

#include "physics/kernels/rows.hpp"

namespace quintet::convection {

namespace {}  // namespace

void add_diffusion(const Exec& exec, const Problem& problem, const Grid& grid, Unknown unknown, double factor,
                   const Field& q, const Field& result) {
  const LineOperator x = x_operator(problem, grid, unknown), z = z_operator(problem, grid, unknown);
  const int first_i = unknown == Unknown::u && !grid.x.periodic ? 1 : 0;
  for_rows(exec, "diffusion", q.rows, [&](int j) {
    const int k = grid.first_row() + j;
    if (unknown == Unknown::w && k == 0) return;
    const double *const below = q.row(j - 1), *const here = q.row(j), *const above = q.row(j + 1);
    double* const out = result.row(j);
    for (int i = first_i; i < q.n; ++i) {
      const int m = i;
      const double along_x =
          x.upper[m] * (here[i + 1] - here[i]) - x.lower[m] * (here[i] - here[i - 1]) - x.wall[m] * here[i];
      const double along_z =
          z.upper[k] * (above[i] - here[i]) - z.lower[k] * (here[i] - below[i]) - z.wall[k] * here[i];
      out[i] += factor * (along_x / x.weight[m] + along_z / z.weight[k]);
    }
  });
}

double gradient_squared(const Exec& exec, const Problem& problem, const Grid& grid, Unknown unknown,
                        const Field& q, const WallValues& walls) {
  const LineOperator x = x_operator(problem, grid, unknown), z = z_operator(problem, grid, unknown);
  const int first_i = unknown == Unknown::u && !grid.x.periodic ? 1 : 0;
  const int last_z = grid.z.n() - 1, last_x = grid.x.n() - 1;
  double result = 0;
  reduce_rows(
      exec, "squared gradient", q.rows,
      [&](int j, double& sum) {
        const int k = grid.first_row() + j;
        if (unknown == Unknown::w && k == 0) return;
        const double *const below = q.row(j - 1), *const here = q.row(j);
        // The wall that a row of cells meets: of rows in the middle no weight is above 0.
        const int plate = k == last_z ? 1 : 0;
        const double wall_z = walls.z[plate];
        const bool has_profile = !walls.along_x[plate].empty();
        const double beside[2] = {walls.along_z[0].empty() ? 0 : walls.along_z[0][k],
                                  walls.along_z[1].empty() ? 0 : walls.along_z[1][k]};
        double row = 0;
        for (int i = first_i; i < q.n; ++i) {
          const int m = i;
          const double dx = here[i] - here[i - 1], dz = here[i] - below[i];
          const int side = m == last_x ? 1 : 0;
          const double to_x = here[i] - walls.x[side] - beside[side],
                       to_z = here[i] - wall_z - (has_profile ? walls.along_x[plate][m] : 0);
          row += z.weight[k] * (x.lower[m] * dx * dx + x.wall[m] * to_x * to_x) +
                 x.weight[m] * (z.lower[k] * dz * dz + z.wall[k] * to_z * to_z);
        }
        sum += row;
      },
      Kokkos::Sum<double>(result));
  return result;
}

}  // namespace quintet::convection
