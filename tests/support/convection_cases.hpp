#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "physics/convection/initial.hpp"
#include "physics/convection/statistics.hpp"

/// Flows that several tests begin with.
namespace quintet::convection::testing {

/// Every combination of walls.
inline std::vector<Problem> all_walls() {
  std::vector<Problem> problems;
  for (const Wall bottom : {Wall::no_slip, Wall::free_slip})
    for (const Wall top : {Wall::no_slip, Wall::free_slip})
      for (const Sides sides : {Sides::periodic, Sides::no_slip, Sides::free_slip})
        for (const Heated heated : {Heated::plates, Heated::sides})
          if (heated == Heated::plates || sides != Sides::periodic)
            problems.push_back({1e4, 0.7, bottom, top, sides, heated});
  return problems;
}

inline Grid make_grid(const Comm& comm, const Problem& problem, double length, int nx, int nz,
                      double strength = 1.2, double strength_x = 0) {
  return {comm,
          make_axis(0, length, nx, strength_x > 0 ? Spacing::tanh : Spacing::uniform, strength_x,
                    problem.sides == Sides::periodic),
          make_axis(-0.5, 0.5, nz, strength > 0 ? Spacing::tanh : Spacing::uniform, strength, false)};
}

inline Boussinesq make_flow(const Problem& problem, const Grid& grid, const Start& start,
                            std::uint64_t seed = 1) {
  Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
  fill(problem, start, seed, flow, 0);
  flow.start(Exec());
  return flow;
}

/// Noisy rolls of seeds 3, 4, ...; the pressure by transforms, or by modes.
inline Boussinesq make_rolls(const Problem& problem, const Grid& grid, int n_flows, bool transforms) {
  Boussinesq flows(problem, grid,
                   transforms ? make_transform_solver(problem, grid) : make_modes_solver(problem, grid),
                   n_flows);
  Start start;
  start.roll = 0.1;
  start.noise = 1e-2;
  for (int m = 0; m < n_flows; ++m) fill(problem, start, 3 + static_cast<std::uint64_t>(m), flows, m);
  flows.start(Exec());
  return flows;
}

inline void advance_to(Boussinesq& flow, double end, double dt) {
  const int n = std::ceil((end - flow.time()) / dt - 1e-9);
  const double step = (end - flow.time()) / n;
  for (int i = 0; i < n; ++i) flow.advance(Exec(), step);
}

/// Numbers without a pattern, the same on any ranks; 0 on walls where the unknown lies there.
inline void scramble(const Grid& grid, const Problem& problem, const Field& field, Unknown unknown,
                     double phase) {
  for (int j = 0; j < field.rows; ++j)
    for (int i = 0; i < field.n; ++i) {
      const int row = grid.first_row() + j;
      const bool wall = (unknown == Unknown::w && row == 0) ||
                        (unknown == Unknown::u && i == 0 && problem.sides != Sides::periodic);
      field.row(j)[i] = wall ? 0 : std::sin(phase + 12.9898 * i + 78.233 * row + 0.31 * i * row);
    }
}

inline Place place_of(Unknown unknown) {
  return unknown == Unknown::u   ? Place::left_face
         : unknown == Unknown::w ? Place::bottom_face
                                 : Place::centre;
}

}  // namespace quintet::convection::testing
