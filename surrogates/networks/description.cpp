#include "surrogates/networks/description.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/networks/activation_names.hpp"

namespace quintet::networks {

namespace {

/// Arrays of a row that the passes keep, the output among them (see Tape).
std::size_t arrays_kept(Keep keep) {
  switch (keep) {
    case Keep::adjoint:
      return 2;  // y, slope
    case Keep::gradient:
      return 5;  // and phi, y_bar, z_bar
    case Keep::tangent:
      return 10;  // and curvature, a, alpha, z_dot, y_dot
  }
  throw InternalError("a Keep without a name");
}

std::string with_unit(std::size_t bytes) {
  const double n = bytes;
  if (bytes < 1000) return fmt::format("{} B", bytes);
  return bytes < 1000000 ? fmt::format("{:.1f} kB", n / 1e3) : fmt::format("{:.1f} MB", n / 1e6);
}

}  // namespace

BlockDescription describe_layer(const LayerSpec& layer, int n_in, std::size_t bytes, int pack, Keep keep) {
  BlockDescription block;
  block.name = layer.name;
  block.kind = "dense " + std::string(name_of(layer.activation));
  block.inputs = {layer.input};
  if (!layer.skip.empty()) block.inputs.push_back(layer.skip);
  block.n_in = n_in;
  block.n_out = layer.n_out;
  block.n_weights_in = layer.n_in;
  const std::size_t n_out = layer.n_out;
  block.parameters = (static_cast<std::size_t>(layer.n_in) + 1 + (layer.place.has_timestep ? 1 : 0)) * n_out;
  block.parameter_bytes = block.parameters * bytes;
  const double product = 2.0 * n_in * layer.n_out, skip = layer.skip.empty() ? 0.0 : layer.n_out;
  block.forward_flops = product + 3.0 * layer.n_out + skip;  // bias, activation, time step
  block.adjoint_flops = product + 2.0 * layer.n_out + skip;  // slope, time step
  const auto row = padded(layer.n_out, pack) * bytes;
  block.output_bytes = row;
  block.kept_bytes = arrays_kept(keep) * row;
  return block;
}

BlockDescription describe_sum(const LayerSpec& layer, std::size_t bytes) {
  BlockDescription block;
  block.name = layer.name;
  block.kind = "sum";
  block.inputs = {layer.input};
  block.n_in = block.n_weights_in = layer.n_in;
  block.n_out = 1;
  block.parameters = static_cast<std::size_t>(layer.n_in) + 1;
  block.parameter_bytes = block.parameters * bytes;
  block.forward_flops = 2.0 * layer.n_in + 1;
  block.output_bytes = block.kept_bytes = sizeof(double);
  return block;
}

BlockDescription ChainDescription::total() const {
  BlockDescription sum;
  sum.name = "total";
  for (const auto& block : blocks) {
    sum.parameters += block.parameters;
    sum.parameter_bytes += block.parameter_bytes;
    sum.forward_flops += block.forward_flops;
    sum.adjoint_flops += block.adjoint_flops;
    sum.output_bytes += block.output_bytes;
    sum.kept_bytes += block.kept_bytes;
  }
  return sum;
}

std::string ChainDescription::table() const {
  // Cells by row; columns are as wide as their widest cell, the first three flush left.
  std::vector<std::vector<std::string>> rows{
      {"block", "kind", "inputs", "shape", "parameters", "bytes", "flops a row", "kept a row"}};
  const auto add = [&](const BlockDescription& b, const std::string& shape) {
    rows.push_back({b.name, b.kind, fmt::format("{}", fmt::join(b.inputs, " + ")), shape,
                    fmt::format("{}", b.parameters), with_unit(b.parameter_bytes),
                    fmt::format("{:.0f}", b.forward_flops + b.adjoint_flops), with_unit(b.kept_bytes)});
  };
  for (const auto& b : blocks) {
    const bool tied = b.n_in < b.n_weights_in;
    add(b, tied ? fmt::format("{} of {} x {}", b.n_in, b.n_weights_in, b.n_out)
                : fmt::format("{} x {}", b.n_in, b.n_out));
  }
  add(total(), "");
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::size_t width = 0;
      for (const auto& other : rows) width = std::max(width, other[c].size());
      text += c < 3 ? fmt::format("  {:<{}}", row[c], width) : fmt::format("  {:>{}}", row[c], width);
    }
    text += '\n';
  }
  return text;
}

}  // namespace quintet::networks
