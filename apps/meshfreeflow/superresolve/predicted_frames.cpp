#include "apps/meshfreeflow/superresolve/predicted_frames.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "apps/meshfreeflow/setup/flow_picture.hpp"
#include "apps/meshfreeflow/superresolve/precision_report.hpp"
#include "io/fields/field_series.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/evaluation/axis_rules.hpp"

namespace quintet::meshfreeflow {
namespace {

/// This rank's rows of the slower axis of space.
struct Rows {
  int first, count;
  Rows(const Comm& comm, int n) {
    first = std::int64_t{n} * comm.rank() / comm.size();
    count = static_cast<int>(std::int64_t{n} * (comm.rank() + 1) / comm.size()) - first;
  }
};

/// Whether a field has a mean that single precision does not hold.
bool has_offsets(const flow::FlowModelHeader& model) {
  return std::any_of(model.fields.begin(), model.fields.end(),
                     [](const auto& field) { return field.offset != 0; });
}

FieldSeriesHeader series_header(const flow::FlowPredictor& predictor, bool with_bars,
                                const flow::BlockAxes& grid,
                                const std::map<std::string, double>& parameters) {
  const auto& model = predictor.header();
  FieldSeriesHeader header;
  header.name = "super_resolved";
  for (std::size_t i = 1; i < 3; ++i)
    header.axes.push_back(field_axis(grid[i], model.axes[i].name, model.axes[i].units));
  header.time_units = model.axes[0].units;
  header.parameters = parameters;
  header.double_precision = has_offsets(model);
  for (const auto& field : model.fields)
    header.fields.push_back({field.name, field.units, "Predicted by the model", "", -1});
  for (const auto& name : predictor.equation_names())
    header.fields.push_back(
        {residual_name(name), "1", "Residual of the equation " + name + ": an error indicator", "", -1});
  for (std::size_t f = 0; with_bars && f < model.fields.size(); ++f)
    header.fields.push_back({error_bar_name(model.fields[f].name), model.fields[f].units,
                             "Error bar of " + model.fields[f].name + ", by an ensemble", "", -1});
  return header;
}

/// Points of this rank's rows at a time, [row][x][axis].
std::vector<double> points_of(const flow::BlockAxes& grid, const Rows& rows, double time) {
  std::vector<double> points;
  points.reserve(rows.count * grid[2].coordinates.size() * 3);
  for (int row = rows.first; row < rows.first + rows.count; ++row)
    for (const double x : grid[2].coordinates)
      points.insert(points.end(), {time, grid[1].coordinates[row], x});
  return points;
}

/// Column k of [point][n], and what the model's field is without.
template <class Real>
std::vector<Real> column_of(const std::vector<float>& values, std::size_t n, std::size_t k,
                            double offset = 0) {
  std::vector<Real> column;
  for (std::size_t i = k; i < values.size(); i += n) column.push_back(offset + double{values[i]});
  return column;
}

template <class Real>
void add_pictures(Context& context, const FieldSeriesHeader& header, double time,
                  const std::vector<std::vector<Real>>& columns) {
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto whole = context.comm().gather(std::span<const Real>(columns[k]));
    if (!context.comm().is_root()) continue;
    const std::vector<double> values(whole.begin(), whole.end());
    const auto& name = header.fields[k].name;
    context.report().heatmap(
        flow_picture(fmt::format("{} at time {:.4g}", name, time), name, header.axes, values));
  }
}

}  // namespace

std::string residual_name(const std::string& equation) { return "residual_" + equation; }
std::string error_bar_name(const std::string& field) { return "error_bar_" + field; }

double frame_bytes(const Comm& comm, const flow::BlockAxes& grid, int n_columns) {
  const double rows = std::ceil(static_cast<double>(grid[1].size()) / comm.size());
  return rows * grid[2].size() * (3 * 8.0 + 2 * 4.0 * n_columns + 16);
}

