#include "apps/meshfreeflow/setup/simulate_setup.hpp"

#include <algorithm>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/meshfreeflow/setup/wall_segments.hpp"
#include "apps/meshfreeflow/setup/with_petsc.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "physics/transforms/fft.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr int most_modes = 1024;  ///< cells along x for which automatic takes modes

Grid make_grid(const Comm& comm, const SimulateOptions& options) {
  const auto& [cells, x, z] = options.grid;
  const bool periodic = options.walls.sides == Sides::periodic;
  QUINTET_CHECK(!periodic || x.spacing == Spacing::uniform,
                "grid.x.spacing: a periodic x has equal cells; choose uniform, or walls.sides: no_slip");
  const int n_x = cells[0], n_z = cells[1];
  QUINTET_CHECK(comm.size() <= n_z, "{} ranks share grid.cells.1 = {} rows of cells; start at most one a row",
                comm.size(), n_z);
  return {comm, make_axis(0, options.aspect_ratio, n_x, x.spacing, x.strength, periodic),
          make_axis(-0.5, 0.5, n_z, z.spacing, z.strength, false)};
}

SolverKind solver_kind(const SimulateOptions& options) {
  const int n_x = options.grid.cells[0];
  const bool equal = options.grid.x.spacing == Spacing::uniform, fast = Fft::possible(n_x);
  if (options.solver.kind == SolverKind::transform) {
    QUINTET_CHECK(equal, "solver.kind: transform needs equal cells along x (grid.x.spacing: uniform)");
    QUINTET_CHECK(fast, "grid.cells.0 = {} has a prime factor above {}: no fast transform; {} has one", n_x,
                  Fft::most_prime, Fft::next_possible(n_x));
  }
  if (options.solver.kind != SolverKind::automatic) return options.solver.kind;
  if (equal && fast) return SolverKind::transform;
  // Finding modes takes 20 n_x^3 operations (4 s for 1024 cells, 30 s for 2048), a step work in proportion to
  // n_x.
  return n_x <= most_modes || !has_petsc() ? SolverKind::modes : SolverKind::multigrid;
}

std::unique_ptr<EllipticSolver> make_solver(const SimulateOptions& options, const Problem& problem,
                                            const Grid& grid) {
  switch (solver_kind(options)) {
    case SolverKind::transform:
      return make_transform_solver(problem, grid);
    case SolverKind::modes:
      return make_modes_solver(problem, grid);
    case SolverKind::automatic:
    case SolverKind::multigrid:
      break;
  }
  return multigrid_solver(problem, grid, options.solver.tolerance);
}

/// Why the flows cannot be on devices of so many ranks; empty: they can.
std::string what_a_device_lacks(const SimulateOptions& options, int n_ranks) {
  if (!options.walls.segments.empty()) return "walls.segments";
  if (options.control && options.control->policy) return "control.policy, which sets their walls";
  const int n_flows = options.seeds.size();
  if (by_multigrid(options) && flow_shares(n_ranks, n_flows).n_slabs > 1)
    return fmt::format("solver.kind: multigrid, which takes whole flows there, and {} ranks for {}", n_ranks,
                       n_flows);
  return "";
}

}  // namespace

Problem make_problem(const SimulateOptions& options) {
  const auto& walls = options.walls;
  return {options.rayleigh, options.prandtl, walls.bottom, walls.top, walls.sides, walls.heated};
}

Start start_of(const SimulateOptions& options) {
  const auto& from = options.start;
  return {from.conducting, from.roll, from.roll_pairs, from.noise, from.noise_modes};
}

bool by_transform(const SimulateOptions& options) { return solver_kind(options) == SolverKind::transform; }

bool by_multigrid(const SimulateOptions& options) { return solver_kind(options) == SolverKind::multigrid; }

DeviceSession open_device(Context& context, const SimulateOptions& options) {
  Device wanted = options.device;
  const auto lacks = what_a_device_lacks(options, context.comm().size());
  if (wanted == Device::automatic && !lacks.empty()) {
    log::info("device: cpu, since flows cannot stay on GPUs with {}", lacks);
    wanted = Device::cpu;
  }
  QUINTET_CHECK(
      wanted == Device::cpu || lacks.empty(),
      "device: flows cannot stay on devices with {}; expected {}device: cpu", lacks,
      sets_walls(options)
          ? ""
          : "as many ranks as seeds at most, solver.kind: modes (the same equations, solved directly), "
            "or ");
  return context.open_device(wanted);
}

