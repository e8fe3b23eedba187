#include "apps/meshfreeflow/flow/flow_frames.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow::periodic {

using namespace spectral;

namespace {

constexpr double frame_round_off = 1e-9;
constexpr const char* file_name = "fields.h5";
constexpr int most_pixels = 512;  // of an edge: finer is not seen

FieldAxis axis_of(const char* name, int n, double length) {
  FieldAxis axis{name, "1", {}, true, 0, length};
  for (int i = 0; i < n; ++i) axis.coordinates.push_back(length * i / n);
  return axis;
}

FieldSeriesHeader header_of(const FlowSimulation& simulation) {
  const PeriodicFlow& flow = simulation.flow();
  FieldSeriesHeader header;
  header.name = "periodic_flow";
  header.axes = {axis_of("y", flow.box().n_y, flow.box().length_y),
                 axis_of("x", flow.box().n_x, flow.box().length_x)};
  const FlowEquations equations = flow.reader().equations();
  for (const auto& name : FlowFrames::fields(simulation)) {
    std::string text = "A variable";
    for (const auto& row : equations.diagnosed)
      if (row.name == name) text = row.text;
    header.fields.push_back({name, "1", text, "", -1});
  }
  header.parameters = equations.parameters;
  header.n_samples = simulation.options().seeds.size();
  header.seeds = simulation.options().seeds;
  header.double_precision = simulation.options().output.double_precision;
  return header;
}

/// The frames that belong to the run so far: those that its checkpoint counts, or up to its time, and whole.
std::uint64_t frames_to_keep(const Context& context, const FieldSeriesWriter& writer,
                             const FlowSimulation& simulation) {
  const auto& times = writer.times();
  std::uint64_t kept =
      std::upper_bound(times.begin(), times.end(), simulation.time() * (1 + frame_round_off)) - times.begin();
  for (std::uint64_t sample = 0; sample < simulation.options().seeds.size(); ++sample)
    kept = std::min(kept, writer.n_frames(sample));
  return std::min(kept, context.recorded_rows(file_name).value_or(kept));
}

FieldSeriesWriter open_writer(Context& context, const FlowSimulation& simulation) {
  const auto path = context.path(file_name);
  if (!goes_on_with(context, file_name))
    return FieldSeriesWriter::create(context.comm(), path, header_of(simulation), context.provenance());
  auto writer = FieldSeriesWriter::reopen(context.comm(), path, header_of(simulation));
  if (!writer.altered().empty())
    context.lose(file_name, fmt::format("{}: damaged, and kept as it is", writer.altered()));
  writer.truncate(frames_to_keep(context, writer, simulation));
  return writer;
}

}  // namespace

CellFields::CellFields(const FlowSimulation& simulation, const std::vector<std::string>& names,
                       const std::string& key)
    : cells_(cell_grid(simulation.flow().grid().comm(), simulation.flow().box())),
      waves_(cells_.make_modes()),
      n_fields_(names.size()) {
  FlowReader reader = simulation.flow().reader();
  std::vector<FlowValue> outputs;
  for (const auto& name : names) outputs.push_back(reader.named(name, key));
  machine_ = std::make_unique<FlowMachine>(simulation.flow().grid(), reader.program(), std::move(outputs));
}

std::vector<std::vector<double>> CellFields::values(const FlowSimulation& simulation, int member) {
  machine_->run(simulation.flow().state(member), simulation.time());
  std::vector<std::vector<double>> all;
  for (int i = 0; i < n_fields_; ++i) {
    machine_->to_modes(i, waves_);
    all.emplace_back(cells_.n_points());
    cells_.to_points(waves_, all.back().data());
  }
  return all;
}

std::vector<std::string> FlowFrames::fields(const FlowSimulation& simulation) {
  const auto& asked = simulation.options().output.fields;
  for (const auto& name : asked)
    QUINTET_CHECK(std::count(asked.begin(), asked.end(), name) == 1,
                  "output.fields: '{}' is there twice; name each field once", name);
  return asked.empty() ? simulation.flow().reader().field_names() : asked;
}

FlowFrames::FlowFrames(Context& context, const FlowSimulation& simulation, CellFields fields)
    : interval_(simulation.options().output.frame_interval.value_or(0)),
      from_(simulation.options().output.from),
      fields_(std::move(fields)),
      writer_(open_writer(context, simulation)),
      count_(context, file_name, writer_.times().size()) {}

