#include "apps/meshfreeflow/flow/flow_simulation.hpp"

#include <algorithm>
#include <cmath>

#include "apps/application/life/context.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/spectral/wave_statistics.hpp"

namespace quintet::meshfreeflow::periodic {

using namespace spectral;

namespace {

constexpr const char* group_name = "periodic_flow";
constexpr double round_off = 1e-9;  // of a step: what sums of steps may miss a time by

}  // namespace

FlowSimulation::FlowSimulation(const Context& context, const FlowOptions& options)
    : options_(options), flow_(make_flow(context, options)) {
  if (const auto& file = context.restart_file()) load(context.comm(), *file);
}

std::string FlowSimulation::not_finite() const {
  for (int m = 0; m < flow_->n_members(); ++m)
    for (std::size_t v = 0; v < flow_->variables().size(); ++v)
      if (std::isnan(tail_share(flow_->grid(), flow_->state(m)[v])))
        return fmt::format("{} of the flow of seed {} is not finite", flow_->variables()[v].name,
                           options_.seeds[m]);
  return "";
}

double FlowSimulation::longest_step() const {
  const auto& time = options_.time;
  if (time.speeds.empty()) return *time.dt;
  const double rate = flow_->phase_rate(), most = std::min(time.most_dt, time.dt.value_or(time.most_dt));
  if (std::isnan(rate))
    throw NumericalError(
        fmt::format("step {}, time {:.6g}: time.speeds are not finite; look at their formulas, and at "
                    "those that divide or take roots",
                    step(), flow_->time()));
  const double stable = rate > 0 ? time.cfl / rate : time.most_dt;
  if (stable < options_.limits.shrunk_dt * time.most_dt)
    throw NumericalError(fmt::format(
        "step {}, time {:.6g}: the step that time.cfl admits is {:.4g}, below limits.shrunk_dt = {:g} of "
        "time.most_dt: the flow has blown up; a smaller time.cfl, more cells or more dissipation help",
        step(), flow_->time(), stable, options_.limits.shrunk_dt));
  return std::min(stable, most);
}

double FlowSimulation::next_stop() const {
  const double end = options_.time.end;
  if (!options_.output.frame_interval) return end;
  const double interval = *options_.output.frame_interval;
  const double frame = interval * (std::floor(time() / interval + round_off) + 1);
  return frame > end * (1 - round_off) ? end : frame;
}

void FlowSimulation::advance() {
  constexpr double keeps = 0.8;  // of the longest step: factors of a step need not be made anew
  flow_->begin_step();
  const double longest = longest_step(), stop = next_stop(), left = stop - time();
  const double of_last = last_dt_ > 0 ? left / last_dt_ : 0;
  const bool same = last_dt_ <= longest && last_dt_ > keeps * longest && of_last > 0.5 &&
                    std::abs(of_last - std::round(of_last)) < round_off * of_last;
  // Equal steps to the next stop, so that none is of 1e-16.
  const double n = same ? std::round(of_last) : std::max(std::ceil(left / longest * (1 - round_off)), 1.0);
  if (!same) last_dt_ = left / n;
  flow_->advance(last_dt_, n <= 1 ? stop : time() + last_dt_);
  if (const auto where = not_finite(); !where.empty())
    throw NumericalError(
        fmt::format("step {}, time {:.6g}: {}; a smaller time.cfl or time.dt, more cells or more "
                    "dissipation help",
                    step(), time(), where));
}

bool FlowSimulation::finished() const {
  return (options_.time.steps && step() >= *options_.time.steps) || time() >= options_.time.end * (1 - 1e-12);
}

std::int64_t FlowSimulation::last_step() const {
  if (finished()) return step();
  const double dt = last_dt_ > 0 ? last_dt_ : options_.time.dt.value_or(options_.time.most_dt);
  const std::int64_t n = std::min(std::ceil((options_.time.end - time()) / dt), 1e15);
  const std::int64_t last = step() + std::max<std::int64_t>(n, 1);
  return options_.time.steps ? std::min(last, *options_.time.steps) : last;
}

/// Waves lie as [k_x, k_y, part], so that a rank's columns are one stretch.
void FlowSimulation::save(hdf5::Group& root) const {
  const WaveGrid& grid = flow_->grid();
  hdf5::Group group = root.group(group_name);
  group.set_attribute("time", flow_->time());
  group.set_attribute("step", flow_->step());
  group.set_attribute("last_dt", last_dt_);
  const std::size_t planes = grid.waves_x() + 1, rows = 2 * grid.waves_y() + 1, columns = grid.columns_here();
  for (int m = 0; m < flow_->n_members(); ++m)
    for (std::size_t v = 0; v < flow_->variables().size(); ++v) {
      const Modes& modes = flow_->state(m)[v];
      std::vector<double> values;
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t l = 0; l < rows; ++l) {
          values.push_back(modes.re(l * columns + j));
          values.push_back(modes.im(l * columns + j));
        }
      const auto& name = flow_->variables()[v].name;
      group.write_distributed<double>(
          fmt::format("{}_{}", name, m), values, {planes, rows, 2}, grid.first_column(),
          {"1", {"k_x", "k_y", "part"}, fmt::format("Waves of {}, seed {}", name, options_.seeds[m])});
    }
}

void FlowSimulation::load(const Comm& comm, const std::string& checkpoint) {
  const WaveGrid& grid = flow_->grid();
  const hdf5::File file = hdf5::File::open(comm, checkpoint);
  QUINTET_CHECK(file.root().has(group_name), "{}: is no checkpoint of meshfreeflow flow", checkpoint);
  const hdf5::Group group = file.root().open_group(group_name);
  const std::size_t planes = grid.waves_x() + 1, rows = 2 * grid.waves_y() + 1, columns = grid.columns_here();
  for (int m = 0; m < flow_->n_members(); ++m)
    for (std::size_t v = 0; v < flow_->variables().size(); ++v) {
      const auto dataset = fmt::format("{}_{}", flow_->variables()[v].name, m);
      QUINTET_CHECK(group.has(dataset), "{}: has no variable {}", checkpoint, flow_->variables()[v].name);
      QUINTET_CHECK((group.shape(dataset) == hdf5::Shape{planes, rows, 2}),
                    "{}: {} has other waves than box.cells keep", checkpoint, dataset);
      const auto values = group.read_rows<double>(dataset, grid.first_column(), columns);
      const Modes& modes = flow_->state(m)[v];
      for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t l = 0; l < rows; ++l) {
          modes.re(l * columns + j) = values[2 * (j * rows + l)];
          modes.im(l * columns + j) = values[2 * (j * rows + l) + 1];
        }
    }
  last_dt_ = group.number_attribute("last_dt").at(0);
  flow_->resume(group.number_attribute("time").at(0), group.integer_attribute("step"));
}

}  // namespace quintet::meshfreeflow::periodic