namespace {

DeviceFlowSetup device_setup(const DeviceSession& session, const SimulateOptions& options,
                             const Boussinesq& flow) {
  return shared_flow_setup(flow.problem(), flow.grid(), flow.n_members(), by_transform(options),
                           session.sends_directly(), by_multigrid(options) ? options.solver.tolerance : 0);
}

double bytes_of(const DeviceSession& session, const DeviceFlowSetup& setup) {
  return session.factory("quintet_device_flows_bytes", &quintet_device_flows_bytes)(setup);
}

}  // namespace

double device_bytes(const DeviceSession& session, const SimulateOptions& options, const Boussinesq& flow) {
  return session.is_cpu() ? 0 : bytes_of(session, device_setup(session, options, flow));
}

void move_to(const Context& context, const DeviceSession& session, const SimulateOptions& options,
             Boussinesq& flow) {
  if (session.is_cpu()) return;
  const DeviceFlowSetup setup = device_setup(session, options, flow);  // once: it finds modes
  const double bytes = bytes_of(session, setup);
  if (session.device() == Device::portable) context.require_memory(bytes, "the flows on the device");
  session.require_bytes(bytes, fmt::format("{} of {} x {} cells", counted(setup.n_members, "flow"), setup.n_x,
                                           setup.rows_here()));
  if (setup.n_slabs() > 1)
    log::info("Rows of {} are shared out over the devices of {} ranks", counted(setup.n_members, "flow"),
              setup.n_slabs());
  // The engine's code may be the session's library: a copy of the session goes after it.
  flow.move_to(std::shared_ptr<DeviceFlows>(
      session.factory("quintet_make_device_flows", &quintet_make_device_flows)(setup),
      [session](DeviceFlows* flows) { delete flows; }));
}

double frame_bytes(double cells, int flows) { return 18 * cells * flows; }

std::unique_ptr<Boussinesq> make_flow(const Context& context, const SimulateOptions& options) {
  const Problem problem = make_problem(options);
  Grid grid = make_grid(context.comm(), options);
  const auto& seeds = options.seeds;
  for (const auto seed : seeds)
    QUINTET_CHECK(std::count(seeds.begin(), seeds.end(), seed) == 1,
                  "seeds: {} is there twice; each flow needs its own", seed);
  const double cells = static_cast<double>(grid.rows_here()) * (grid.x.n() + 2 * Field::margin);
  context.require_memory(Boussinesq::bytes(cells, seeds.size()) + bytes_of_writing +
                             frame_bytes(cells, seeds.size()) +
                             (context.comm().size() > 1 ? bytes_of_messages : 0),
                         "the flows and their frames");
  auto solver = make_solver(options, problem, grid);
  auto flow = std::make_unique<Boussinesq>(problem, std::move(grid), std::move(solver),
                                           static_cast<int>(seeds.size()));
  flow->set_walls(segmented_walls(options, flow->grid()).profiles());
  return flow;
}

std::string description(const SimulateOptions& options) {
  const auto wall = [](Wall kind) { return kind == Wall::no_slip ? "no-slip" : "free-slip"; };
  const auto& walls = options.walls;
  const std::string plates = walls.bottom == walls.top
                                 ? fmt::format("{} plates", wall(walls.bottom))
                                 : fmt::format("{} bottom, {} top", wall(walls.bottom), wall(walls.top));
  const char* const sides = walls.sides == Sides::periodic  ? "periodic"
                            : walls.sides == Sides::no_slip ? "no-slip"
                                                            : "free-slip";
  return fmt::format(
      "Ra {:g}, Pr {:g}, {} x {} cells on {:g} x 1, {}, {} sides{}{}", options.rayleigh, options.prandtl,
      options.grid.cells[0], options.grid.cells[1], options.aspect_ratio, plates, sides,
      walls.heated == Heated::sides ? ", heated at the sides" : "",
      walls.segments.empty()
          ? ""
          : fmt::format(", {} set", counted(walls.segments.size(), "segment of walls", "segments of walls")));
}

}  // namespace quintet::meshfreeflow
