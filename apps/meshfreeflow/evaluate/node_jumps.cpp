#include "apps/meshfreeflow/evaluate/node_jumps.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/prediction/flow_predictor.hpp"

namespace quintet::meshfreeflow {
namespace {

constexpr std::array<int, 5> places = {-2, -1, 0, 1, 2};  // times h from a node
constexpr double part = 0.01;                             // h, of the spacing of nodes

/// Points about the inner nodes of an axis, [node][place][axis], and h of each node.
struct NodePoints {
  std::vector<double> points, h;
};

/// The middle of a pair of nodes that moves on from one node to the next.
double between(const flow::BlockAxis& axis, std::size_t i) {
  const auto n = axis.coordinates.size() - 1;
  return 0.5 * (axis.coordinates[i % n] + axis.coordinates[i % n + 1]);
}

NodePoints points_about(const flow::BlockAxes& axes, std::size_t along) {
  constexpr std::size_t most = 200;
  const auto& nodes = axes[along].coordinates;
  NodePoints result;
  const std::size_t inner = nodes.size() > 2 ? nodes.size() - 2 : 0;
  const std::size_t others = axes[0].coordinates.size() * axes[along == 1 ? 2 : 1].coordinates.size();
  for (std::size_t k = 0; inner > 0 && k < std::min(most, inner * others); ++k) {
    const std::size_t i = 1 + k % inner;
    const double h = part * std::min(nodes[i] - nodes[i - 1], nodes[i + 1] - nodes[i]);
    result.h.push_back(h);
    for (const int place : places)
      for (std::size_t d = 0; d < axes.size(); ++d)
        result.points.push_back(d == along ? nodes[i] + place * h : between(axes[d], k / inner + d));
  }
  return result;
}

}  // namespace

std::vector<double> node_jumps(const CaseData& data, const JudgedModel& judged, std::size_t axis,
                               double bytes) {
  const auto [points, h] = points_about(data.coarse.axes, axis);
  if (h.empty()) return {};
  const auto n_fields = judged.model.header.fields.size();
  std::vector<float> values(points.size() / 3 * n_fields);
  flow::FlowPredictor(judged.model, data.coarse, data.parameters, {judged.options.encoder, false, bytes})
      .predict(points, values, {});
  std::vector<double> jumps;
  for (std::size_t f = 0; f < n_fields; ++f) {
    double jump = 0, slope = 0;
    for (std::size_t node = 0; node < h.size(); ++node) {
      const auto at = [&](std::size_t place) {
        return static_cast<double>(values[(node * places.size() + place) * n_fields + f]);
      };
      const double below = (3 * at(2) - 4 * at(1) + at(0)) / (2 * h[node]),
                   above = (-3 * at(2) + 4 * at(3) - at(4)) / (2 * h[node]);
      jump += (above - below) * (above - below);
      slope += 0.25 * (above + below) * (above + below);
    }
    jumps.push_back(slope > 0 ? std::sqrt(jump / slope) : 0);
  }
  return jumps;
}

void report_node_jumps(Context& context, const CaseData& data, const std::vector<JudgedModel>& models,
                       double bytes, const std::string& prefix) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> header = {"model", "along"};
  header.insert(header.end(), data.fields.begin(), data.fields.end());
  for (const auto& model : models) {
    if (model.model.header.options.decoder.kind != flow::DecoderKind::continuous) continue;
    for (std::size_t axis = 1; axis < data.coarse.axes.size(); ++axis) {
      std::vector<double> jumps;
      context.timed("predict",
                    [&] { together(context.comm(), [&] { jumps = node_jumps(data, model, axis, bytes); }); });
      if (jumps.empty()) continue;
      const auto& name = model.model.header.axes[axis].name;
      rows.push_back({model.options.name, name});
      for (std::size_t f = 0; f < jumps.size(); ++f) {
        rows.back().push_back(fmt::format("{:.2g}", jumps[f]));
        context.summarise(fmt::format("{}{}_jump_d{}_{}", prefix, model.options.name, name, data.fields[f]),
                          jumps[f], "of the derivative at nodes, of its root mean square there");
      }
    }
  }
  if (rows.empty()) return;
  context.report().table(
      header, rows,
      "Jumps of first derivatives at the coarse nodes along an axis: their root mean square over that of the "
      "derivative there. decoder.blend: cubic or quintic makes derivatives continuous where nodes are "
      "equally "
      "spaced.");
}

}  // namespace quintet::meshfreeflow
