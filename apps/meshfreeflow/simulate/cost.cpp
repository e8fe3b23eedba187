#include "apps/meshfreeflow/simulate/cost.hpp"

#include <algorithm>
#include <cmath>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"
#include "apps/meshfreeflow/simulate/start_fields.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "physics/convection/slab_needs.hpp"
#include "physics/convection/statistics.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

/// Times of some rows of the input, on this rank.
struct Timing {
  double cells = 0;    ///< of all flows
  double seconds = 0;  ///< of a step, with its share of samples
  StepTimes steps{};
  double dt = 0;
  double device_bytes = 0;
};

Timing time_rows(const Context& context, const DeviceSession& device, SimulateOptions options,
                 std::int64_t rows, std::size_t flows) {
  const double of_run = std::min(std::ceil(options.time.end / options.time.dt.value_or(options.time.most_dt)),
                                 double(options.time.steps.value_or(1LL << 50)));
  options.grid.cells[1] = rows;
  options.seeds.resize(flows);
  options.time.end *= 1000;
  options.time.steps.reset();
  options.output.frame_interval.reset();
  if (options.control) options.control->policy.reset();  // some thousand products an action
  Simulation simulation(context, options);
  move_to(context, device, options, simulation.flow());
  Timing timing{.cells = double(options.grid.cells[0]) * double(rows) * double(flows)};
  timing.steps = time_steps([&] { simulation.advance(); }, 0.5, 5, 1000, of_run);
  timing.dt = simulation.last_dt();
  timing.device_bytes = device_bytes(device, options, simulation.flow());
  // On a device those of a state are found once, of all flows together: they are timed with a step before.
  const auto sampled = time_steps(
      [&] {
        simulation.advance();
        for (int m = 0; m < simulation.flow().n_members(); ++m) (void)sample(Exec(), simulation.flow(), m);
      },
      0.1, 2, 20, of_run);
  const double samples = std::max(0.0, sampled.median - timing.steps.median);
  timing.seconds = timing.steps.median + samples / double(options.history_interval);
  return timing;
}

/// Estimate a rank's memory, with libraries (bytes); HDF5, pictures and the report take less than elsewhere.
double memory_of_rank(double base, const SlabNeeds& needs, int flows, int p) {
  return base + 0.5 * bytes_of_files + (p > 1 ? bytes_of_messages : 0) + needs.bytes +
         frame_bytes(needs.cells, flows);
}

/// Ranks that share flows out, whole ones or slabs on the device of each. A step sends what slabs need, and
/// Courant's rate.
planning::StepCost device_row(const SimulateOptions& options, const DeviceSession& device,
                              planning::StepCost row, double base) {
  const auto n_x = options.grid.cells[0], n_z = options.grid.cells[1];
  const int flows = options.seeds.size(), p = row.ranks;
  const FlowShares shares = flow_shares(p, flows);
  const int members = shares.members_on(0);
  row.decomposition = fmt::format("{} each{}", counted(members, "flow"),
                                  shares.n_slabs > 1 ? fmt::format(", {} slabs", shares.n_slabs) : "");
  if (by_multigrid(options) && shares.n_slabs > 1)
    row.impossible = "multigrid takes whole flows on a device";
  else if (device.device() == Device::gpu && p > device.count())
    row.impossible = fmt::format("not known: {} ranks on {}", p, counted(device.count(), "GPU"));
  if (!row.impossible.empty()) return row;
  const SlabNeeds needs = device_slab_needs(n_x, n_z, members, shares.n_slabs);
  row.work = needs.cells * members;
  row.memory = memory_of_rank(base, slab_needs(n_x, n_z, flows, p), flows, p);
  if (p == 1) return row;
  row.halo = {needs.messages, needs.bytes_sent};
  row.sums = {needs.sums, needs.bytes_summed};
  if (by_multigrid(options)) {  // whether all have converged
    row.sums.messages += 1;
    row.sums.bytes += sizeof(double);
  }
  return row;
}

planning::StepCost row_of(const SimulateOptions& options, const DeviceSession& device, int p, double base) {
  const auto n_x = options.grid.cells[0], n_z = options.grid.cells[1];
  const int flows = options.seeds.size();
  planning::StepCost row{.ranks = p, .decomposition = counted(p, "slab")};
  if (p > n_z)
    row.impossible = fmt::format("{} ranks share {} rows of cells; one at most has each", p, n_z);
  else if (device.is_cpu() && by_multigrid(options) && p > 1)
    row.impossible = "not known: what multigrid sends";
  if (!device.is_cpu()) return device_row(options, device, row, base);
  if (!row.impossible.empty()) return row;
  const SlabNeeds needs = slab_needs(n_x, n_z, flows, p);
  row.work = needs.cells * flows;
  row.memory = memory_of_rank(base, needs, flows, p);
  if (p == 1) return row;
  row.halo = {needs.messages, needs.bytes_sent};
  row.sums = {needs.sums, needs.bytes_summed};
  return row;
}

}  // namespace

planning::CostModel cost(Context& context, const SimulateOptions& given, const std::vector<int>& ranks) {
  const SimulateOptions options = with_start_fields(given);
  QUINTET_CHECK(context.comm().size() == 1, "steps are timed on one rank, but {} were started",
                context.comm().size());
  const DeviceSession device = open_device(context, options);
  const double base = 1e6 * peak_memory_mb();
  const double cells = double(options.grid.cells[0]) * double(options.grid.cells[1]);
  const auto flows = options.seeds.size();
  constexpr double most_cells = 1e6;
  const auto timed = std::clamp<std::size_t>(static_cast<std::size_t>(most_cells / cells), 1, flows);
  const Timing large = time_rows(context, device, options, options.grid.cells[1], timed),
               small = time_rows(context, device, options,
                                 std::max<std::int64_t>(4, options.grid.cells[1] / 2), timed);

  planning::CostModel model{.what = fmt::format("{}, {}", description(options), counted(flows, "flow")),
                            .unit = "cell",
                            .work = cells * double(flows),
                            .engine = {device.description(), device.device() == Device::gpu}};
  model.rate = planning::rate_of(small.cells, small.seconds, large.cells, large.seconds);
  model.rate.floor *= double(flows) / double(timed);
  model.rate.spread = large.steps.spread;
  model.rate.timed = fmt::format("{} of {} and {} of half their rows", counted(large.steps.n, "step"),
                                 counted(timed, "flow"), small.steps.n);
  const double steps = std::ceil(options.time.end / large.dt);
  model.steps = options.time.steps ? std::min(steps, double(*options.time.steps)) : steps;
  const auto& interval = options.output.frame_interval;
  // Without an interval: at the start and at the end.
  const double frames =
      interval ? 1 + std::floor(std::max(0.0, options.time.end - options.output.from) / *interval) : 2;
  model.output = frames * double(flows) * cells * 4 * 8;
  model.checkpoint = double(flows) * cells * 4 * 8;
  for (const int p : ranks) {
    auto& row = model.rows.emplace_back(row_of(options, device, p, base));
    // A GPU's memory is not the host's.
    if (device.device() == Device::portable) row.memory += large.device_bytes * row.work / large.cells;
  }
  return model;
}

}  // namespace quintet::meshfreeflow
