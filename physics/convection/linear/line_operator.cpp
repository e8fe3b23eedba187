#include "physics/convection/linear/line_operator.hpp"

namespace quintet::convection {

namespace {

End end_of(Wall wall) { return wall == Wall::no_slip ? End::value : End::no_flux; }
End end_of(Sides sides) { return sides == Sides::no_slip ? End::value : End::no_flux; }

}  // namespace

LineOperator centres_operator(const Axis& axis, End first, End last) {
  const std::size_t n = axis.n();
  LineOperator line;
  line.weight = axis.widths;
  line.wall.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    line.lower.push_back(i == 0 && !axis.periodic ? 0 : 1 / axis.gaps[i]);
    line.upper.push_back(i + 1 == n && !axis.periodic ? 0 : 1 / axis.gaps[i + 1]);
  }
  if (axis.periodic) return line;
  if (first == End::value) line.wall[0] += 1 / axis.gaps[0];
  if (last == End::value) line.wall[n - 1] += 1 / axis.gaps[n];
  return line;
}

LineOperator faces_operator(const Axis& axis) {
  const std::size_t n = axis.n();
  LineOperator line;
  line.wall.assign(n, 0.0);
  for (std::size_t i = 0; i < n; ++i) {
    line.weight.push_back(axis.gaps[i]);
    line.lower.push_back(1 / axis.widths[i == 0 ? n - 1 : i - 1]);
    line.upper.push_back(1 / axis.widths[i]);
  }
  if (axis.periodic) return line;
  line.lower[0] = line.upper[0] = 0;
  // The first and the last unknown have a wall of value 0 as their neighbour.
  line.wall[1] += line.lower[1];
  line.lower[1] = 0;
  line.wall[n - 1] += line.upper[n - 1];
  line.upper[n - 1] = 0;
  return line;
}

LineOperator x_operator(const Problem& problem, const Grid& grid, Unknown unknown) {
  switch (unknown) {
    case Unknown::u:
      return faces_operator(grid.x);
    case Unknown::w:
      return centres_operator(grid.x, end_of(problem.sides), end_of(problem.sides));
    case Unknown::b: {
      const End end = problem.heated == Heated::sides ? End::value : End::no_flux;
      return centres_operator(grid.x, end, end);
    }
    case Unknown::p:
      break;
  }
  return centres_operator(grid.x, End::no_flux, End::no_flux);
}

LineOperator z_operator(const Problem& problem, const Grid& grid, Unknown unknown) {
  switch (unknown) {
    case Unknown::u:
      return centres_operator(grid.z, end_of(problem.bottom), end_of(problem.top));
    case Unknown::w:
      return faces_operator(grid.z);
    case Unknown::b: {
      const End end = problem.heated == Heated::plates ? End::value : End::no_flux;
      return centres_operator(grid.z, end, end);
    }
    case Unknown::p:
      break;
  }
  return centres_operator(grid.z, End::no_flux, End::no_flux);
}

double diffusivity(const Problem& problem, Unknown unknown) {
  switch (unknown) {
    case Unknown::u:
    case Unknown::w:
      return problem.viscosity();
    case Unknown::b:
      return problem.thermal_diffusivity();
    case Unknown::p:
      break;
  }
  return 0;
}

}  // namespace quintet::convection
