#include "physics/kinetics/fields/poisson.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "io/tiers/memory_bounds.hpp"
#include "physics/kinetics/basis/banded_solver.hpp"
#include "physics/kinetics/fields/field_boundaries.hpp"
#include "physics/kinetics/fields/maxwell.hpp"
#include "physics/kinetics/space/conf_modes.hpp"
#include "physics/kinetics/space/continuous_space.hpp"

namespace quintet::kinetics {

namespace {

using Wall = PoissonOptions::Wall;

void check_options(const PhaseGrid& grid, const PoissonOptions& options) {
  QUINTET_CHECK(options.epsilon0 > 0, "epsilon0 = {}: must be positive (1 in normalised units)",
                options.epsilon0);
  for (int d = 0; d < grid.cdim; ++d)
    for (int side = 0; side < 2; ++side) {
      const bool periodic = row_of(potential_walls, options.boundary[d][side]).value == Wall::periodic;
      QUINTET_CHECK(
          periodic == grid.periodic[d],
          "the potential's boundary along x{} is {}periodic, but the grid is {}periodic there: make "
          "both ends of potential and grid agree",
          d, periodic ? "" : "not ", grid.periodic[d] ? "" : "not ");
      QUINTET_CHECK(std::isfinite(options.value[d][side]),
                    "the value of the potential's wall at the {} end of x{} is not a number",
                    side == 0 ? "lower" : "upper", d);
    }
}

std::array<std::array<bool, 2>, 3> held_walls(const PhaseGrid& grid, const PoissonOptions& options) {
  std::array<std::array<bool, 2>, 3> held{};
  for (int d = 0; d < grid.cdim; ++d)
    for (std::size_t side = 0; side < 2; ++side) held[d][side] = options.boundary[d][side] == Wall::dirichlet;
  return held;
}

bool has_dirichlet(const PhaseGrid& grid, const PoissonOptions& options) {
  const auto held = held_walls(grid, options);
  return std::any_of(held.begin(), held.end(), [](const auto& ends) { return ends[0] || ends[1]; });
}

/// Throws ResourceError if a factor of n unknowns and `half_width` diagonals, one on each rank, cannot fit.
/// Collective.
void require_factor_memory(const Comm& comm, double n, double half_width) {
  const double bytes = BandedCholesky::bytes(n, half_width);
  const auto demand = memory_demand(comm, bytes, memory_bounds());
  if (demand.fits()) return;
  throw ResourceError(
      fmt::format("the Poisson solver's factor ({:.3g} unknowns, {:.3g} diagonals) takes {:.3g} GB on each "
                  "of {} ranks of {}, which has {:.3g} GB free; use a coarser grid, a lower order or fewer "
                  "ranks a node",
                  n, half_width + 1, bytes / 1e9, demand.ranks, demand.where, demand.free / 1e9));
}

/// Check a lower bound of the memory, so that a grid much too large is refused before unknowns are numbered:
/// one a cell, and a band of at least one layer of cells.
void require_least_memory(const Comm& comm, const PhaseGrid& grid) {
  double n = 1, longest = 1;
  for (int d = 0; d < grid.cdim; ++d) {
    n *= grid.cells[d];
    longest = std::max<double>(longest, grid.cells[d]);
  }
  require_factor_memory(comm, n, n / longest);
}

/// Calls f(cell) for the global indices of all cells of the box [begin, begin + extent).
template <class Function>
void for_cells(const std::array<int, 3>& begin, const std::array<int, 3>& extent, const Function& f) {
  for (int i = begin[0]; i < begin[0] + extent[0]; ++i)
    for (int j = begin[1]; j < begin[1] + extent[1]; ++j)
      for (int k = begin[2]; k < begin[2] + extent[2]; ++k) f(std::array<int, 3>{i, j, k});
}

/// The first cdim of `values`, ones (or zeros) beyond.
std::array<int, 3> conf_part(const std::array<int, 6>& values, int cdim, int beyond) {
  std::array<int, 3> result{beyond, beyond, beyond};
  for (int d = 0; d < cdim; ++d) result[d] = values[d];
  return result;
}

/// Unknowns, held ones, and the total charge.
std::size_t summed_size(const ContinuousSpace& space) { return space.n_free() + ContinuousSpace::n_held + 1; }

}  // namespace

struct Poisson::Implementation {
  Implementation(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
                 const PoissonOptions& o)
      : options(o),
        block(decomposition.block(grid)),
        comm(decomposition.conf_comm()),
        modes(conf),
        floating(!has_dirichlet(grid, o)),
        space(grid, conf, held_walls(grid, o), floating) {
    require_factor_memory(decomposition.comm(), space.n_free(), space.half_width());
    matrix.emplace(space.n_free(), space.half_width());
    unknown.resize(size());
    for (auto& load : wall_loads) load.resize(size());
    unit_load.resize(size());
    assemble(conf);
    combine_wall_loads();
    matrix->factorise();
    for_cells(conf_part(block.begin, grid.cdim, 0), conf_part(block.extent, grid.cdim, 1),
              [&](const auto& cell) {
                for (int l = 0; l < modes.n_modes; ++l) numbers.push_back(space.number(cell, l));
              });
  }

