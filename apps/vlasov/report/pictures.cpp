#include "apps/vlasov/report/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/files/field_points.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

constexpr int most_points = 400;  // of a picture's edge: finer is not seen

/// Name of a direction of phase space.
std::string direction_name(const PhaseGrid& grid, int d) {
  return d < grid.cdim ? std::string(1, "xyz"[d]) : fmt::format("v{}", "xyz"[d - grid.cdim]);
}

/// Points a cell along a direction: as many as the polynomials have to show, but no picture too large.
int points_per_cell(const PhaseGrid& grid, int d, int order) {
  return std::clamp(most_points / grid.cells[d], 1, order + 1);
}

/// The point of each of `n` equal parts of a direction's range: its cells may differ in width.
std::vector<int> points_of_pixels(const PhaseGrid& grid, int d, int points_a_cell, int n) {
  std::vector<int> points;
  int cell = 0;
  for (int i = 0; i < n; ++i) {
    const double z = grid.lower[d] + (i + 0.5) * (grid.upper[d] - grid.lower[d]) / n;
    const auto share = [&] {  // of the way through the cell
      return (z - grid.centre(d, cell)) / grid.width(d, cell) + 0.5;
    };
    while (share() >= 1 && cell + 1 < grid.cells[d]) ++cell;
    points.push_back(cell * points_a_cell + std::clamp<int>(share() * points_a_cell, 0, points_a_cell - 1));
  }
  return points;
}

/// Pixels along a direction: the points, or as many as its narrowest cell asks for.
int n_pixels(const PhaseGrid& grid, int d, int n_points, int points_a_cell) {
  if (grid.is_uniform(d)) return n_points;
  const double range = grid.upper[d] - grid.lower[d];
  return std::max<int>(n_points, std::min<double>(range / grid.least_width(d) * points_a_cell, most_points));
}

/// A picture of equal pixels of values at the points of cells.
Heatmap resampled(const PhaseGrid& grid, int a, int b, int points_a, int points_b,
                  kinetics::PhasePicture picture) {
  Heatmap map;
  map.n_x = n_pixels(grid, a, picture.n_a, points_a);
  map.n_y = n_pixels(grid, b, picture.n_b, points_b);
  if (grid.is_uniform(a) && grid.is_uniform(b)) {
    map.values = std::move(picture.values);
    return map;
  }
  const auto x = points_of_pixels(grid, a, points_a, map.n_x),
             y = points_of_pixels(grid, b, points_b, map.n_y);
  for (const int j : y)
    for (const int i : x) map.values.push_back(picture.values[std::int64_t{j} * picture.n_a + i]);
  return map;
}

}  // namespace

PhaseMap phase_map(const Setup& setup, VlasovSystem& system, int s, int a, int b) {
  const PhaseGrid& grid = setup.species[s].grid;
  const int order = setup.basis.order();
  const int points_a = points_per_cell(grid, a, order), points_b = points_per_cell(grid, b, order);
  auto values =
      kinetics::phase_picture(setup.decomposition, setup.basis, system.f(s), a, b, points_a, points_b);

  PhaseMap picture;
  picture.species = setup.species[s].name;
  picture.x_axis = direction_name(grid, a);
  picture.y_axis = direction_name(grid, b);
  picture.time = system.time();
  picture.map = resampled(grid, a, b, points_a, points_b, std::move(values));
  picture.map.x_min = grid.lower[a], picture.map.x_max = grid.upper[a];
  picture.map.y_min = grid.lower[b], picture.map.y_max = grid.upper[b];
  return picture;
}

Pictures::Pictures(Context& context, const Setup& setup)
    : group_(context.results().root().group("report")), middle_(0.5 * setup.end) {
  const int cdim = setup.basis.cdim(), vdim = setup.basis.vdim();
  planes_.push_back({0, cdim});
  if (vdim > 1) planes_.push_back({0, cdim + 1});
  if (vdim > 1) planes_.push_back({cdim, cdim + 1});
  if (context.restart_file())
    for (const auto& name : group_.names()) read_back(name);
}

Schedule Pictures::schedule() const { return at_start() | at_time(middle_) | at_end(); }

