#include "apps/meshfreeflow/evaluate/evaluate_pictures.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/flow_picture.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {
namespace {

constexpr int most_frames = 32, most_pixels = 192;

std::size_t nearest(const std::vector<double>& values, double to) {
  const auto found = std::min_element(
      values.begin(), values.end(), [&](double a, double b) { return std::abs(a - to) < std::abs(b - to); });
  return found - values.begin();
}

/// Choose those of the frames 0 ... n - 1 that a film shows.
std::vector<int> frames_of_film(int n) {
  std::vector<int> frames;
  const int shown = std::min(n, most_frames);
  for (int k = 0; k < shown; ++k) frames.push_back(std::int64_t{k} * n / shown);
  return frames;
}

}  // namespace

CasePictures::CasePictures(const CaseData& data, int field) : data_(&data), field_(field) {
  const auto& axes = data.grid.axes();
  n_x_ = pixels_along(axes[1], most_pixels);
  n_y_ = std::lround(
      std::clamp<double>(n_x_ * axes[0].length() / axes[1].length(), std::max(n_x_ / 8, 1), n_x_ * 2));
  for (const int frame : frames_of_film(data.n_frames()))
    if (frame >= data.first && frame < data.end) frames_.push_back(frame);
  Strip coarse{"low resolution", {}};
  const auto& nodes = data.coarse.axes;
  const std::vector<FieldAxis> coarse_axes{field_axis(nodes[1], axes[0].name),
                                           field_axis(nodes[2], axes[1].name)};
  const std::size_t n = static_cast<std::size_t>(nodes[1].size()) * nodes[2].size();
  for (const int frame : frames_) {
    const std::size_t at = nearest(nodes[0].coordinates, data.truth.axes[0].coordinates[frame]);
    const auto begin = data.coarse.values.begin() + ((field * nodes[0].coordinates.size() + at) * n);
    const std::vector<double> values(begin, begin + n);
    const auto pixels = equal_pixels(coarse_axes, values, n_x_, n_y_);
    coarse.pixels.insert(coarse.pixels.end(), pixels.begin(), pixels.end());
  }
  strips_.push_back(std::move(coarse));
}

void CasePictures::add(const CaseFields& fields) {
  Strip strip{fields.name, {}};
  const std::size_t n = data_->grid.size();
  for (const int frame : frames_) {
    const auto values = std::span(fields.fields[field_]).subspan((frame - data_->first_held) * n, n);
    const auto pixels = equal_pixels(data_->grid.axes(), values, n_x_, n_y_);
    strip.pixels.insert(strip.pixels.end(), pixels.begin(), pixels.end());
  }
  strips_.push_back(std::move(strip));
}

void CasePictures::report(Context& context, const std::string& case_name) const {
  const Comm& comm = context.comm();
  std::vector<Strip> strips;
  for (const auto& strip : strips_)
    strips.push_back({strip.name, comm.gather(std::span<const double>(strip.pixels))});
  if (!comm.is_root()) return;
  const auto times = frames_of_film(data_->n_frames());
  const std::size_t n = std::int64_t{n_x_} * n_y_, n_frames = times.size();
  const auto named = [&](const std::string& name) {
    return std::find_if(strips.begin(), strips.end(), [&](const auto& strip) { return strip.name == name; });
  };
  const auto& truth = named("truth")->pixels;
  const auto [low, high] = std::minmax_element(truth.begin(), truth.end());
  const std::string field = data_->fields[field_];
  const std::size_t middle = n_frames / 2;
  const auto& axes = data_->grid.axes();
  const auto still = [&](const std::string& title, const std::string& label,
                         const std::vector<double>& pixels, bool about_zero = false) {
    Heatmap map;
    map.about_zero = about_zero;
    map.title = title;
    map.x_label = axes[1].name, map.y_label = axes[0].name, map.value_label = label;
    map.n_x = n_x_, map.n_y = n_y_;
    map.x_min = axes[1].lower, map.x_max = axes[1].upper, map.y_min = axes[0].lower,
    map.y_max = axes[0].upper;
    map.values.assign(pixels.begin() + middle * n, pixels.begin() + (middle + 1) * n);
    context.report().heatmap(map);
  };
  const double time = data_->truth.axes[0].coordinates[times[middle]];
  context.report().section(fmt::format("{}: {} at time {:.4g}", case_name, field, time));
  for (const auto& strip : strips) still(strip.name, field, strip.pixels);
  for (const auto& strip : strips) {
    if (strip.name == "truth" || strip.name == "low resolution") continue;
    auto error = strip.pixels;
    for (std::size_t i = 0; i < error.size(); ++i) error[i] -= truth[i];
    still("error of " + strip.name, field + " - truth", error, true);
  }

  const bool has_model = strips.size() > 3;  // low resolution, truth, trilinear, models
  const auto& ours = has_model ? strips[3] : strips.back();
  Film film;
  film.title = fmt::format("{} over time", field);
  film.caption = fmt::format(
      "From the top: low resolution, {}, truth, and the error of {} in the same colours about the middle. "
      "Times {:.4g} to "
      "{:.4g}.",
      ours.name, ours.name, data_->truth.axes[0].lower, data_->truth.axes[0].upper);
  film.n_x = n_x_, film.n_y = n_y_;
  film.low = *low, film.high = *high;
  const double centre = 0.5 * (*low + *high);
  for (std::size_t k = 0; k < n_frames; ++k) {
    std::vector<std::vector<double>> panels;
    const auto panel = [&](const std::vector<double>& pixels) {
      panels.emplace_back(pixels.begin() + k * n, pixels.begin() + (k + 1) * n);
    };
    panel(strips.front().pixels);
    panel(ours.pixels);
    panel(truth);
    panel(ours.pixels);
    for (std::size_t i = 0; i < n; ++i) panels.back()[i] += centre - panels[2][i];
    film.frames.push_back(std::move(panels));
  }
  context.report().film(film);
}

}  // namespace quintet::meshfreeflow
