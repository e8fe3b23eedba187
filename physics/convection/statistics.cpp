#include "physics/convection/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "io/parallel/comm.hpp"
#include "physics/convection/convection_cell.hpp"
#include "physics/convection/device/flow_residence.hpp"
#include "physics/convection/diffusion.hpp"

namespace quintet::convection {

namespace {

/// Sums of a rank's rows.
struct Sums {
  double u_squared = 0, w_squared = 0, wb = 0, ub = 0, b_squared = 0, warm = 0, cold = 0, profile = 0;
  double steep = 0;  ///< squared gradient of b between walls that let heat in and the centres beside them
};

/// Heat through the heated walls, and what it carries of their profiles, of the row k of all.
void add_heat_of_sides(const Axis& x, double width, const double* b, double f, double g, Sums& sums) {
  const int last = x.n() - 1;
  const double in = width * (wall_buoyancy + f - b[0]) / x.gaps[0],
               out = width * (b[last] + wall_buoyancy - g) / x.gaps[last + 1];
  sums.warm += in, sums.cold += out;
  sums.profile += f * in - g * out;
}

/// A cell beside a wall that insulates but for the heat h.
struct HeatedCell {
  int j, i;      ///< row of all, cell
  double heat;   ///< h times its width along the wall
  double slope;  ///< h
  double gap;    ///< from its centre to the wall
  double place;  ///< s: from -1/2 at the warm wall to 1/2 at the cold one
};

/// Call use(HeatedCell) for all cells of all ranks beside walls with heat.
template <class Use>
void for_heat(const Problem& problem, const Grid& grid, const WallProfiles& walls, const Use& use) {
  const bool sides = problem.heated == Heated::plates;
  const Axis &across = sides ? grid.x : grid.z, &along = sides ? grid.z : grid.x;
  const double middle = 0.5 * (along.faces.front() + along.faces.back());
  for (const bool last : {false, true}) {
    const std::span<const double> heat = last ? walls.last_heat : walls.first_heat;
    const int end = last ? across.n() - 1 : 0;
    const double gap = last ? across.gaps.back() : across.gaps.front();
    for (int k = 0; k < static_cast<int>(heat.size()); ++k)
      use(HeatedCell{sides ? k : end, sides ? end : k, along.widths[k] * heat[k], heat[k], gap,
                     (along.centres[k] - middle) / along.length()});
  }
}

Sums sums_of(const Problem& problem, const Grid& grid, const WallProfiles& walls,
             const BoussinesqState& state) {
  Sums sums;
  const Axis &x = grid.x, &z = grid.z;
  const int last_j = z.n() - 1;
  for (int j = 0; j < grid.rows_here(); ++j) {
    const int k = grid.first_row() + j;
    const double *const u = state.u.row(j), *const w = state.w.row(j), *const b = state.b.row(j),
                        *const b_below = state.b.row(j - 1);
    for (int i = 0; i < x.n(); ++i) {
      const int m = i;
      sums.u_squared += z.widths[k] * x.gaps[m] * u[i] * u[i];
      sums.w_squared += z.gaps[k] * x.widths[m] * w[i] * w[i];
      sums.wb += z.gaps[k] * x.widths[m] * w[i] * 0.5 * (b_below[i] + b[i]);
      sums.ub += z.widths[k] * x.gaps[m] * u[i] * 0.5 * (b[i - 1] + b[i]);
      sums.b_squared += z.widths[k] * x.widths[m] * b[i] * b[i];
    }
    if (problem.heated == Heated::sides) {
      add_heat_of_sides(x, z.widths[k], b, walls.warm_at(k), walls.cold_at(k), sums);
      continue;
    }
    for (int i = 0; i < x.n(); ++i) {
      if (k == 0) {
        const double f = walls.warm_at(i), heat = (wall_buoyancy + f - b[i]) / z.gaps[0];
        sums.warm += x.widths[i] * heat;
        sums.profile += x.widths[i] * f * heat;
      }
      if (k == last_j) {
        const double g = walls.cold_at(i),
                     heat = x.widths[i] * (b[i] + wall_buoyancy - g) / z.gaps[last_j + 1];
        sums.cold += heat;
        sums.profile -= g * heat;
      }
    }
  }
  for_heat(problem, grid, walls, [&](const HeatedCell& cell) {
    const int j = cell.j - grid.first_row();
    if (j < 0 || j >= grid.rows_here()) return;
    const double at_wall = state.b.row(j)[cell.i] + cell.gap * cell.slope;
    sums.profile += cell.heat * (at_wall + cell.place);
    sums.steep += cell.heat * cell.slope * cell.gap;
  });
  return sums;
}

/// -minimum, maximum and the like, to be maximised.
std::array<double, 5> extremes_of(const Exec& exec, const Boussinesq& flow, const BoussinesqState& state) {
  const Metrics& metrics = flow.metrics();
  std::array<double, 5> most{0, 0, 0, -1e300, -1e300};
  (void)exec;
  for (int j = 0; j < state.u.rows; ++j) {
    const RowsAbout u_rows(state.u, j), w_rows(state.w, j);
    const double *const u = u_rows.here, *const w = w_rows.here, *const b = state.b.row(j);
    for (int i = 0; i < state.u.n; ++i) {
      const double div = divergence_of(u_rows.about(i), w_rows.about(i), metrics.inverse_width(i + 1),
                                       metrics.z_inverse_width[j + 1]);
      most[0] = std::max(most[0], std::abs(div));
      most[1] = std::max(most[1], std::abs(u[i]));
      most[2] = std::max(most[2], std::abs(w[i]));
      most[3] = std::max(most[3], -b[i]);
      most[4] = std::max(most[4], b[i]);
    }
  }
  return most;
}

/// Mean over the warm wall's profile less that over the cold one's: how much more than 1 drives the heat.
double mean_of_profiles(const Boussinesq& flow) {
  const Axis& along = flow.problem().heated == Heated::plates ? flow.grid().x : flow.grid().z;
  const auto mean = [&along](std::span<const double> profile) {
    double sum = 0;
    for (std::size_t i = 0; i < profile.size(); ++i) sum += along.widths[i] * profile[i];
    return sum / along.length();
  };
  return mean(flow.walls().warm) - mean(flow.walls().cold);
}

}  // namespace

bool Sample::finite() const {
  return std::isfinite(nusselt_volume) && std::isfinite(nusselt_warm) && std::isfinite(kinetic_energy) &&
         std::isfinite(dissipation) && std::isfinite(thermal_dissipation);
}

double convected_nusselt(const Boussinesq& flow, int member) {
  const Axis &x = flow.grid().x, &z = flow.grid().z;
  const BoussinesqState& state = flow.state(member);
  const double p = flow.problem().thermal_diffusivity();
  double sum = 0;
  if (flow.problem().heated == Heated::sides) {
    for (int j = 0; j < flow.grid().rows_here(); ++j) {
      const double *const u = state.u.row(j), *const b = state.b.row(j);
      double row = 0;
      for (int i = 0; i < x.n(); ++i) row += x.gaps[i] * u[i] * 0.5 * (b[i - 1] + b[i]);
      sum += z.widths[flow.grid().first_row() + j] * row;
    }
    return 1 + mean_of_profiles(flow) + flow.grid().comm().sum(sum) / (z.length() * p);
  }
  for (int j = 0; j < flow.grid().rows_here(); ++j) {
    const double *const w = state.w.row(j), *const b = state.b.row(j), *const b_below = state.b.row(j - 1);
    double row = 0;
    for (int i = 0; i < x.n(); ++i) row += x.widths[i] * w[i] * 0.5 * (b_below[i] + b[i]);
    sum += z.gaps[flow.grid().first_row() + j] * row;
  }
  return 1 + mean_of_profiles(flow) + flow.grid().comm().sum(sum) / (x.length() * p);
}

namespace {

/// Sums over a rank's cells, as sample() needs them, and extremes_of().
struct Numbers {
  std::array<double, 10> totals;
  std::array<double, 5> most;
};

Numbers numbers_here(const Exec& exec, const Boussinesq& flow, int member) {
  const Grid& grid = flow.grid();
  const Problem& problem = flow.problem();
  const BoussinesqState& state = flow.state(member);
  WallValues walls;
  const bool sides = problem.heated == Heated::sides;
  auto& ends = sides ? walls.x : walls.z;
  auto& along = sides ? walls.along_z : walls.along_x;
  ends[0] = wall_buoyancy, ends[1] = -wall_buoyancy;
  along[0] = flow.walls().warm, along[1] = flow.walls().cold;
  const Sums sums = sums_of(problem, grid, flow.walls(), state);
  return {{sums.u_squared, sums.w_squared, sums.wb, sums.ub, sums.b_squared, sums.warm, sums.cold,
           gradient_squared(exec, problem, grid, Unknown::u, state.u, {}) +
               gradient_squared(exec, problem, grid, Unknown::w, state.w, {}),
           gradient_squared(exec, problem, grid, Unknown::b, state.b, walls) + sums.steep, sums.profile},
          extremes_of(exec, flow, state)};
}

/// Sums and extremes of the cells on this rank's device, whose walls have no profile.
Numbers numbers_there(const FlowResidence& residence, int member) {
  const FlowTally tally = residence.tally(member);
  Numbers numbers{{}, tally.most};
  std::copy(tally.sums.begin(), tally.sums.end(), numbers.totals.begin());
  return numbers;
}

}  // namespace

Sample sample(const Exec& exec, const Boussinesq& flow, int member) {
  const Grid& grid = flow.grid();
  const Problem& problem = flow.problem();
  const bool sides = problem.heated == Heated::sides;
  auto [totals, most] = flow.residence() != nullptr ? numbers_there(*flow.residence(), member)
                                                    : numbers_here(exec, flow, member);
  grid.comm().reduce(std::span<double>(totals), Comm::Reduction::sum);
  grid.comm().reduce(std::span<double>(most), Comm::Reduction::maximum);

  const double volume = grid.x.length() * grid.z.length();
  const double distance = sides ? grid.x.length() : grid.z.length(), area = volume / distance;
  const double p = problem.thermal_diffusivity();
  Sample result;
  result.kinetic_energy = 0.5 * (totals[0] + totals[1]) / volume;
  result.buoyancy_work = totals[2] / volume;
  result.nusselt_volume =
      1 + mean_of_profiles(flow) + distance * (sides ? totals[3] : totals[2]) / volume / p;
  result.buoyancy_variance = totals[4] / volume;
  result.nusselt_warm = distance * totals[5] / area;
  result.nusselt_cold = distance * totals[6] / area;
  result.profile_heat = distance * totals[9] / area;
  for_heat(problem, grid, flow.walls(), [&](const HeatedCell& cell) {
    result.warm_excess += distance / area * cell.heat * (cell.place - 0.5);
    result.cold_excess += distance / area * cell.heat * (cell.place + 0.5);
  });
  result.dissipation = problem.viscosity() * totals[7] / volume;
  result.thermal_dissipation = p * totals[8] / volume;
  result.divergence = most[0];
  result.u_max = most[1];
  result.w_max = most[2];
  result.b_min = -most[3];
  result.b_max = most[4];
  return result;
}

}  // namespace quintet::convection
