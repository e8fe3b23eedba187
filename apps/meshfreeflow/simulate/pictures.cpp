#include "apps/meshfreeflow/simulate/pictures.hpp"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/centred.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr int most_pixels = 512;  // of an edge: finer is not seen

/// The cell at the middle of each of n equal parts of an axis.
std::vector<std::size_t> cells_of_pixels(const Axis& axis, int n) {
  std::vector<std::size_t> cells;
  std::size_t cell = 0;
  for (int i = 0; i < n; ++i) {
    const double place = axis.faces.front() + (i + 0.5) / n * axis.length();
    while (cell + 1 < axis.centres.size() && axis.faces[cell + 1] < place) ++cell;
    cells.push_back(cell);
  }
  return cells;
}

/// As many as the narrowest cell asks for.
int pixels_of(const Axis& axis) {
  const double narrowest = *std::min_element(axis.widths.begin(), axis.widths.end());
  return std::min<double>(axis.length() / narrowest + 0.5, std::max(most_pixels, axis.n()));
}

}  // namespace

Pictures::Pictures(Context& context, const Simulation& simulation)
    : group_(context.results().root().group("report")),
      middle_(0.5 * simulation.options().time.end),
      n_x_(pixels_of(simulation.flow().grid().x)),
      n_z_(pixels_of(simulation.flow().grid().z)),
      length_(simulation.flow().grid().x.length()) {
  if (!context.restart_file()) return;
  for (const auto& name : group_.names()) {
    const hdf5::Group group = group_.open_group(name);
    const double time = group.number_attribute("time").at(0);
    if (time <= simulation.time())
      pictures_.push_back({time, group.read<double>("b", {static_cast<std::uint64_t>(n_z_),
                                                          static_cast<std::uint64_t>(n_x_)})});
  }
}

Schedule Pictures::schedule() const { return at_start() | at_time(middle_) | at_end(); }

void Pictures::take(const Simulation& simulation, const Instant& now) {
  const Grid& grid = simulation.flow().grid();
  const Field& b = simulation.flow().state(0).b;
  std::vector<double> rows;
  for (int j = 0; j < b.rows; ++j) rows.insert(rows.end(), b.row(j), b.row(j) + b.n);
  const auto all = gathered(grid, rows);
  Picture picture{simulation.time(), std::vector<double>(std::int64_t{n_x_} * n_z_)};
  if (grid.comm().is_root()) {
    std::size_t pixel = 0;
    const auto columns = cells_of_pixels(grid.x, n_x_);
    for (const std::size_t j : cells_of_pixels(grid.z, n_z_))
      for (const std::size_t i : columns) picture.b[pixel++] = all[j * grid.x.n() + i];
  }
  std::erase_if(pictures_, [&](const auto& p) { return p.time >= picture.time; });
  hdf5::Group group = group_.group(now.start ? "0" : now.end ? "2" : "1");
  group.write<double>("b", picture.b, {static_cast<std::uint64_t>(n_z_), static_cast<std::uint64_t>(n_x_)},
                      {"1", {"z", "x"}, "Buoyancy of the first flow, on equal pixels"});
  group.set_attribute("time", picture.time);
  pictures_.push_back(std::move(picture));
}

void Pictures::report(Context& context) const {
  context.report().section("Flow");
  // The end first: it is what the run was for, and what an index of runs shows.
  for (const auto& picture : std::views::reverse(pictures_)) {
    Heatmap map;
    map.title = fmt::format("Buoyancy at time {:.4g}", picture.time);
    map.x_label = "x";
    map.y_label = "z";
    map.value_label = "b";
    map.values = picture.b;
    map.n_x = n_x_, map.n_y = n_z_;
    map.x_min = 0, map.x_max = length_;
    map.y_min = -0.5, map.y_max = 0.5;
    context.report().heatmap(map);
  }
}

}  // namespace quintet::meshfreeflow
