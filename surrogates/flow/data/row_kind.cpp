#include "surrogates/flow/data/row_kind.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "io/log/error.hpp"

namespace quintet::flow {
namespace {

bool is_equally_spaced(const Samples& samples, int d) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto& x = samples[i].axes[d].coordinates;
    if (x.size() < 2) return false;
    const double spacing = (x.back() - x.front()) / (x.size() - 1);
    for (std::size_t j = 1; j < x.size(); ++j)
      if (std::abs(x[j] - x[j - 1] - spacing) > 1e-4 * spacing) return false;
  }
  return true;
}

/// Of crops that are cut from a coarse run: fine points within them, wherever they begin.
RowKind of_coarse_crops(const Samples& fine, const Samples& coarse, int axis, int low,
                        const std::string& name) {
  RowKind found{axis, std::numeric_limits<int>::max(), false};
  for (std::size_t i = 0; i < fine.size(); ++i) {
    const BlockAxis &x = fine[i].axes[axis], &y = coarse[i].axes[axis];
    const bool whole = x.periodic && low == y.size();
    QUINTET_CHECK(
        i == 0 || whole == found.whole,
        "loss.spectral: a crop is the whole period of '{}' in {}, but not in {}; expected the same of all",
        name, (whole ? fine[i] : fine[0]).name, (whole ? fine[0] : fine[i]).name);
    QUINTET_CHECK(
        i == 0 || !whole || x.size() == found.n_points,
        "loss.spectral: a whole row along '{}' has {} points in {}, but {} in {}; expected equally many",
        name, x.size(), fine[i].name, found.n_points, fine[0].name);
    found.whole = whole;
    const double length = low < 2 ? 0 : (low - 1) * (y.coordinates[1] - y.coordinates[0]);
    const int inside = static_cast<int>(length / (x.coordinates[1] - x.coordinates[0]) + 1e-6);
    found.n_points = std::min(found.n_points, whole ? x.size() : inside);
  }
  return found;
}

}  // namespace

RowKind row_kind(const Samples& fine, const Samples* coarse, const std::array<int, 3>& crop,
                 const std::array<int, 3>& low, const std::vector<std::string>& axis_names) {
  const auto is_periodic = [&](int d) { return fine[0].axes[d].periodic && is_equally_spaced(fine, d); };
  const int axis = is_periodic(2) ? 2 : is_periodic(1) ? 1 : is_equally_spaced(fine, 2) ? 2 : 1;
  QUINTET_CHECK(is_equally_spaced(fine, axis) && (!coarse || is_equally_spaced(*coarse, axis)),
                "loss.spectral: neither '{}' nor '{}' is equally spaced in all samples, so that rows have no "
                "spectrum; set loss.spectral to 0",
                axis_names[2], axis_names[1]);
  if (coarse) return of_coarse_crops(fine, *coarse, axis, low[axis], axis_names[axis]);
  bool whole = is_periodic(axis);
  for (std::size_t i = 0; i < fine.size(); ++i) whole = whole && fine[i].axes[axis].size() == crop[axis];
  return {axis, crop[axis], whole};
}

std::vector<double> points_in(const BlockAxis& axis, const std::array<double, 2>& range) {
  const double length = axis.upper - axis.lower, slack = 1e-9 * (range[1] - range[0]);
  std::vector<double> found;
  for (const int image : {-1, 0, 1}) {
    if (image != 0 && !axis.periodic) continue;
    for (const double x : axis.coordinates)
      if (const double at = x + image * length; at >= range[0] - slack && at <= range[1] + slack)
        found.push_back(std::clamp(at, range[0], range[1]));
  }
  return found;
}

}  // namespace quintet::flow
