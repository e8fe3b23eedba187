#include "apps/meshfreeflow/simulate/simulation.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/simulate/start_fields.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr const char* group_name = "convection";
constexpr double round_off = 1e-9;  // of a step: what sums of steps may miss a time by

struct NamedField {
  const char *name, *text;
  Field BoussinesqState::*field;
};
constexpr std::array<NamedField, 4> fields{
    {{"u", "Velocity along x at left faces", &BoussinesqState::u},
     {"w", "Velocity along z at bottom faces", &BoussinesqState::w},
     {"b", "Buoyancy at centres", &BoussinesqState::b},
     {"p", "Pressure of the last stage at centres", &BoussinesqState::p}}};

}  // namespace

std::string trouble_spot(const Boussinesq& flow, const SimulateOptions& options) {
  const Grid& grid = flow.grid();
  std::string here;
  for (int m = 0; m < flow.n_members(); ++m) static_cast<void>(flow.state(m));  // all ranks fetch all
  for (int m = 0; m < flow.n_members() && here.empty(); ++m)
    for (const auto& [name, text, field] : fields) {
      const Field& values = flow.state(m).*field;
      for (int j = 0; j < values.rows && here.empty(); ++j)
        for (int i = 0; i < values.n && here.empty(); ++i)
          if (!std::isfinite(values.row(j)[i]))
            here = fmt::format(
                "{} of the flow of seed {} is not finite in cell ({}, {}) at x = {:.4g}, z = {:.4g}", name,
                options.seeds[m], i, grid.first_row() + j, grid.x.centres[i],
                grid.z.centres[grid.first_row() + j]);
    }
  const auto found = grid.comm().all_gather(here.empty() ? 0 : 1);
  const auto first = std::find(found.begin(), found.end(), 1);
  return first == found.end() ? "" : grid.comm().broadcast(here, static_cast<int>(first - found.begin()));
}

Simulation::Simulation(const Context& context, const SimulateOptions& options)
    : options_(options), flow_(make_flow(context, options)) {
  if (options_.control && options_.control->policy)
    policy_ = std::make_unique<PlayedPolicy>(context, options_, *flow_);
  if (const auto& file = context.restart_file()) {
    load(context.comm(), *file);
    return;
  }
  if (options_.start.fields)
    fill_from_fields(options_, *flow_);
  else
    for (int m = 0; m < flow_->n_members(); ++m)
      fill(flow_->problem(), start_of(options_), options_.seeds[m], *flow_, m);
  flow_->start(Exec());
}

double Simulation::longest_step() const {
  const double rate = flow_->courant_rate(Exec());
  if (!std::isfinite(rate)) {
    const auto place = trouble_spot(*flow_, options_);
    throw NumericalError(fmt::format("step {}, time {:.6g}: {}; a smaller time.cfl or more cells help",
                                     step(), time(),
                                     place.empty() ? "a velocity is out of the range of a double" : place));
  }
  const double stable = rate > 0 ? options_.time.cfl / rate : options_.time.most_dt;
  if (stable < options_.limits.shrunk_dt * options_.time.most_dt)
    throw NumericalError(
        fmt::format("step {}, time {:.6g}: the step that time.cfl admits is {:.4g}, below limits.shrunk_dt = "
                    "{:g} of time.most_dt: the flow has blown up; a smaller time.cfl or more cells help",
                    step(), time(), stable, options_.limits.shrunk_dt));
  return std::min(stable, options_.time.most_dt);
}

double Simulation::next_stop() const {
  const double end = policy_ ? std::min(policy_->next_time(), options_.time.end) : options_.time.end;
  if (!options_.output.frame_interval) return end;
  const double interval = *options_.output.frame_interval;
  const double frame = interval * (std::floor(time() / interval + round_off) + 1);
  return frame > end * (1 - round_off) ? end : frame;
}