Schedule FlowFrames::schedule() const {
  if (interval_ <= 0) return at_start() | at_end();
  return Schedule([interval = interval_, from = from_](const Instant& now) {
    if (now.time < from * (1 - frame_round_off)) return false;
    if (now.start) return true;
    return std::floor(now.time / interval + frame_round_off) >
           std::floor(now.time_before / interval + frame_round_off);
  });
}

void FlowFrames::write(const FlowSimulation& simulation) {
  const double time = simulation.time();
  if (!writer_.times().empty() && writer_.times().back() >= time) return;
  const WaveGrid& cells = fields_.cells();
  const hdf5::Box box{
      {static_cast<std::uint64_t>(cells.first_row()), 0},
      {static_cast<std::uint64_t>(cells.rows_here()), static_cast<std::uint64_t>(cells.n_x())}};
  for (int m = 0; m < simulation.flow().n_members(); ++m) {
    const auto values = fields_.values(simulation, m);
    writer_.append<double>(static_cast<std::uint64_t>(m), time, {values.begin(), values.end()}, box);
  }
  count_.set(writer_.times().size());
}

std::string FlowPictures::field(const FlowSimulation& simulation) {
  const auto& asked = simulation.options().picture;
  return asked.empty() ? simulation.flow().variables().front().name : asked;
}

FlowPictures::FlowPictures(Context& context, const FlowSimulation& simulation, CellFields field)
    : group_(context.results().root().group("report")),
      field_(std::move(field)),
      name_(FlowPictures::field(simulation)),
      middle_(0.5 * simulation.options().time.end),
      every_x_((field_.cells().n_x() + most_pixels - 1) / most_pixels),
      every_y_((field_.cells().n_y() + most_pixels - 1) / most_pixels),
      n_x_((field_.cells().n_x() + every_x_ - 1) / every_x_),
      n_y_((field_.cells().n_y() + every_y_ - 1) / every_y_) {
  if (!context.restart_file()) return;
  for (const auto& name : group_.names()) {
    const hdf5::Group group = group_.open_group(name);
    const double time = group.number_attribute("time").at(0);
    if (time <= simulation.time())
      pictures_.push_back({time, group.read<double>("values", {static_cast<std::uint64_t>(n_y_),
                                                               static_cast<std::uint64_t>(n_x_)})});
  }
}

Schedule FlowPictures::schedule() const { return at_start() | at_time(middle_) | at_end(); }

void FlowPictures::take(const FlowSimulation& simulation, const Instant& now) {
  const auto rows = field_.values(simulation, 0).front();
  const Comm& comm = field_.cells().comm();
  const auto all = comm.gather(std::span<const double>(rows));
  Picture picture{simulation.time(), std::vector<double>(std::int64_t{n_x_} * n_y_)};
  if (comm.is_root()) {
    std::size_t pixel = 0;
    for (int j = 0; j < field_.cells().n_y(); j += every_y_)
      for (int i = 0; i < field_.cells().n_x(); i += every_x_)
        picture.values[pixel++] = all[std::int64_t{j} * field_.cells().n_x() + i];
  }
  std::erase_if(pictures_, [&](const auto& p) { return p.time >= picture.time; });
  hdf5::Group group = group_.group(now.start ? "0" : now.end ? "2" : "1");
  group.write<double>("values", picture.values,
                      {static_cast<std::uint64_t>(n_y_), static_cast<std::uint64_t>(n_x_)},
                      {"1", {"y", "x"}, name_ + " of the first flow, on equal pixels"});
  group.set_attribute("time", picture.time);
  pictures_.push_back(std::move(picture));
}

void FlowPictures::report(Context& context, const FlowSimulation& simulation) const {
  context.report().section("Flow");
  // The end first: it is what the run was for, and what an index of runs shows.
  for (const auto& picture : std::views::reverse(pictures_)) {
    Heatmap map;
    map.title = fmt::format("{} at time {:.4g}", name_, picture.time);
    map.x_label = "x";
    map.y_label = "y";
    map.value_label = name_;
    map.values = picture.values;
    map.n_x = n_x_, map.n_y = n_y_;
    map.x_min = 0, map.x_max = simulation.flow().box().length_x;
    map.y_min = 0, map.y_max = simulation.flow().box().length_y;
    map.about_zero = *std::min_element(map.values.begin(), map.values.end()) < 0;
    context.report().heatmap(map);
  }
}

}  // namespace quintet::meshfreeflow::periodic