  [[nodiscard]] std::size_t size() const { return summed_size(space); }
  [[nodiscard]] double& total_charge() { return unknown.back(); }
  [[nodiscard]] double held_value(int which) const {
    return which == ContinuousSpace::zero ? 0 : options.value[which / 2][which % 2];
  }
  /// prod_d dx_d/2
  [[nodiscard]] double jacobian() const { return block.grid.conf_cell_volume() / (1 << modes.dim); }
  [[nodiscard]] double volume() const {
    double product = 1;
    for (int d = 0; d < modes.dim; ++d) product *= block.grid.upper[d] - block.grid.lower[d];
    return product;
  }
  [[nodiscard]] std::vector<double> cell_stiffness(const Basis& conf) const;
  void assemble(const Basis& conf);
  void add_stiffness(const std::vector<int>& number, const std::vector<double>& stiffness);
  void add_neumann(const Basis& conf, const std::array<int, 3>& cell, const std::vector<int>& number);
  void combine_wall_loads();
  void load(const ConfField& charge);
  void neutralise();
  void extract(const ConfField& potential);

  PoissonOptions options;
  PhaseBlock block;
  Comm comm;
  ConfModes modes;
  bool floating;  ///< no wall holds phi
  ContinuousSpace space;
  std::optional<BandedCholesky> matrix;
  std::vector<double> unknown;                    ///< [size()]: the load, then the solution
  std::array<std::vector<double>, 6> wall_loads;  ///< [2 d + side][size()]: what a wall of value 1 adds
  std::vector<double> wall_load;                  ///< [size()]: what the walls add to the load
  std::vector<double> unit_load;                  ///< [size()]: int N dx
  std::vector<int> numbers;                       ///< [n_conf, n_modes]: of this rank's cells
};

/// epsilon0 int grad N_a . grad N_b dx over a cell, [a, b].
std::vector<double> Poisson::Implementation::cell_stiffness(const Basis& conf) const {
  const std::size_t n = conf.size();
  std::vector<double> result(n * n), gradient(n * n);
  for (int d = 0; d < conf.dim(); ++d) {
    std::fill(gradient.begin(), gradient.end(), 0.0);  // [function, mode] on [-1, 1]
    for (const auto& entry : space.expansion())
      for (int i = 0; i < conf.size(); ++i) {
        auto same = conf.mode(i);
        same[d] = conf.mode(entry.mode)[d];
        if (same == conf.mode(entry.mode))
          gradient[std::int64_t{entry.function} * n + i] +=
              entry.value * integral_derivative(conf.mode(entry.mode)[d], conf.mode(i)[d]);
      }
    const double width = block.grid.width(d), scale = options.epsilon0 * jacobian() * 4 / (width * width);
    for (std::size_t a = 0; a < n; ++a)
      for (std::size_t b = 0; b < n; ++b)
        for (std::size_t i = 0; i < n; ++i)
          result[a * n + b] += scale * gradient[a * n + i] * gradient[b * n + i];
  }
  return result;
}

void Poisson::Implementation::assemble(const Basis& conf) {
  const auto stiffness = cell_stiffness(conf);
  std::vector<int> number(conf.size());
  for_cells({}, conf_part(block.grid.cells, conf.dim(), 1), [&](const auto& cell) {
    for (int l = 0; l < conf.size(); ++l) number[l] = space.number(cell, l);
    add_stiffness(number, stiffness);
    add_neumann(conf, cell, number);
    const double scale = jacobian() * std::exp2(0.5 * conf.dim());  // int w_0 dxi = 2^(dim/2)
    for (const auto& entry : space.expansion())
      if (entry.mode == 0) unit_load[number[entry.function]] += scale * entry.value;
  });
}

/// The matrix of free unknowns; what held ones contribute goes to the right.
void Poisson::Implementation::add_stiffness(const std::vector<int>& number,
                                            const std::vector<double>& stiffness) {
  const std::size_t n = number.size();
  const int n_free = space.n_free();
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = 0; b < n; ++b) {
      if (number[a] >= n_free) continue;
      if (number[b] == n_free + ContinuousSpace::zero) continue;
      if (number[b] >= n_free)
        wall_loads[number[b] - n_free][number[a]] -= stiffness[a * n + b];
      else if (number[a] >= number[b])
        matrix->add(number[a], number[b], stiffness[a * n + b]);
    }
}

