#include "apps/meshfreeflow/superresolve/output_grid.hpp"

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/flow/model/refined_grid.hpp"

namespace quintet::meshfreeflow {
namespace {

flow::BlockAxis refined(const flow::BlockAxis& axis, int factor) {
  const flow::NodeAxis fine =
      flow::refined_axis({axis.coordinates, axis.periodic, axis.lower, axis.upper}, factor);
  flow::BlockAxis result = axis;
  result.coordinates = fine.nodes;
  result.lower = fine.lower, result.upper = fine.upper;
  result.widths.clear();
  return result;
}

flow::BlockAxis equally_spaced(const flow::BlockAxis& axis, std::int64_t n) {
  flow::BlockAxis result = axis;
  result.coordinates.clear();
  result.widths.clear();
  const double parts = axis.periodic ? n : n - 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double share = i / parts;
    result.coordinates.push_back(
        i + 1 == n && !axis.periodic ? axis.upper : axis.lower + share * (axis.upper - axis.lower));
  }
  return result;
}

flow::BlockAxes grid_of_file(const std::string& path, const FlowInputOptions& input,
                             const flow::BlockAxes& domain, const flow::FlowModelHeader& model) {
  FieldSeriesOptions options;
  if (path == input.file) options = flow::reader_options(input.describe_file);
  for (const auto& name : model.axis_names())
    if (flow::is_space(name)) options.axes.push_back(name);
  const auto reader = FieldSeriesReader::open(Comm::self(), path, options);
  flow::BlockAxes grid = domain;
  for (auto& axis : grid) axis.widths.clear();
  const std::size_t first = model.of_volumes() ? 0 : 1;  // axis of space
  if (first == 1) {
    auto& times = grid[0].coordinates;
    times.clear();
    for (const double time : reader.times())
      if (time >= domain[0].lower && time <= domain[0].upper) times.push_back(time);
    QUINTET_CHECK(!times.empty(), "{}: none of its frames lies between {:.6g} and {:.6g}, where the input is",
                  path, domain[0].lower, domain[0].upper);
  }
  for (std::size_t i = first; i < 3; ++i) {
    const auto& axis = reader.header().axes[i - first];
    QUINTET_CHECK(axis.periodic == domain[i].periodic &&
                      (axis.periodic || (axis.coordinates.front() >= domain[i].lower &&
                                         axis.coordinates.back() <= domain[i].upper)),
                  "{}: its axis {} ({:.6g} to {:.6g}{}) is not within the input's ({:.6g} to {:.6g}{})", path,
                  axis.name, axis.lower, axis.upper, axis.periodic ? ", periodic" : "", domain[i].lower,
                  domain[i].upper, domain[i].periodic ? ", periodic" : "");
    grid[i].coordinates = axis.coordinates;
    grid[i].lower = axis.lower, grid[i].upper = axis.upper;
  }
  return grid;
}

}  // namespace

flow::BlockAxes output_grid(const RefinedOptions& options, const FlowInputOptions& input,
                            const flow::BlockAxes& domain, const flow::FlowModelHeader& model) {
  if (options.like) return grid_of_file(*options.like, input, domain, model);
  flow::BlockAxes grid;
  for (std::size_t i = 0; i < 3; ++i)
    grid[i] = options.grid.empty() ? refined(domain[i], options.factor[i])
                                   : equally_spaced(domain[i], options.grid[i]);
  return grid;
}

}  // namespace quintet::meshfreeflow
