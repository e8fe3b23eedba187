#include "apps/meshfreeflow/superresolve/predicted_points.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/meshfreeflow/superresolve/precision_report.hpp"
#include "apps/meshfreeflow/superresolve/predicted_frames.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::meshfreeflow {
namespace {

void write_csv(const std::string& path, const std::vector<std::string>& names,
               const std::vector<double>& points, const std::vector<double>& values,
               const std::vector<flow::ModelField>& fields) {
  std::ofstream stream(path);
  stream << fmt::format("{}\n", fmt::join(names, ","));
  const std::size_t n = names.size() - 3;
  for (std::size_t p = 0; p * 3 < points.size(); ++p) {
    stream << fmt::format("{:.17g},{:.17g},{:.17g}", points[3 * p], points[3 * p + 1], points[3 * p + 2]);
    for (std::size_t k = 0; k < n; ++k)
      stream << fmt::format(",{:.{}g}", values[p * n + k],
                            k < fields.size() && fields[k].offset != 0 ? 17 : 9);
    stream << '\n';
  }
  stream.flush();
  if (!stream) throw ResourceError(fmt::format("{}: could not be written; is the disk full?", path));
}

/// What column k is: fields, residuals, error bars.
hdf5::Description labels_of(const flow::FlowModelHeader& model, std::size_t n_equations, std::size_t k) {
  const std::size_t n_fields = model.fields.size();
  if (k < n_fields) return {model.fields[k].units, {"point"}, "Predicted by the model"};
  if (k < n_fields + n_equations) return {"1", {"point"}, "Residual: an error indicator"};
  return {model.fields[k - n_fields - n_equations].units, {"point"}, "Error bar, by an ensemble"};
}

}  // namespace

void predict_points(Context& context, flow::FlowPredictor& predictor, flow::ErrorBars* bars,
                    const std::vector<double>& points) {
  const Comm& comm = context.comm();
  const std::int64_t n_points = points.size() / 3;
  const std::size_t first = n_points * comm.rank() / comm.size(),
                    end = n_points * (comm.rank() + 1) / comm.size(), n_here = end - first;
  const auto& model = predictor.header();
  const std::size_t n_fields = model.fields.size(), n_equations = predictor.equation_names().size(),
                    n_bars = bars == nullptr ? 0 : n_fields, n = n_fields + n_equations + n_bars;
  std::vector<float> values(n_here * n_fields), residuals(n_here * n_equations), bar_values(n_here * n_bars);
  std::vector<double> rows(n_here * n);
  context.timed("predict", [&] {
    together(comm, [&] {
      const auto here = std::span(points).subspan(3 * first, 3 * n_here);
      predictor.predict(here, values, residuals);
      if (bars != nullptr) bars->predict(here, values, bar_values);
    });
  });
  for (std::size_t p = 0; p < n_here; ++p) {
    for (std::size_t f = 0; f < n_fields; ++f)
      rows[p * n + f] = model.fields[f].offset + double{values[p * n_fields + f]};
    if (n_equations > 0) std::copy_n(&residuals[p * n_equations], n_equations, &rows[p * n + n_fields]);
    std::copy_n(bar_values.begin() + p * n_bars, n_bars, &rows[p * n + n_fields + n_equations]);
  }
  std::vector<std::string> names;
  for (const auto& axis : model.axes) names.push_back(axis.name);
  for (const auto& field : model.fields) names.push_back(field.name);
  for (const auto& name : predictor.equation_names()) names.push_back(residual_name(name));
  for (std::size_t f = 0; f < n_bars; ++f) names.push_back(error_bar_name(model.fields[f].name));

  const auto timer = context.phase("write");
  auto file = hdf5::File::create(comm, context.path("points.h5"));
  auto& root = file.root();
  hdf5::write_header(root, "quintet.flow_points", 1, context.provenance());
  root.write<double>("points", points, {static_cast<std::uint64_t>(n_points), 3},
                     {"1", {"point", "axis"}, "Where: time, then the axes of space"});
  for (std::size_t k = 0; k < n; ++k) {
    std::vector<double> column;
    for (std::size_t p = 0; p < n_here; ++p) column.push_back(rows[p * n + k]);
    const auto labels = labels_of(model, n_equations, k);
    if (k < n_fields && model.fields[k].offset != 0)
      root.write_distributed<double>(names[3 + k], column, {static_cast<std::uint64_t>(n_points)}, first,
                                     labels);
    else
      root.write_distributed<float>(names[3 + k], std::vector<float>(column.begin(), column.end()),
                                    {static_cast<std::uint64_t>(n_points)}, first, labels);
  }
  if (!predictor.doubts().empty()) root.set_attribute("outside_training", predictor.doubts());
  tell_precision(context, predictor, root);
  file.close();
  const auto all = comm.gather(std::span<const double>(rows));
  on_root(comm, [&] { write_csv(context.path("points.csv"), names, points, all, model.fields); });
  for (std::size_t e = 0; e < n_equations; ++e) {
    double square = 0;
    for (std::size_t p = 0; p < n_here; ++p)
      square += double{residuals[p * n_equations + e]} * residuals[p * n_equations + e];
    context.summarise("rms_" + names[3 + n_fields + e], std::sqrt(comm.sum(square) / n_points),
                      "rms residual of the equation over the points");
  }
  context.summarise("points", n_points);
  context.headline("points", std::to_string(n_points));
  log::info("{} {} and points.csv beside it", counted(n_points, "point is", "points are"),
            context.path("points.h5"));
}

}  // namespace quintet::meshfreeflow