/// epsilon0 (d phi/dn) int N dS over the neumann walls of a cell. On the wall all functions vanish but those
/// with n_0 (lower end) or n_1 (upper end) across it.
void Poisson::Implementation::add_neumann(const Basis& conf, const std::array<int, 3>& cell,
                                          const std::vector<int>& number) {
  for (int d = 0; d < conf.dim(); ++d)
    for (int side = 0; side < 2; ++side) {
      if (options.boundary[d][side] != Wall::neumann) continue;
      if (cell[d] != (side == 0 ? 0 : block.grid.cells[d] - 1)) continue;
      // int N dS = 2 int N dx/dx_d for such a function, because int n_0 dxi = int n_1 dxi = 1.
      const double scale =
          options.epsilon0 * jacobian() * std::exp2(0.5 * conf.dim()) * 2 / block.grid.width(d);
      auto& load = wall_loads[2 * d + side];
      for (const auto& entry : space.expansion())
        if (entry.mode == 0 && conf.mode(entry.function)[d] == side) {
          load[number[entry.function]] += scale * entry.value;
          // The sum of all vertex functions is 1: it counts the charge that the wall's field stands for.
          auto vertex = conf.mode(entry.function);
          if (std::all_of(vertex.begin(), vertex.end(), [](int k) { return k < 2; }))
            load.back() += scale * entry.value;
        }
    }
}

void Poisson::Implementation::combine_wall_loads() {
  wall_load.assign(size(), 0.0);
  for (std::size_t wall = 0; wall < wall_loads.size(); ++wall)
    for (std::size_t i = 0; i < size(); ++i)
      wall_load[i] += options.value[wall / 2][wall % 2] * wall_loads[wall][i];
}

/// unknown = int rho N dx of this rank's cells, and their charge.
void Poisson::Implementation::load(const ConfField& charge) {
  std::fill(unknown.begin(), unknown.end(), 0.0);
  const double scale = jacobian();
  const std::size_t n = modes.n_modes, n_conf = charge.extent(0);
  double total = 0;
  for (std::size_t cell = 0; cell < n_conf; ++cell) {
    const double* rho = &charge(cell, 0, 0);
    const int* number = &numbers[cell * n];
    for (const auto& entry : space.expansion())
      unknown[number[entry.function]] += scale * entry.value * rho[entry.mode];
    total += rho[0];
  }
  total_charge() = total * scale * std::exp2(0.5 * modes.dim);
}

