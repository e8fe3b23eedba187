#include "surrogates/environments/wall_heating.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"

namespace quintet::environments {

namespace {

/// Integral of the step that goes from 0 to 1 as 3 t^2 - 2 t^3 between t = 0 and 1, from far below to t.
double integral_of_step(double t) {
  if (t <= 0) return 0;
  return t >= 1 ? t - 0.5 : t * t * t * (1 - 0.5 * t);
}

}  // namespace

WallHeating::WallHeating(const WallHeatingOptions& options, const convection::Axis& along, const char* wall,
                         double most)
    : options_(options), wall_(wall), cells_(along.n()) {
  const auto& [n, amplitude, blend] = options;
  QUINTET_CHECK(n >= 2 && n <= cells_ && (!along.periodic || cells_ % n == 0),
                "{} segments of the {} over {} cells; expected at least 2, with {}", n, wall, cells_,
                along.periodic ? "as many whole cells each, where x is periodic" : "a cell each");
  QUINTET_CHECK(amplitude > 0 && amplitude <= most,
                "an amplitude of {} of the {}; expected above 0 and at most {}{}", amplitude, wall, most,
                most == most_buoyancy_set ? ": beyond, a warm wall may be colder than the cold one" : "");
  QUINTET_CHECK(blend >= 0 && blend <= 1, "segments that blend over {} of their length; expected 0 to 1",
                blend);
  if (along.periodic)
    blend_round(along);
  else
    blend_between_corners(along);
}

void WallHeating::blend_round(const convection::Axis& along) {
  const auto& [n, amplitude, blend] = options_;
  const double segment = along.length() / n;
  for (const double centre : along.centres) {
    const double place = (centre - along.faces[0]) / segment;
    const int here = std::min<int>(place, n - 1), border = std::lround(place);
    // From the segment left of the nearest border to the one right of it.
    const double t =
        blend > 0 ? std::clamp((place - border) / blend + 0.5, 0.0, 1.0) : (here >= border ? 1.0 : 0.0);
    weights_.push_back({(border + n - 1) % n, border % n, t * t * (3 - 2 * t)});
  }
}

void WallHeating::blend_between_corners(const convection::Axis& along) {
  const auto& [n, amplitude, blend] = options_;
  const double segment = along.length() / n;
  for (int i = 0; i < cells_; ++i) {
    const double low = (along.faces[i] - along.faces[0]) / segment,
                 high = (along.faces[i + 1] - along.faces[0]) / segment;
    for (int border = 1; border < n; ++border) {
      const auto integral = [border, width = blend](double place) {
        return width > 0 ? width * integral_of_step((place - border) / width + 0.5)
                         : std::max(place - border, 0.0);
      };
      steps_.push_back((integral(high) - integral(low)) / (high - low));
    }
  }
}

void WallHeating::bounded(std::span<const float> action, std::span<double> levels) const {
  double mean = 0, most = 1;
  for (const float a : action) {
    QUINTET_CHECK(std::isfinite(a), "an action of {} for a segment of the {}; expected finite numbers", a,
                  wall_);
    mean += double{a} / action.size();
  }
  for (const float a : action) most = std::max(most, std::abs(a - mean));
  for (std::size_t s = 0; s < action.size(); ++s) levels[s] = options_.amplitude * (action[s] - mean) / most;
}

void WallHeating::profile(std::span<const float> action, std::span<double> profile) const {
  std::vector<double> levels(action.size());
  bounded(action, levels);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const auto& [from, to, weight] = weights_[i];
    profile[i] = (1 - weight) * levels[from] + weight * levels[to];
  }
  if (steps_.empty()) return;
  const std::size_t borders = options_.segments - 1;
  for (std::size_t i = 0; i < profile.size(); ++i) {
    profile[i] = levels[0];
    for (std::size_t k = 0; k < borders; ++k)
      profile[i] += steps_[i * borders + k] * (levels[k + 1] - levels[k]);
  }
}

}  // namespace quintet::environments
