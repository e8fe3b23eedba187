#include "physics/convection/device/flow_setup.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/linear/line_levels.hpp"
#include "physics/convection/linear/line_operator.hpp"
#include "physics/convection/linear/row_bases.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/transforms/fft.hpp"

namespace quintet::convection {

namespace {

/// The matrix of a linear function of rows, [n, n] row by row, from what it makes of unit vectors.
template <class Function>
std::vector<double> matrix_of(std::size_t n, std::size_t batch, const Function& function) {
  std::vector<double> matrix(n * n), units(batch * n), images(batch * n);
  for (std::size_t first = 0; first < n; first += batch) {
    const std::size_t count = std::min(batch, n - first);
    std::fill(units.begin(), units.end(), 0.0);
    for (std::size_t r = 0; r < count; ++r) units[r * n + first + r] = 1;
    function(units.data(), images.data(), static_cast<int>(count));
    for (std::size_t r = 0; r < count; ++r)
      for (std::size_t i = 0; i < n; ++i) matrix[i * n + first + r] = images[r * n + i];
  }
  return matrix;
}

/// Transforms of rows, or products with modes.
void add_basis(DeviceEquations& result, const Problem& problem, const Grid& grid, Unknown unknown,
               bool transforms) {
  const auto basis =
      transforms ? transform_basis(problem, grid, unknown) : modes_basis(problem, grid, unknown);
  result.squares = basis->squares();
  if (transforms) {
    result.basis = line_basis(problem, unknown);
  } else {
    const std::size_t n = grid.x.n(), batch = basis->batch();
    AlignedVector<double> work(basis->work_size());
    result.forward = matrix_of(n, batch, [&](const double* from, double* to, int rows) {
      basis->forward(from, n, to, n, rows, work.data());
    });
    result.backward = matrix_of(n, batch, [&](const double* from, double* to, int rows) {
      basis->backward(from, n, to, n, rows, work.data());
    });
  }
}

// Rows are divided by the cell's weight: the equations are those of means over a cell.
DeviceEquations equations_of(const Problem& problem, const Grid& grid, Unknown unknown, bool transforms,
                             double tolerance) {
  DeviceEquations result;
  result.diffusivity = diffusivity(problem, unknown);
  if (tolerance > 0) {
    for (const LineOperator& level : line_levels(x_operator(problem, grid, unknown), grid.x.periodic)) {
      auto& kept = result.levels.emplace_back();
      for (std::size_t i = 0; i < level.weight.size(); ++i) {
        const double weight = level.weight[i];
        kept.below.push_back(level.lower[i] / weight);
        kept.above.push_back(level.upper[i] / weight);
        kept.diagonal.push_back((level.lower[i] + level.upper[i] + level.wall[i]) / weight);
        kept.weight.push_back(weight);
      }
    }
    result.squares = {0.0};
  } else {
    add_basis(result, problem, grid, unknown, transforms);
  }
  const LineOperator line = z_operator(problem, grid, unknown);
  for (std::size_t j = 0; j < line.weight.size(); ++j) {
    const bool wall = unknown == Unknown::w && j == 0;
    result.below.push_back(wall ? 0 : line.lower[j] / line.weight[j]);
    result.above.push_back(wall ? 0 : line.upper[j] / line.weight[j]);
    result.diagonal.push_back(wall ? 0 : (line.lower[j] + line.upper[j] + line.wall[j]) / line.weight[j]);
  }
  if (tolerance > 0) result.z_weight = line.weight;
  return result;
}

}  // namespace

DeviceFlowSetup device_flow_setup(const Problem& problem, const Grid& grid, int n_members, bool transforms,
                                  double tolerance) {
  DeviceFlowSetup setup{.n_x = grid.x.n(),
                        .n_z = grid.z.n(),
                        .n_members = n_members,
                        .periodic = grid.x.periodic,
                        .x_widths = grid.x.widths,
                        .z_widths = grid.z.widths,
                        .x_gaps = grid.x.gaps,
                        .z_gaps = grid.z.gaps,
                        .viscosity = problem.viscosity(),
                        .tolerance = tolerance,
                        .segments = 0,
                        .sides_hold = problem.sides == Sides::no_slip,
                        .bottom_holds = problem.bottom == Wall::no_slip,
                        .top_holds = problem.top == Wall::no_slip,
                        .heated_sides = problem.heated == Heated::sides,
                        .fast = Fft::possible(grid.x.n()),
                        .equations = {},
                        .slabs = {},
                        .links = nullptr,
                        .overlap = Overlap::timed};
  const double heat = problem.thermal_diffusivity() * wall_buoyancy;
  const auto brought = [&](const Axis& axis, bool last) {
    const std::size_t n = axis.n();
    return heat / (axis.gaps[last ? n : 0] * axis.widths[last ? n - 1 : 0]);
  };
  if (problem.heated == Heated::sides) {
    setup.left = brought(grid.x, false);
    setup.right = brought(grid.x, true);
  } else {
    setup.bottom = brought(grid.z, false);
    setup.top = brought(grid.z, true);
  }
  for (const Unknown unknown : {Unknown::u, Unknown::w, Unknown::b, Unknown::p})
    setup.equations[static_cast<std::size_t>(unknown)] =
        equations_of(problem, grid, unknown, transforms, tolerance);
  return setup;
}

FlowShares flow_shares(int n_ranks, int n_members) {
  FlowShares best{.n_ranks = n_ranks, .n_members = n_members};
  if (n_ranks <= n_members) return best;
  double least = 0;
  for (int n_slabs = 1; n_slabs <= n_ranks; ++n_slabs) {
    if (n_ranks % n_slabs != 0 || n_ranks / n_slabs > n_members) continue;
    const FlowShares shares{.n_ranks = n_ranks, .n_members = n_members, .n_slabs = n_slabs};
    const double work = static_cast<double>(shares.members_on(0)) / n_slabs;
    if (least > 0 && work >= least) continue;
    least = work;
    best = shares;
  }
  return best;
}

namespace {

class CommLinks final : public SlabLinks {
 public:
  CommLinks(Comm comm, bool direct) : comm_(std::move(comm)), direct_(direct) {}
  [[nodiscard]] bool direct() const override { return direct_; }
  void start(const Parcels& parcels) override {
    constexpr int tag = 97;
    const int above = comm_.rank() + 1 < comm_.size() ? comm_.rank() + 1 : -1, below = comm_.rank() - 1;
    const auto exchange = [&](const double* send, int to, double* receive, int from, std::int64_t n,
                              int way) {
      const std::size_t size = n;
      if (n > 0)
        under_way_.push_back(comm_.start_exchange(std::span<const double>(send, size), to,
                                                  std::span<double>(receive, size), from, tag + way));
    };
    exchange(parcels.up, above, parcels.from_below, below, parcels.n_up, 0);
    exchange(parcels.down, below, parcels.from_above, above, parcels.n_down, 1);
  }
  void finish() override {
    for (auto& exchange : under_way_) exchange.wait();
    under_way_.clear();
  }
  void drop() noexcept override { under_way_.clear(); }
  void with_all(double* slices, std::int64_t n) override {
    comm_.all_gather_into(std::span<double>(slices, n));
  }

 private:
  Comm comm_;
  bool direct_;
  std::vector<Comm::Pending> under_way_;
};

}  // namespace

DeviceFlowSetup shared_flow_setup(const Problem& problem, const Grid& grid, int n_members, bool transforms,
                                  bool direct, double tolerance) {
  const int rank = grid.comm().rank();
  const FlowShares shares = flow_shares(grid.comm().size(), n_members);
  DeviceFlowSetup setup = device_flow_setup(problem, grid, shares.members_on(rank), transforms, tolerance);
  if (shares.n_slabs == 1) return setup;
  if (tolerance > 0) throw InternalError("multigrid on a device takes whole flows");
  for (int slab = 0; slab < shares.n_slabs; ++slab) setup.slabs.push_back(shares.rows(setup.n_z).first(slab));
  setup.slab = shares.slab_of(rank);
  setup.links = std::make_shared<CommLinks>(
      shares.n_groups() == 1 ? grid.comm() : grid.comm().split(rank / shares.n_slabs, rank), direct);
  return setup;
}

}  // namespace quintet::convection
