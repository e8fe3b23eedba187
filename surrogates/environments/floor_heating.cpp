#include "surrogates/environments/floor_heating.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::environments {

FloorHeating::FloorHeating(const FloorHeatingOptions& options, const convection::Axis& x)
    : options_(options) {
  const auto& [n, amplitude, blend] = options;
  QUINTET_CHECK(x.periodic, "segments of a heated floor need a periodic x");
  QUINTET_CHECK(
      n >= 2 && x.n() % n == 0,
      "{} segments of the floor over {} cells along x; expected at least 2, with as many whole cells each", n,
      x.n());
  QUINTET_CHECK(
      amplitude > 0 && amplitude <= 1,
      "an amplitude of {} of the floor; expected above 0 and at most 1: beyond, the floor may be colder than "
      "the top",
      amplitude);
  QUINTET_CHECK(blend >= 0 && blend <= 1, "segments that blend over {} of their length; expected 0 to 1",
                blend);
  const double segment = x.length() / n;
  for (const double centre : x.centres) {
    const double place = (centre - x.faces[0]) / segment;
    const int here = std::min(static_cast<int>(place), n - 1), border = std::lround(place);
    // From the segment left of the nearest border to the one right of it.
    const double t =
        blend > 0 ? std::clamp((place - border) / blend + 0.5, 0.0, 1.0) : (here >= border ? 1.0 : 0.0);
    weights_.push_back({(border + n - 1) % n, border % n, t * t * (3 - 2 * t)});
  }
}

void FloorHeating::bounded(std::span<const float> action, std::span<double> levels) const {
  double mean = 0, most = 1;
  for (const float a : action) {
    QUINTET_CHECK(std::isfinite(a), "an action of {} for a segment of the floor; expected finite numbers", a);
    mean += double{a} / action.size();
  }
  for (const float a : action) most = std::max(most, std::abs(a - mean));
  for (std::size_t s = 0; s < action.size(); ++s) levels[s] = options_.amplitude * (action[s] - mean) / most;
}

void FloorHeating::profile(std::span<const float> action, std::span<double> profile) const {
  std::vector<double> levels(action.size());
  bounded(action, levels);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto& [from, to, weight] = weights_[i];
    profile[i] = (1 - weight) * levels[from] + weight * levels[to];
  }
}

}  // namespace quintet::environments
