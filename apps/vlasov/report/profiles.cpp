#include "apps/vlasov/report/profiles.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// Values of one component over x (row y = 0 first where there is a y), at equidistant points, on all ranks.
struct Profile {
  std::vector<double> values;
  int n_x = 0, n_y = 1;
};

/// Points a cell: curves show the polynomials, maps of many cells their means.
int points(const PhaseGrid& grid, int d, int order) { return std::clamp(400 / grid.cells[d], 1, order + 1); }

/// Local coordinate of point i of n in a cell.
double xi_of(int i, int n) { return (2 * i + 1.0) / n - 1; }

Profile sample_field(const Setup& setup, const PhaseBlock& block, const ConfField& field, int component) {
  const PhaseGrid& grid = block.grid;
  const Basis& conf = setup.basis.conf();
  const int n_x = points(grid, 0, conf.order()), n_y = grid.cdim > 1 ? points(grid, 1, conf.order()) : 1;
  Profile profile;
  profile.n_x = grid.cells[0] * n_x;
  profile.n_y = grid.cdim > 1 ? grid.cells[1] * n_y : 1;
  profile.values.assign(std::int64_t{profile.n_x} * profile.n_y, 0.0);
  const int middle = grid.cdim > 2 ? grid.cells[2] / 2 : 0;
  for (int cell = 0; cell < block.n_conf(); ++cell) {
    const auto index = global_cell(block, cell, 0, 0);
    if (setup.decomposition.velocity_comm().rank() != 0) break;  // replicas
    if (grid.cdim > 2 && index[2] != middle) continue;
    for (int q = 0; q < n_y; ++q)
      for (int p = 0; p < n_x; ++p) {
        const std::array<double, 3> xi{xi_of(p, n_x), grid.cdim > 1 ? xi_of(q, n_y) : 0, 0};
        double value = 0;
        for (int i = 0; i < conf.size(); ++i)
          value += field(cell, component, i) * conf.value(i, std::span<const double>(xi.data(), conf.dim()));
        const int row = grid.cdim > 1 ? index[1] * n_y + q : 0;
        profile.values[std::int64_t{row} * profile.n_x + (index[0] * n_x + p)] = value;
      }
  }
  setup.decomposition.comm().reduce(std::span<double>(profile.values), Comm::Reduction::sum);
  return profile;
}

std::string direction(int d) { return {"xyz"[d]}; }

/// A quantity with a curve or map for each of its parts.
struct Picture {
  std::string title;
  std::vector<std::pair<std::string, Profile>> parts;
};

void draw(Context& context, const PhaseGrid& grid, const Picture& picture) {
  if (grid.cdim == 1) {
    Plot plot;
    plot.title = picture.title;
    plot.x_label = direction(0);
    plot.y_label = picture.title;
    for (const auto& [label, profile] : picture.parts) {
      Curve curve{label, {}, profile.values};
      for (int i = 0; i < profile.n_x; ++i)
        curve.x.push_back(grid.lower[0] + (grid.upper[0] - grid.lower[0]) * (i + 0.5) / profile.n_x);
      plot.curves.push_back(std::move(curve));
    }
    context.report().plot(plot);
    return;
  }
  for (const auto& [label, profile] : picture.parts) {
    Heatmap map;
    map.title = label.empty() ? picture.title : fmt::format("{}: {}", picture.title, label);
    map.x_label = direction(0), map.y_label = direction(1), map.value_label = picture.title;
    map.values = profile.values;
    map.n_x = profile.n_x, map.n_y = profile.n_y;
    map.x_min = grid.lower[0], map.x_max = grid.upper[0], map.y_min = grid.lower[1],
    map.y_max = grid.upper[1];
    context.report().heatmap(map);
  }
}

/// Density, mean velocities and temperature (m times the mean square velocity a direction about the mean).
void add_species(const Setup& setup, VlasovSystem& system, int s, std::array<Picture, 3>& pictures) {
  const Exec exec;
  const auto& species = setup.species[s];
  const PhaseBlock block = setup.decomposition.block(species.grid);
  const int vdim = setup.basis.vdim();
  const Profile density = sample_field(setup, block, system.moment(exec, s, Moment::m0), 0);
  const ConfField flux = system.moment(exec, s, Moment::m1);
  Profile temperature = sample_field(setup, block, system.moment(exec, s, Moment::m2), 0);
  const auto divided = [&](double a, std::size_t i) {
    return density.values[i] != 0 ? a / density.values[i] : std::nan("");
  };
  for (int d = 0; d < vdim; ++d) {
    Profile velocity = sample_field(setup, block, flux, d);
    for (std::size_t i = 0; i < velocity.values.size(); ++i) {
      velocity.values[i] = divided(velocity.values[i], i);
      temperature.values[i] -= velocity.values[i] * velocity.values[i] * density.values[i];
    }
    pictures[1].parts.emplace_back(fmt::format("{}, {}", species.name, "xyz"[d]), std::move(velocity));
  }
  for (std::size_t i = 0; i < temperature.values.size(); ++i)
    temperature.values[i] = divided(species.mass * temperature.values[i] / vdim, i);
  pictures[0].parts.emplace_back(species.name, density);
  pictures[2].parts.emplace_back(species.name, std::move(temperature));
}

}  // namespace

void report_profiles(Context& context, const Simulation& simulation) {
  const Setup& setup = simulation.setup();
  VlasovSystem& system = simulation.system();
  const PhaseBlock block = setup.decomposition.block(setup.species.front().grid);
  std::array<Picture, 3> pictures{Picture{"density", {}}, Picture{"mean velocity", {}},
                                  Picture{"temperature", {}}};
  for (int s = 0; s < std::ssize(setup.species); ++s) add_species(setup, system, s, pictures);
  Picture fields{"field", {}};
  constexpr const char* names[] = {"Ex", "Ey", "Ez", "Bx", "By", "Bz"};
  for (int c = 0; setup.system.field != FieldModel::none && c < 6; ++c) {
    Profile profile = sample_field(setup, block, system.field(), c);
    const bool zero =
        std::all_of(profile.values.begin(), profile.values.end(), [](double x) { return x == 0; });
    if (!zero) fields.parts.emplace_back(names[c], std::move(profile));
  }
  Picture potential{"potential", {}};
  if (setup.system.field == FieldModel::poisson)
    potential.parts.emplace_back("", sample_field(setup, block, system.field(), field_phi));
  context.report().section(fmt::format("At time {:.4g}", simulation.time()));
  for (const auto& picture : pictures) draw(context, block.grid, picture);
  for (const auto& picture : {fields, potential})
    if (!picture.parts.empty()) draw(context, block.grid, picture);
}

}  // namespace quintet::vlasov