namespace {

/// Real: of the values in the file.
template <class Real>
void predict_as(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                const flow::BlockAxes& grid, const std::map<std::string, double>& parameters) {
  const auto header = series_header(predictor, bars != nullptr, grid, parameters);
  const auto path = context.path(frames_file);
  auto writer = FieldSeriesWriter::create(context.comm(), path, header, context.provenance());
  const Rows rows(context.comm(), grid[1].size());
  const std::size_t n_x = grid[2].size(), n_rows = rows.count;
  const hdf5::Box box{{static_cast<std::uint64_t>(rows.first), 0}, {n_rows, n_x}};
  const auto z_weights = flow::mean_weights(header.axes[0]), x_weights = flow::mean_weights(header.axes[1]);
  const std::size_t n_fields = predictor.header().fields.size(),
                    n_equations = predictor.equation_names().size(), n_bars = bars == nullptr ? 0 : n_fields;
  std::vector<double> squares(n_equations + n_bars, 0);  // of residuals and bars
  std::vector<float> values(n_rows * n_x * n_fields), residuals(n_rows * n_x * n_equations),
      bar_values(n_rows * n_x * n_bars);
  const std::int64_t n_frames = grid[0].size();
  std::int64_t done = 0;
  const auto start = std::chrono::steady_clock::now();
  context.report().section("Fields");
  for (const std::int64_t frame : context.steps(0, n_frames - 1)) {
    const double time = grid[0].coordinates[frame];
    try {
      const auto timer = context.phase("predict");
      together(context.comm(), [&] {
        const auto points = points_of(grid, rows, time);
        predictor.predict(points, values, residuals);
        if (bars != nullptr) bars->predict(points, values, bar_values);
      });
    } catch (const Interrupted&) {
      context.stop_within_step();
      break;  // the frames before this one stay
    }
    std::vector<std::vector<Real>> columns;
    for (std::size_t f = 0; f < n_fields; ++f)
      columns.push_back(column_of<Real>(values, n_fields, f, predictor.header().fields[f].offset));
    for (std::size_t k = 0; k < n_equations + n_bars; ++k) {
      columns.push_back(k < n_equations ? column_of<Real>(residuals, n_equations, k)
                                        : column_of<Real>(bar_values, n_bars, k - n_equations));
      for (std::size_t i = 0; i < n_rows * n_x; ++i)
        squares[k] +=
            z_weights[rows.first + i / n_x] * x_weights[i % n_x] * columns.back()[i] * columns.back()[i];
    }
    const auto timer = context.phase("write");
    std::vector<std::span<const Real>> parts(columns.begin(), columns.end());
    writer.append<Real>(0, time, parts, box);
    if (frame == n_frames / 2) add_pictures(context, header, time, columns);
    ++done;
  }
  writer.close();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto file = hdf5::File::open_for_update(context.comm(), path);
  if (!predictor.doubts().empty()) file.root().set_attribute("outside_training", predictor.doubts());
  tell_precision(context, predictor, file.root());
  file.close();

  for (std::size_t k = 0; k < n_equations + n_bars; ++k) {
    const double rms = std::sqrt(context.comm().sum(squares[k]) / (std::max<std::int64_t>(done, 1)));
    const bool is_residual = k < n_equations;
    const auto name = is_residual ? predictor.equation_names()[k] : header.fields[k - n_equations].name;
    context.summarise("rms_" + (is_residual ? residual_name(name) : error_bar_name(name)), rms,
                      is_residual ? "rms residual of the equation over space and frames"
                                  : "rms error bar of the field over space and frames");
    context.headline(is_residual ? "residual of " + name : "error bar of " + name,
                     fmt::format("{:.3g}", rms));
  }
  const double n_points = static_cast<double>(done) * grid[1].size() * grid[2].size();
  context.summarise("frames", done);
  context.summarise("points", static_cast<std::int64_t>(n_points));
  context.summarise("microseconds_per_point", seconds / std::max(n_points, 1.0) * 1e6 * context.comm().size(),
                    "wall time times ranks, files included");
  context.headline("points", fmt::format("{:.4g}", n_points));
  log::info("{} of {} x {} points: {}", counted(done, "frame"), grid[1].size(), grid[2].size(), path);
}

}  // namespace

void predict_frames(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                    const flow::BlockAxes& grid, const std::map<std::string, double>& parameters) {
  if (has_offsets(predictor.header()))
    predict_as<double>(context, predictor, bars, grid, parameters);
  else
    predict_as<float>(context, predictor, bars, grid, parameters);
}

}  // namespace quintet::meshfreeflow