void Pictures::take(const Simulation& simulation, const Instant& now) {
  const int place = now.start ? 0 : now.end ? 2 : 1;  // in the order of names
  const Setup& setup = simulation.setup();
  std::erase_if(pictures_,
                [&](const auto& p) { return p.time >= simulation.time(); });  // of a run that went on before
  for (int s = 0; s < std::ssize(setup.species); ++s)
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      auto picture = phase_map(setup, simulation.system(), s, planes_[i].x, planes_[i].y);
      const auto& map = picture.map;
      // Names sort by time, then species and plane.
      hdf5::Group group = group_.group(fmt::format("{}_{}_{}", place, s, i));
      group.write<double>(
          "f", map.values, {static_cast<std::uint64_t>(map.n_y), static_cast<std::uint64_t>(map.n_x)},
          {"1", {picture.y_axis, picture.x_axis}, "f, averaged over other x, integrated over other v"});
      group.set_attribute("species", picture.species);
      group.set_attribute("time", picture.time);
      group.set_attribute("axes", std::vector<std::string>{picture.x_axis, picture.y_axis});
      group.set_attribute("range", std::vector<double>{map.x_min, map.x_max, map.y_min, map.y_max});
      pictures_.push_back(std::move(picture));
    }
}

void Pictures::read_back(const std::string& name) {
  const hdf5::Group group = group_.open_group(name);
  PhaseMap picture;
  picture.species = group.text_attribute("species");
  picture.time = group.number_attribute("time").at(0);
  const auto axes = group.texts_attribute("axes");
  picture.x_axis = axes.at(0), picture.y_axis = axes.at(1);
  const auto range = group.number_attribute("range");
  const auto shape = group.shape("f");
  QUINTET_CHECK(shape.size() == 2 && range.size() == 4, "report/{} of run.h5 is damaged; move the file away",
                name);
  picture.map.values = group.read<double>("f");
  picture.map.n_y = shape[0], picture.map.n_x = shape[1];
  picture.map.x_min = range[0], picture.map.x_max = range[1];
  picture.map.y_min = range[2], picture.map.y_max = range[3];
  pictures_.push_back(std::move(picture));
}

namespace {

/// f less its mean over x, where that is small beside f: what a linear wave does, which f itself hides.
std::optional<Heatmap> perturbation(const PhaseMap& picture) {
  constexpr double small = 0.2, noise = 1e-12;
  if (picture.x_axis.size() != 1 || picture.y_axis.size() != 2) return std::nullopt;  // (x, v) alone
  Heatmap map = picture.map;
  double greatest = 0, greatest_f = 0;
  for (int row = 0; row < map.n_y; ++row) {
    double* const values = map.values.data() + std::int64_t{row} * map.n_x;
    const double mean = std::accumulate(values, values + map.n_x, 0.0) / map.n_x;
    for (int i = 0; i < map.n_x; ++i) {
      greatest_f = std::max(greatest_f, std::abs(values[i]));
      values[i] -= mean;
      greatest = std::max(greatest, std::abs(values[i]));
    }
  }
  if (!(greatest > noise * greatest_f && greatest < small * greatest_f)) return std::nullopt;
  return map;
}

}  // namespace

void Pictures::report(Context& context) const {
  if (pictures_.empty()) return;
  context.report().section("Phase space");
  // The end first: it is what the run was for, and what an index of runs shows.
  auto latest_first = pictures_;
  std::ranges::stable_sort(latest_first, std::ranges::greater(), &PhaseMap::time);
  for (const auto& picture : latest_first) {
    Heatmap map = picture.map;
    map.title = fmt::format("{} at time {:.4g}", picture.species, picture.time);
    map.x_label = picture.x_axis;
    map.y_label = picture.y_axis;
    map.value_label.assign(1, 'f');
    context.report().heatmap(map);
    if (auto wave = perturbation(picture)) {
      wave->title = fmt::format("{} at time {:.4g}: f less its mean over {}", picture.species, picture.time,
                                picture.x_axis);
      wave->x_label = map.x_label;
      wave->y_label = map.y_label;
      wave->value_label = fmt::format("f - <f>_{}", picture.x_axis);
      context.report().heatmap(*wave);
    }
  }
}

}  // namespace quintet::vlasov
