#include "physics/convection/grid.hpp"

#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::convection {

namespace {

/// Places from -1 to 1 of equal steps q in 0 ... 1.
double place(Spacing spacing, double strength, double q) {
  switch (spacing) {
    case Spacing::uniform:
      return 2 * q - 1;
    case Spacing::tanh:
      return std::tanh(strength * (2 * q - 1)) / std::tanh(strength);
    case Spacing::cosine:
      return -std::cos(std::numbers::pi * q);
  }
  throw InternalError("a spacing without a formula");
}

}  // namespace

bool Axis::uniform() const {
  for (const double width : widths)
    if (std::abs(width - widths[0]) > 1e-10 * widths[0]) return false;
  return true;
}

Axis make_axis(double lower, double upper, int n, Spacing spacing, double strength, bool periodic) {
  QUINTET_CHECK(n >= 4, "{} cells along an axis; expected 4 or more", n);
  QUINTET_CHECK(upper > lower, "an axis from {} to {}: its length must be above 0", lower, upper);
  QUINTET_CHECK(spacing != Spacing::tanh || strength > 0, "a strength of {}; expected above 0", strength);
  QUINTET_CHECK(spacing == Spacing::uniform || !periodic, "a periodic axis has equal cells");
  Axis axis;
  axis.periodic = periodic;
  for (int i = 0; i <= n; ++i) {
    // Symmetric to the last bit: the two halves are mirror images.
    const double q = static_cast<double>(i) / n;
    const double s =
        2 * i <= n ? place(spacing, strength, q) : -place(spacing, strength, static_cast<double>(n - i) / n);
    axis.faces.push_back(i == n ? upper
                                : 0.5 * (lower + upper) + 0.5 * (upper - lower) * (2 * i == n ? 0 : s));
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i) {
    axis.centres.push_back(0.5 * (axis.faces[i] + axis.faces[i + 1]));
    axis.widths.push_back(spacing == Spacing::uniform ? (upper - lower) / n
                                                      : axis.faces[i + 1] - axis.faces[i]);
  }
  const auto last = static_cast<std::size_t>(n) - 1;
  const double seam = 0.5 * (axis.widths[0] + axis.widths[last]);
  axis.gaps.push_back(periodic ? seam : 0.5 * axis.widths[0]);
  for (std::size_t i = 1; i <= last; ++i) axis.gaps.push_back(0.5 * (axis.widths[i - 1] + axis.widths[i]));
  axis.gaps.push_back(periodic ? seam : 0.5 * axis.widths[last]);
  return axis;
}

Grid::Grid(const Comm& comm, Axis x_axis, Axis z_axis)
    : x(std::move(x_axis)),
      z(std::move(z_axis)),
      rows{z.n(), comm.size()},
      comm_(std::make_shared<const Comm>(comm)),
      rank_(comm.rank()) {
  QUINTET_CHECK(comm.size() <= z.n(), "{} ranks share {} rows of cells; expected at most one a row",
                comm.size(), z.n());
}

}  // namespace quintet::convection