/// Take the mean charge density out of the load.
void Poisson::Implementation::neutralise() {
  const double mean = total_charge() / volume();
  for (int i = 0; i < space.n_free(); ++i) unknown[i] -= mean * unit_load[i];
}

/// Modes of phi in this rank's cells; mean 0 where no wall holds it.
void Poisson::Implementation::extract(const ConfField& potential) {
  for (int which = 0; which < ContinuousSpace::n_held; ++which)
    unknown[space.n_free() + which] = held_value(which);
  double mean = 0;
  if (floating)
    for (int i = 0; i < space.n_free(); ++i) mean += unknown[i] * unit_load[i];
  const double constant = -mean / volume() * std::exp2(0.5 * modes.dim);
  const std::size_t n = modes.n_modes, n_conf = potential.extent(0);
  for (std::size_t cell = 0; cell < n_conf; ++cell) {
    double* phi = &potential(cell, 0, 0);
    const int* number = &numbers[cell * n];
    std::fill(phi, phi + n, 0.0);
    phi[0] = constant;
    for (const auto& entry : space.expansion())
      phi[entry.mode] += entry.value * unknown[number[entry.function]];
  }
}

Poisson::Poisson(const Decomposition& decomposition, const PhaseGrid& grid, const Basis& conf,
                 const PoissonOptions& options) {
  check_options(grid, options);
  require_least_memory(decomposition.comm(), grid);
  implementation_ = std::make_unique<Implementation>(decomposition, grid, conf, options);
}

Poisson::~Poisson() = default;

std::size_t Poisson::numbers_summed(const PhaseGrid& grid, const Basis& conf, const PoissonOptions& options) {
  check_options(grid, options);
  return summed_size(ContinuousSpace(grid, conf, held_walls(grid, options), !has_dirichlet(grid, options)));
}

void Poisson::solve(const Exec& exec, const ConfField& charge, const ConfField& potential) {
  auto& self = *implementation_;
  exec.fence();
  self.load(charge);
  self.comm.reduce(std::span<double>(self.unknown), Comm::Reduction::sum);
  for (std::size_t i = 0; i < self.unknown.size(); ++i) self.unknown[i] += self.wall_load[i];
  if (self.floating) self.neutralise();
  self.matrix->solve(std::span<double>(self.unknown).first(self.space.n_free()));
  self.extract(potential);
}

double Poisson::excess_charge() const {
  return implementation_->floating ? implementation_->total_charge() : 0;
}

void Poisson::set_values(const std::array<std::array<double, 2>, 3>& value) {
  implementation_->options.value = value;
  implementation_->combine_wall_loads();
}

void Poisson::electric_field(const Exec& exec, const ConfField& potential, const ConfField& field) const {
  const auto& self = *implementation_;
  const ConfModes modes = self.modes;
  double scale[3] = {};
  for (int d = 0; d < modes.dim; ++d) scale[d] = 2 / self.block.grid.width(d);
  const double sx = scale[0], sy = scale[1], sz = scale[2];
  Kokkos::parallel_for(
      "kinetics::electric_field", Kokkos::RangePolicy<Exec>(exec, 0, self.block.n_conf()),
      KOKKOS_LAMBDA(const int cell) {
        const double factor[3] = {sx, sy, sz};
        for (int i = 0; i < modes.n_modes; ++i) {
          field(cell, field_phi, i) = potential(cell, 0, i);
          for (int d = 0; d < 3; ++d) field(cell, d, i) = 0;
        }
        // phi_k' = sum_l (int phi_k' phi_l dxi) phi_l
        for (int d = 0; d < modes.dim; ++d)
          for (int i = 0; i < modes.n_modes; ++i)
            for (int b = 0; b < (modes.degree[d][i] + 1) / 2; ++b)
              field(cell, d, modes.below[d][i][b]) -=
                  factor[d] * modes.slope[modes.degree[d][i]][b] * potential(cell, 0, i);
      });
}

}  // namespace quintet::kinetics
