#include "apps/meshfreeflow/superresolve/predicted_frames.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "apps/meshfreeflow/setup/flow_picture.hpp"
#include "apps/meshfreeflow/superresolve/precision_report.hpp"
#include "apps/meshfreeflow/superresolve/truth_errors.hpp"
#include "io/fields/field_series.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/log/rounded_up.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/evaluation/axis_rules.hpp"

namespace quintet::meshfreeflow {
namespace {

/// Whether a field has a mean that single precision does not hold.
bool has_offsets(const flow::FlowModelHeader& model) {
  return std::any_of(model.fields.begin(), model.fields.end(),
                     [](const auto& field) { return field.offset != 0; });
}

FieldSeriesHeader series_header(const flow::FlowPredictor& predictor, bool with_bars,
                                const OutputFrames& frames, const std::map<std::string, double>& parameters) {
  const auto& model = predictor.header();
  FieldSeriesHeader header;
  header.name = "super_resolved";
  for (std::size_t i = frames.first_space(); i < 3; ++i)
    header.axes.push_back(field_axis(frames.grid[i], model.axes[i].name, model.axes[i].units));
  header.time_units = frames.volumes == nullptr ? model.axes[0].units : frames.volumes->time_units();
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

/// Column k of [point][n], and what the model's field is without.
template <class Real>
std::vector<Real> column_of(const std::vector<float>& values, std::size_t n, std::size_t k,
                            double offset = 0) {
  std::vector<Real> column;
  for (std::size_t i = k; i < values.size(); i += n) column.push_back(offset + double{values[i]});
  return column;
}

/// A picture of each field: [field] of a frame, or of its middle row, where ranks have parts of it.
template <class Real>
void add_pictures(Context& context, const FieldSeriesHeader& header, double time,
                  const std::vector<std::vector<Real>>& parts) {
  const std::vector<FieldAxis> axes(header.axes.end() - 2, header.axes.end());
  const auto where = header.axes.size() == 2 ? "" : fmt::format(", middle of {}", header.axes[0].name);
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto whole = context.comm().gather(std::span<const Real>(parts[k]));
    if (!context.comm().is_root()) continue;
    const std::vector<double> values(whole.begin(), whole.end());
    const auto& name = header.fields[k].name;
    context.report().heatmap(
        flow_picture(fmt::format("{} at time {:.4g}{}", name, time, where), name, axes, values));
  }
}

/// Table and summary of errors where the truth is known. Collective.
void report_errors(Context& context, TruthErrors& errors, const FieldSeriesHeader& header) {
  errors.combine(context.comm());
  std::vector<std::vector<std::string>> rows;
  for (std::size_t f = 0; f < errors.n_fields(); ++f) {
    const auto& name = header.fields[f].name;
    const double model = errors.model(f), linear = errors.linear(f);
    rows.push_back({name, fmt::format("{:.3g}", errors.deviation(f)), fmt::format("{:.4f}", linear),
                    fmt::format("{:.4f}", model)});
    if (errors.deviation(f) == 0) continue;  // nothing to compare with
    context.summarise("error_" + name, model, "rms error over the deviation of the truth");
    context.summarise("interpolation_error_" + name, linear, "the same of linear interpolation");
    log::info("error of {}: {:.4f}, of linear interpolation {:.4f} (of its deviation)", name, model, linear);
  }
  context.report().table({"field", "deviation of the truth", "linear interpolation", "the model"}, rows,
                         "Root mean square errors over the deviation of the truth: the file as it was "
                         "before low_resolution made it coarser.");
}

}  // namespace

RankRows::RankRows(const Comm& comm, int n)
    : first(static_cast<int>(std::int64_t{n} * comm.rank() / comm.size())),
      count(static_cast<int>(std::int64_t{n} * (comm.rank() + 1) / comm.size()) - first) {}

std::string residual_name(const std::string& equation) { return "residual_" + equation; }
std::string error_bar_name(const std::string& field) { return "error_bar_" + field; }

const std::vector<double>& OutputFrames::times() const {
  return volumes == nullptr ? grid[0].coordinates : volumes->times();
}
std::vector<double> OutputFrames::points(int first, int count, double time) const {
  std::vector<double> points;
  for (int row = first; row < first + count; ++row)
    if (volumes == nullptr)
      for (const double x : grid[2].coordinates)
        points.insert(points.end(), {time, grid[1].coordinates[row], x});
    else
      for (const double y : grid[1].coordinates)
        for (const double x : grid[2].coordinates)
          points.insert(points.end(), {grid[0].coordinates[row], y, x});
  return points;
}
void OutputFrames::choose_rows(const Comm& comm, double max_memory, double least, int n_columns) {
  const double row = bytes(1, n_columns), left = max_memory - least;
  QUINTET_CHECK(left >= row,
                "max_memory of {:.4g} GB is too little for these volumes; the least that works is {} GB",
                1e-9 * max_memory, rounded_up((least + row) * 1e-9));
  rows_at_a_time = static_cast<int>(std::clamp(left / 2 / row, 1.0, double(most_rows(comm))));
}
int OutputFrames::most_rows(const Comm& comm) const {
  return (rows().size() + comm.size() - 1) / comm.size();
}
double OutputFrames::bytes(int n_rows, int n_columns) const {
  const double points = (volumes == nullptr ? 1.0 : grid[1].size()) * grid[2].size();
  return n_rows * points * (3 * 8.0 + 2 * 4.0 * n_columns + 16);
}
bool OutputFrames::has_truth() const {
  if (volumes == nullptr || !volumes->is_truth()) return false;
  for (std::size_t d = 0; d < 3; ++d) {
    const auto &ours = grid[d].coordinates, &theirs = volumes->axes()[d].coordinates;
    const double slack = 1e-6 * (grid[d].upper - grid[d].lower) / std::max<double>(1, theirs.size());
    if (!std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end(),
                    [&](double a, double b) { return std::abs(a - b) <= slack; }))
      return false;
  }
  return true;
}

