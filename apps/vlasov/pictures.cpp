#include "apps/vlasov/pictures.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "physics/kinetics/projection_nodes.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr int most_points = 400;  // of a picture's edge: finer is not seen

/// Name of a direction of phase space.
std::string direction_name(const PhaseGrid& grid, int d) {
  return d < grid.cdim ? std::string(1, "xyz"[d]) : fmt::format("v{}", "xyz"[d - grid.cdim]);
}

/// Points a cell along a direction: as many as the polynomials have to show, but no picture too large.
int points_per_cell(const PhaseGrid& grid, int d, int order) {
  return std::clamp(most_points / grid.cells[at(d)], 1, order + 1);
}

/// phi_k at the points of a cell: [point][degree].
std::vector<std::vector<double>> values_at_points(int n_points) {
  const Basis line(1, 3, Family::tensor);
  std::vector<std::vector<double>> values;
  for (int i = 0; i < n_points; ++i) {
    const double xi[1] = {(2 * i + 1.0) / n_points - 1};
    values.emplace_back();
    for (int k = 0; k < line.size(); ++k) values.back().push_back(line.value(k, xi));
  }
  return values;
}

/// What a sum over cells needs to become a marginal: the modes that are constant along all other directions,
/// and the factor of each cell.
struct Marginal {
  std::vector<int> modes;
  double factor = 1;

  Marginal(const PhaseBasis& basis, const PhaseGrid& grid, int a, int b) {
    for (int i = 0; i < basis.size(); ++i) {
      bool constant = true;
      for (int d = 0; d < basis.dim(); ++d)
        constant = constant && (d == a || d == b || basis.mode(i)[at(d)] == 0);
      if (constant) modes.push_back(i);
    }
    // int phi_0 dz over a cell is width/sqrt(2); over x the mean is taken.
    for (int d = 0; d < grid.dim(); ++d)
      if (d != a && d != b)
        factor *= std::sqrt(0.5) * (d < grid.cdim ? 1.0 / grid.cells[at(d)] : grid.width(d));
  }
};

}  // namespace

PhasePicture phase_picture(const Setup& setup, VlasovSystem& system, int s, int a, int b) {
  const Distribution& f = system.f(s);
  const PhaseBlock& block = f.block;
  const PhaseGrid& grid = block.grid;
  const int n_a = points_per_cell(grid, a, setup.basis.order()),
            n_b = points_per_cell(grid, b, setup.basis.order());
  const auto at_a = values_at_points(n_a), at_b = values_at_points(n_b);
  const Marginal marginal(setup.basis, grid, a, b);
  const int width = grid.cells[at(a)] * n_a, height = grid.cells[at(b)] * n_b;
  std::vector<double> values(at(width) * at(height));
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last) {
        const auto cell = global_cell(block, conf, row, last);
        for (const int i : marginal.modes) {
          const double coefficient = marginal.factor * f.at(conf, row, last, i);
          const auto& k = setup.basis.mode(i);
          for (int q = 0; q < n_b; ++q)
            for (int p = 0; p < n_a; ++p)
              values[at(cell[at(b)] * n_b + q) * at(width) + at(cell[at(a)] * n_a + p)] +=
                  coefficient * at_a[at(p)][at(k[at(a)])] * at_b[at(q)][at(k[at(b)])];
        }
      }
  setup.decomposition.comm().reduce(std::span<double>(values), Comm::Reduction::sum);

  PhasePicture picture;
  picture.species = setup.species[at(s)].name;
  picture.x_axis = direction_name(grid, a);
  picture.y_axis = direction_name(grid, b);
  picture.time = system.time();
  picture.map.values = std::move(values);
  picture.map.n_x = width;
  picture.map.n_y = height;
  picture.map.x_min = grid.lower[at(a)], picture.map.x_max = grid.upper[at(a)];
  picture.map.y_min = grid.lower[at(b)], picture.map.y_max = grid.upper[at(b)];
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

bool Pictures::due(double before, double after) const { return before < middle_ && after >= middle_; }

void Pictures::take(const Simulation& simulation, int moment) {
  const Setup& setup = simulation.setup();
  std::erase_if(pictures_,
                [&](const auto& p) { return p.time >= simulation.time(); });  // of a run that went on before
  for (int s = 0; s < static_cast<int>(setup.species.size()); ++s)
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      auto picture = phase_picture(setup, simulation.system(), s, planes_[i].x, planes_[i].y);
      const auto& map = picture.map;
      // Names sort by time, then species and plane.
      hdf5::Group group = group_.group(fmt::format("{}_{}_{}", moment, s, i));
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
  PhasePicture picture;
  picture.species = group.text_attribute("species");
  picture.time = group.number_attribute("time").at(0);
  const auto axes = group.texts_attribute("axes");
  picture.x_axis = axes.at(0), picture.y_axis = axes.at(1);
  const auto range = group.number_attribute("range");
  const auto shape = group.shape("f");
  QUINTET_CHECK(shape.size() == 2 && range.size() == 4, "report/{} of run.h5 is damaged; move the file away",
                name);
  picture.map.values = group.read<double>("f");
  picture.map.n_y = static_cast<int>(shape[0]), picture.map.n_x = static_cast<int>(shape[1]);
  picture.map.x_min = range[0], picture.map.x_max = range[1];
  picture.map.y_min = range[2], picture.map.y_max = range[3];
  pictures_.push_back(std::move(picture));
}

void Pictures::report(Context& context) const {
  if (pictures_.empty()) return;
  context.report().section("Phase space");
  for (const auto& picture : pictures_) {
    Heatmap map = picture.map;
    map.title = fmt::format("{} at time {:.4g}", picture.species, picture.time);
    map.x_label = picture.x_axis;
    map.y_label = picture.y_axis;
    map.value_label.assign(1, 'f');
    context.report().heatmap(map);
  }
}

}  // namespace quintet::vlasov