void Simulation::advance() {
  if (policy_) policy_->act_if_due(*flow_);
  double dt = longest_step();
  if (options_.time.dt && *options_.time.dt > dt * (1 + 1e-12) && !warned_) {
    log::warning(
        "step {}, time {:.6g}: time.dt = {:.4g} exceeds the limit of time.cfl and time.most_dt, {:.4g}, "
        "which "
        "is taken where it is smaller",
        step(), time(), *options_.time.dt, dt);
    warned_ = true;
  }
  if (options_.time.dt) dt = std::min(dt, *options_.time.dt);
  // Equal steps to the next stop, so that none is of 1e-16.
  const double stop = next_stop(), left = stop - time();
  const double n = std::ceil(left / dt * (1 - round_off));
  last_dt_ = left / std::max(n, 1.0);
  flow_->advance(Exec(), last_dt_, n <= 1 ? stop : time() + last_dt_);
  if (policy_) policy_->add_step(*flow_, last_dt_);
}

bool Simulation::finished() const {
  return (options_.time.steps && step() >= *options_.time.steps) || time() >= options_.time.end * (1 - 1e-12);
}

std::int64_t Simulation::last_step() const {
  if (finished()) return step();
  const double dt = last_dt_ > 0 ? last_dt_ : options_.time.most_dt;
  const std::int64_t n = std::min(std::ceil((options_.time.end - time()) / dt), 1e15);
  const std::int64_t last = step() + std::max<std::int64_t>(n, 1);
  return options_.time.steps ? std::min(last, *options_.time.steps) : last;
}

void Simulation::save(hdf5::Group& root) const {
  const Grid& grid = flow_->grid();
  hdf5::Group group = root.group(group_name);
  group.set_attribute("time", flow_->time());
  group.set_attribute("step", flow_->step());
  group.set_attribute("last_dt", last_dt_);
  if (policy_) policy_->save(root);
  const std::uint64_t members = flow_->n_members();
  const std::size_t n_z = grid.z.n(), n_x = grid.x.n();
  for (std::uint64_t m = 0; m < members; ++m)
    for (const auto& [name, text, field] : fields) {
      const Field& values = flow_->state(m).*field;
      std::vector<double> rows;
      for (int j = 0; j < values.rows; ++j) rows.insert(rows.end(), values.row(j), values.row(j) + values.n);
      group.write_distributed<double>(fmt::format("{}_{}", name, m), rows, {n_z, n_x}, grid.first_row(),
                                      {"1", {"z", "x"}, fmt::format("{}, seed {}", text, options_.seeds[m])});
    }
}

void Simulation::load(const Comm& comm, const std::string& checkpoint) {
  const Grid& grid = flow_->grid();
  const hdf5::File file = hdf5::File::open(comm, checkpoint);
  QUINTET_CHECK(file.root().has(group_name), "{}: is no checkpoint of meshfreeflow simulate", checkpoint);
  const hdf5::Group group = file.root().open_group(group_name);
  const std::size_t n_z = grid.z.n(), n_x = grid.x.n();
  for (int m = 0; m < flow_->n_members(); ++m)
    for (const auto& [name, text, field] : fields) {
      const auto dataset = fmt::format("{}_{}", name, m);
      QUINTET_CHECK((group.shape(dataset) == hdf5::Shape{n_z, n_x}),
                    "{}: {} has another shape than grid.cells", checkpoint, dataset);
      const auto rows = group.read_rows<double>(dataset, grid.first_row(), grid.rows_here());
      const Field& values = flow_->state(m).*field;
      for (int j = 0; j < values.rows; ++j)
        std::copy_n(rows.data() + std::int64_t{j} * values.n, values.n, values.row(j));
    }
  last_dt_ = group.number_attribute("last_dt").at(0);
  flow_->resume(group.number_attribute("time").at(0), group.integer_attribute("step"));
  if (policy_) policy_->load(file, *flow_);
}

}  // namespace quintet::meshfreeflow
