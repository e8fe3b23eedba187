#include "tests/bench/flow/nested_decoder.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

namespace quintet::flow {

namespace {

at::Tensor network(const DecoderOptions& options, const at::Tensor& parameters, const at::Tensor& input) {
  at::Tensor h = input;
  std::int64_t place = 0;
  for (std::size_t l = 0; l <= options.widths.size(); ++l) {
    const bool last = l == options.widths.size();
    if (l > 0 && !last) h = at::cat({h, input}, 1);
    const std::int64_t n_in = h.size(1), n_out = last ? options.n_fields : options.widths[l];
    const auto weight = parameters.slice(0, place, place + n_in * n_out).view({n_in, n_out});
    place += n_in * n_out;
    h = at::addmm(parameters.slice(0, place, place + n_out), h, weight);
    place += n_out;
    if (!last) h = at::softplus(h);
  }
  return h;
}

/// d y/d x: the reference's dif().
at::Tensor dif(const at::Tensor& y, const at::Tensor& x) {
  return torch::autograd::grad({y}, {x}, {at::ones_like(y)}, true, true)[0];
}

}  // namespace

at::Tensor nested_fields(const DecoderOptions& options, const NodeGrid& grid, const at::Tensor& latents,
                         const at::Tensor& parameters, const std::vector<at::Tensor>& columns) {
  const std::int64_t samples = latents.size(0), points = columns[0].size(1);
  std::vector<at::Tensor> place, lower;  // [sample, point, 1]: in units of nodes; its cell
  for (int i = 0; i < n_axes; ++i) {
    const auto& nodes = grid[i].nodes;
    place.push_back((columns[i] - nodes[0]) / (nodes[1] - nodes[0]));
    lower.push_back(at::clamp(place[i].detach().floor(), 0, grid[i].size() - 2));
  }
  const auto flat = latents.reshape({samples, -1, latents.size(4)});
  std::vector<at::Tensor> rows, weights;
  for (int corner = 0; corner < 8; ++corner) {
    std::vector<at::Tensor> input;
    at::Tensor node, weight;
    for (int i = 0; i < n_axes; ++i) {
      const auto at_node = lower[i] + (corner >> (2 - i) & 1);
      input.push_back(place[i] - at_node);
      const auto share = 1 - input.back().abs();
      weight = weight.defined() ? weight * share : share;
      node = node.defined() ? node * grid[i].size() + at_node : at_node;
    }
    input.push_back(flat.gather(1, node.to(at::kLong).expand({samples, points, latents.size(4)})));
    rows.push_back(at::cat(input, 2));
    weights.push_back(weight);
  }
  const auto input = at::stack(rows, 1);  // [sample, corner, point, 3 + latent]
  const auto g = network(options, parameters, input.reshape({-1, input.size(3)}))
                     .view({samples, 8, points, options.n_fields});
  return (g * at::stack(weights, 1)).sum(1);
}

std::vector<at::Tensor> nested_residuals(const at::Tensor& fields, const std::vector<at::Tensor>& columns,
                                         double heat_diffusivity, double viscosity) {
  const auto &t = columns[0], &z = columns[1], &x = columns[2];
  const auto field = [&](int f) { return fields.slice(2, f, f + 1); };
  const auto p = field(0), b = field(1), u = field(2), w = field(3);
  return {dif(u, x) + dif(w, z),
          dif(b, t) - heat_diffusivity * (dif(dif(b, x), x) + dif(dif(b, z), z)) +
              (u * dif(b, x) + w * dif(b, z)),
          dif(u, t) - viscosity * (dif(dif(u, x), x) + dif(dif(u, z), z)) + dif(p, x) +
              (u * dif(u, x) + w * dif(u, z)),
          dif(w, t) - viscosity * (dif(dif(w, x), x) + dif(dif(w, z), z)) + dif(p, z) - b +
              (u * dif(w, x) + w * dif(w, z))};
}

}  // namespace quintet::flow
