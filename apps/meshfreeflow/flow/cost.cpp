#include "apps/meshfreeflow/flow/cost.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "apps/meshfreeflow/flow/flow_frames.hpp"
#include "apps/meshfreeflow/flow/flow_simulation.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet::meshfreeflow::periodic {

namespace {

/// The same flow without an end or frames, which would cut its steps.
FlowOptions endless(FlowOptions options) {
  options.time.end *= 1000;
  options.time.steps.reset();
  options.output.frame_interval.reset();
  return options;
}

planning::StepCost plan_row(const FlowOptions& options, const spectral::PeriodicFlow& flow, int p,
                            double base) {
  planning::StepCost row{.ranks = p, .decomposition = counted(p, "slab")};
  const int most = most_ranks(options), n_rows = flow.box().n_y;
  if (p > most) {
    row.impossible = fmt::format("{} ranks; {} waves along x and {} rows of cells are for {}", p,
                                 flow.grid().waves_x() + 1, n_rows, most);
    return row;
  }
  row.work = static_cast<double>((n_rows + p - 1) / p) * flow.box().n_x * flow.n_members();
  row.memory = base + 0.5 * bytes_of_files + bytes_of_rank(options, p);
  const auto traffic = flow.traffic(p);
  row.halo = {traffic.messages, traffic.bytes};
  // Beside the flow's own: whether each variable of each flow is finite.
  const double sums = traffic.sums + static_cast<double>(flow.n_members()) * flow.variables().size();
  if (p > 1) row.sums = {sums, sizeof(double) * sums};
  return row;
}

}  // namespace

planning::CostModel cost(Context& context, const FlowOptions& options, const std::vector<int>& ranks) {
  QUINTET_CHECK(context.comm().size() == 1, "steps are timed on one rank, but {} were started",
                context.comm().size());
  const double base = 1e6 * peak_memory_mb();
  FlowSimulation simulation(context, endless(options));
  const double of_run = std::min(std::ceil(options.time.end / options.time.dt.value_or(options.time.most_dt)),
                                 double(options.time.steps.value_or(1LL << 50)));
  const auto times = time_steps([&] { simulation.advance(); }, 0.5, 5, 1000, of_run);
  const auto& flow = simulation.flow();
  const double cells = static_cast<double>(flow.box().n_x) * flow.box().n_y, n_flows = flow.n_members();
  planning::CostModel model{
      .what = fmt::format("{}, {}", description(options, flow), counted(flow.n_members(), "flow")),
      .unit = "cell",
      .work = cells * n_flows};
  model.rate = {.floor = 0,
                .per_unit = times.median / model.work,
                .spread = times.spread,
                .timed = counted(times.n, "step")};
  const double steps = std::ceil(options.time.end / simulation.last_dt());
  model.steps = options.time.steps ? std::min<double>(steps, *options.time.steps) : steps;
  const auto& interval = options.output.frame_interval;
  // Without an interval: at the start and at the end.
  const double frames =
      interval ? 1 + std::floor(std::max(0.0, options.time.end - options.output.from) / *interval) : 2;
  model.output = frames * n_flows * cells * FlowFrames::fields(simulation).size() *
                 (options.output.double_precision ? sizeof(double) : sizeof(float));
  const auto& grid = flow.grid();
  model.checkpoint = n_flows * flow.variables().size() * 2 * sizeof(double) * (grid.waves_x() + 1.0) *
                     (2 * grid.waves_y() + 1.0);
  for (const int p : ranks) model.rows.push_back(plan_row(options, flow, p, base));
  return model;
}

}  // namespace quintet::meshfreeflow::periodic