namespace {

/// Weight of each point of a row in means over space, [point], and of each row.
struct MeanWeights {
  std::vector<double> rows, points{1};

  explicit MeanWeights(const std::vector<FieldAxis>& axes) : rows(flow::mean_weights(axes[0])) {
    for (std::size_t d = 1; d < axes.size(); ++d) {
      const auto before = std::exchange(points, {});
      for (const double outer : before)
        for (const double inner : flow::mean_weights(axes[d])) points.push_back(outer * inner);
    }
  }
};

/// The residuals and bars of all frames, in words and numbers. Collective.
void report_squares(Context& context, const flow::FlowPredictor& predictor, const FieldSeriesHeader& header,
                    const std::vector<double>& squares, std::int64_t n_frames) {
  const auto equations = predictor.equation_names();
  for (std::size_t k = 0; k < squares.size(); ++k) {
    const double rms =
        std::sqrt(context.comm().sum(squares[k]) / static_cast<double>(std::max<std::int64_t>(n_frames, 1)));
    const bool is_residual = k < equations.size();
    const auto name = is_residual ? equations[k] : header.fields[k - equations.size()].name;
    context.summarise("rms_" + (is_residual ? residual_name(name) : error_bar_name(name)), rms,
                      is_residual ? "rms residual of the equation over space and frames"
                                  : "rms error bar of the field over space and frames");
    context.headline(is_residual ? "residual of " + name : "error bar of " + name,
                     fmt::format("{:.3g}", rms));
  }
}

/// The coarse values of a frame. Where they cannot be read, the file is closed with the frames before.
flow::FieldBlock read_frame(const OutputFrames& frames, std::int64_t frame, FieldSeriesWriter& writer,
                            std::int64_t n_done, const std::string& path) {
  try {
    return frames.volumes->coarse(frame);
  } catch (const Error&) {
    writer.close();
    log::warning("{} has the {} before the one that cannot be read", path, counted(n_done, "frame"));
    throw;
  }
}

/// Real: of the values in the file. Long: a frame is read, predicted in slabs, written and looked at here.
template <class Real>
void predict_as(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                const OutputFrames& frames, const std::map<std::string, double>& parameters) {
  const Comm& comm = context.comm();
  const auto header = series_header(predictor, bars != nullptr, frames, parameters);
  const auto path = context.path(frames_file);
  auto writer = FieldSeriesWriter::create(comm, path, header, context.provenance());
  const RankRows own(comm, frames.rows().size());
  const MeanWeights weights(header.axes);
  const std::size_t n_fields = predictor.header().fields.size(), n_row = weights.points.size(),
                    n_equations = predictor.equation_names().size(), n_bars = bars == nullptr ? 0 : n_fields;
  std::vector<double> squares(n_equations + n_bars, 0);  // of residuals and bars
  std::vector<float> values, residuals, bar_values;
  TruthErrors errors(n_fields);
  const bool has_truth = frames.has_truth();
  const std::int64_t n_frames = frames.times().size();
  std::int64_t done = 0;
  const auto start = std::chrono::steady_clock::now();
  context.report().section("Fields");
  for (const std::int64_t frame : context.steps(0, n_frames - 1)) {
    const double time = frames.times()[frame];
    if (frames.volumes != nullptr && (frame > 0 || has_truth)) {
      auto coarse = context.timed("read", [&] { return read_frame(frames, frame, writer, done, path); });
      if (bars != nullptr) bars->replace(coarse);
      if (has_truth) errors.take(coarse);
      predictor.replace(std::move(coarse));
    }
    writer.begin_frame(0, time);
    std::vector<std::vector<Real>> picture(header.fields.size());
    const auto squares_before = squares;
    errors.begin_frame();
    try {  // as many slabs on all ranks: they are written together
      for (int slab = 0; slab * frames.rows_at_a_time < frames.most_rows(comm); ++slab) {
        const int first = own.first + std::min(slab * frames.rows_at_a_time, own.count),
                  count = std::min(frames.rows_at_a_time, own.first + own.count - first);
        const std::size_t n = count * n_row;
        values.resize(n * n_fields), residuals.resize(n * n_equations), bar_values.resize(n * n_bars);
        {
          const auto timer = context.phase("predict");
          together(comm, [&] {
            const auto points = frames.points(first, count, time);
            predictor.predict(points, values, residuals);
            if (bars != nullptr) bars->predict(points, values, bar_values);
            if (has_truth && count > 0) errors.add(points, frames.volumes->rows(frame, first, count), values);
          });
        }
        std::vector<std::vector<Real>> columns;
        for (std::size_t f = 0; f < n_fields; ++f)
          columns.push_back(column_of<Real>(values, n_fields, f, predictor.header().fields[f].offset));
        for (std::size_t k = 0; k < n_equations + n_bars; ++k) {
          columns.push_back(k < n_equations ? column_of<Real>(residuals, n_equations, k)
                                            : column_of<Real>(bar_values, n_bars, k - n_equations));
          for (std::size_t i = 0; i < n; ++i)
            squares[k] += weights.rows[first + i / n_row] * weights.points[i % n_row] * columns.back()[i] *
                          columns.back()[i];
        }
        const auto timer = context.phase("write");
        hdf5::Box box{{static_cast<std::uint64_t>(first), 0}, {static_cast<std::uint64_t>(count)}};
        for (std::size_t d = 1; d < header.axes.size(); ++d) box.count.push_back(header.axes[d].size());
        box.start.resize(header.axes.size(), 0);
        writer.add_part<Real>({columns.begin(), columns.end()}, box);
        for (int row = first; frame == n_frames / 2 && row < first + count; ++row)
          if (frames.volumes == nullptr || row == frames.rows().size() / 2)
            for (std::size_t k = 0; k < columns.size(); ++k)
              picture[k].insert(picture[k].end(), columns[k].begin() + (row - first) * n_row,
                                columns[k].begin() + (row - first + 1) * n_row);
      }
    } catch (const Interrupted&) {
      writer.drop_frame();  // the frames before this one stay
      squares = squares_before;
      errors.drop_frame();
      context.stop_within_step();
      break;
    }
    writer.end_frame();
    if (frame == n_frames / 2) add_pictures(context, header, time, picture);
    ++done;
  }
  writer.close();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto file = hdf5::File::open_for_update(comm, path);
  if (!predictor.doubts().empty()) file.root().set_attribute("outside_training", predictor.doubts());
  tell_precision(context, predictor, file.root());
  file.close();

  report_squares(context, predictor, header, squares, done);
  if (has_truth && done > 0) report_errors(context, errors, header);
  const double n_points = static_cast<double>(done) * n_row * frames.rows().size();
  context.summarise("frames", done);
  context.summarise("points", static_cast<std::int64_t>(n_points));
  context.summarise("microseconds_per_point", seconds / std::max(n_points, 1.0) * 1e6 * comm.size(),
                    "wall time times ranks, files included");
  context.headline("points", fmt::format("{:.4g}", n_points));
  log::info("{} of {} points: {}", counted(done, "frame"), fmt::join(header.shape(), " x "), path);
}

}  // namespace

void predict_frames(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                    const OutputFrames& frames, const std::map<std::string, double>& parameters) {
  if (has_offsets(predictor.header()))
    predict_as<double>(context, predictor, bars, frames, parameters);
  else
    predict_as<float>(context, predictor, bars, frames, parameters);
}

}  // namespace quintet::meshfreeflow
