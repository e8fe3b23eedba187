#include "apps/vlasov/setup/velocity_cells.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// No cell may be so narrow that steps shrink to nothing, or edges become one. `way_out`: how to widen it.
void check_widths(const std::vector<double>& edges, const std::string& where, const char* way_out) {
  const double mean = (edges.back() - edges.front()) / (edges.size() - 1);
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const double width = edges[i + 1] - edges[i];
    QUINTET_CHECK(width >= 1e-6 * mean,
                  "{}: cell {} at {:.6g} would be {:.2g} wide, {:.1g} of the mean; expected at least 1e-6 of "
                  "it: {}",
                  where, i, edges[i], width, width / mean, way_out);
  }
}

/// Edges of `n` cells from `low` to `high` where `mapping` puts those of s = -1 + 2 i/n.
std::vector<double> mapped_edges(const Formula& mapping, double low, double high, int n,
                                 const std::string& where) {
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) {
    const double s = -1 + 2.0 * i / n;
    edges.push_back(mapping(std::span<const double>(&s, 1)));
    QUINTET_CHECK(std::isfinite(edges.back()), "{}: is {} at s = {:.6g}; expected a finite number", where,
                  edges.back(), s);
  }
  const double first = edges.front(), span = edges.back() - first;
  QUINTET_CHECK(span > 0, "{}: is {:.6g} at s = -1 and {:.6g} at s = 1; expected a formula that rises with s",
                where, first, first + span);
  for (auto& edge : edges) edge = low + (high - low) * ((edge - first) / span);
  edges.back() = high;
  for (std::size_t i = 0; i + 1 < edges.size(); ++i)
    QUINTET_CHECK(edges[i + 1] > edges[i],
                  "{}: cell {} would reach from {:.6g} to {:.6g}; expected a formula that rises with s",
                  where, i, edges[i], edges[i + 1]);
  check_widths(edges, where,
               "a formula that rises more steeply there, such as one with a term in s, or fewer cells");
  return edges;
}

/// Width of the widest cell over that of the narrowest.
double ratio_of(const std::vector<double>& edges) {
  double least = edges[1] - edges[0], most = least;
  for (std::size_t i = 1; i + 1 < edges.size(); ++i) {
    least = std::min(least, edges[i + 1] - edges[i]);
    most = std::max(most, edges[i + 1] - edges[i]);
  }
  return most / least;
}

/// The edges of stretched_edges() for one a > 0.
std::vector<double> sinh_edges(double low, double high, int n, double finest, double a) {
  const double place = (2 * finest - low - high) / (high - low);
  // b = artanh(m tanh a), by its exponentials: for large a, m tanh a is rounded to m.
  const double b =
      0.5 * (std::log(std::cosh(a) + place * std::sinh(a)) - std::log(std::cosh(a) - place * std::sinh(a)));
  const double scale = (high - low) / (std::sinh(a - b) + std::sinh(a + b));
  std::vector<double> edges;
  for (int i = 0; i <= n; ++i) edges.push_back(finest + scale * std::sinh(a * (2.0 * i - n) / n - b));
  edges.front() = low;
  edges.back() = high;
  return edges;
}

void check_lengths(const VelocityOptions& velocity, int vdim, const std::string& key) {
  const std::size_t n = vdim;
  const auto check = [&](const std::vector<FormulaText>& list, const char* name, const char* what,
                         bool one_is_enough) {
    QUINTET_CHECK(list.empty() || list.size() == n || (one_is_enough && list.size() == 1),
                  "{}.{}: has {}; expected {}, {}", key, name, counted(list.size(), "value"), n, what);
  };
  check(velocity.mapping, "mapping", "one for each velocity direction", false);
  check(velocity.finest, "finest", "one for each velocity direction", false);
  check(velocity.ratio, "ratio", "one for each velocity direction (or one for all)", true);
}

}  // namespace

std::vector<double> stretched_edges(double low, double high, int n, double finest, double ratio,
                                    const std::string& where) {
  QUINTET_CHECK(finest >= low && finest <= high,
                "{}: cells cannot be finest at {:g}, outside the box {:g} to {:g}", where, finest, low, high);
  QUINTET_CHECK(ratio >= 1,
                "{}: the widest cell would be {:g} times as wide as the finest; expected 1 or more", where,
                ratio);
  double below = 0, above = 1e-3;
  if (n < 2 || ratio == 1) return {};
  constexpr double most = 40;  // sinh(2 a) stays finite by far
  while (above < most && ratio_of(sinh_edges(low, high, n, finest, above)) < ratio)
    below = std::exchange(above, 2 * above);
  QUINTET_CHECK(above < most,
                "{}: {} cells finest at {:g} cannot differ by a factor of {:g}; take more cells", where, n,
                finest, ratio);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (below + above);
    (ratio_of(sinh_edges(low, high, n, finest, middle)) < ratio ? below : above) = middle;
  }
  auto edges = sinh_edges(low, high, n, finest, 0.5 * (below + above));
  check_widths(edges, where, "a smaller ratio");
  return edges;
}

void set_velocity_edges(const Formulas& formulas, const VelocityOptions& velocity, const std::string& key,
                        PhaseGrid& grid) {
  check_lengths(velocity, grid.vdim, key);
  for (int d = 0; d < grid.vdim; ++d) {
    const std::size_t i = d, v = grid.cdim + d;
    auto& edges = grid.velocity_edges[i];
    if (!velocity.mapping.empty()) {
      const auto here = fmt::format("{}.mapping.{}", key, d);
      edges = mapped_edges(formulas.function(here), grid.lower[v], grid.upper[v], grid.cells[v],
                           formulas.place(here));
    } else if (!velocity.finest.empty()) {
      const auto here = fmt::format("{}.finest.{}", key, d);
      const auto ratio = fmt::format("{}.ratio.{}", key, velocity.ratio.size() == 1 ? 0 : d);
      edges = stretched_edges(grid.lower[v], grid.upper[v], grid.cells[v], formulas.number(here),
                              formulas.number(ratio), here);
    }
  }
}

}  // namespace quintet::vlasov
