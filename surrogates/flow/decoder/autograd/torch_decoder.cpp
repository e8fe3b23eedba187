#include "surrogates/flow/decoder/autograd/torch_decoder.hpp"

#include <algorithm>
#include <cstdint>
#include <numbers>
#include <numeric>
#include <vector>

#include "io/config/table.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"

namespace quintet::flow {

namespace {

/// phi' and phi'' at a, in the graph of a; phi'' undefined: 0.
struct Derivatives {
  at::Tensor slope, curvature;
};

/// An activation by torch's operators.
struct TorchActivationRow {
  Activation value;
  at::Tensor (*phi)(const at::Tensor& a);
  Derivatives (*derivatives)(const at::Tensor& a);
};
const TorchActivationRow activations[] = {
    {Activation::linear, [](const at::Tensor& a) { return a; },
     [](const at::Tensor& a) -> Derivatives {
       return {at::ones_like(a), {}};
     }},
    {Activation::tanh, [](const at::Tensor& a) { return a.tanh(); },
     [](const at::Tensor& a) -> Derivatives {
       const at::Tensor y = a.tanh(), dy = 1 - y.square();
       return {dy, -2 * y * dy};
     }},
    {Activation::relu, [](const at::Tensor& a) { return a.relu(); },
     [](const at::Tensor& a) -> Derivatives {
       return {(a > 0).to(a.scalar_type()), {}};
     }},
    {Activation::relu6, [](const at::Tensor& a) { return a.clamp(0, 6); },
     [](const at::Tensor& a) -> Derivatives {
       return {((a > 0) & (a < 6)).to(a.scalar_type()), {}};
     }},
    {Activation::softplus,
     [](const at::Tensor& a) {
       constexpr double linear_beyond = 40;  // e^-40 is below the digits of a double
       return at::softplus(a, 1, linear_beyond);
     },
     [](const at::Tensor& a) -> Derivatives {
       const at::Tensor dy = a.sigmoid();
       return {dy, dy * at::sigmoid(-a)};
     }},
    {Activation::sigmoid, [](const at::Tensor& a) { return a.sigmoid(); },
     [](const at::Tensor& a) -> Derivatives {
       const at::Tensor y = a.sigmoid(), dy = y * (1 - y);
       return {dy, dy * (1 - 2 * y)};
     }},
    {Activation::silu, [](const at::Tensor& a) { return at::silu(a); },
     [](const at::Tensor& a) -> Derivatives {
       const at::Tensor s = a.sigmoid(), ds = s * (1 - s), dds = ds * (1 - 2 * s);
       return {s + a * ds, 2 * ds + a * dds};
     }},
    {Activation::gelu, [](const at::Tensor& a) { return at::gelu(a, "tanh"); },
     [](const at::Tensor& a) -> Derivatives {  // a (1 + t)/2, t = tanh(c (a + k a^3))
       constexpr double c = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, k = 0.044715;
       const at::Tensor t = (c * (a + k * a.pow(3))).tanh(), slope = 1 - t.square(),
                        dv = c * (1 + 3 * k * a.square()), dt = slope * dv,
                        ddt = -2 * t * dt * dv + (6 * c * k) * slope * a;
       return {0.5 * (1 + t) + 0.5 * a * dt, dt + 0.5 * a * ddt};
     }}};

/// sum_ij second_ij a_i a_j of the tangents' pre-activations.
at::Tensor quadratic(const at::Tensor& coefficients, const std::vector<at::Tensor>& a) {
  const std::int64_t n = a.size();
  const auto second = [&](std::int64_t pair) { return coefficients.narrow(1, n_axes + pair, 1); };
  at::Tensor sum = at::zeros_like(a.front());
  for (std::int64_t t = 0; t < n; ++t) sum = sum + second(t) * a[t].square();
  std::int64_t pair = n;
  for (std::int64_t t = 0; t < n; ++t)
    for (std::int64_t u = t + 1; u < n; ++u) sum = sum + second(pair++) * a[t] * a[u];
  return sum;
}

/// Takes tensors from the flat parameters, in their order.
class FlatParts {
 public:
  explicit FlatParts(const at::Tensor& flat) : flat_(flat) {}
  at::Tensor take(std::int64_t rows, std::int64_t columns) {
    const at::Tensor part = flat_.narrow(0, first_, rows * columns).view({rows, columns});
    first_ += rows * columns;
    return part;
  }

 private:
  at::Tensor flat_;
  std::int64_t first_ = 0;
};

}  // namespace

template <class Real>
DecoderRows decoder_rows(const DecoderOptions& options, const DecoderQueries& queries) {
  DecoderRows rows{make_plan(queries), queries.n_samples, queries.n_points, {}, {}, {}, {}};
  const JetPlan& plan = rows.plan;
  check_queries(queries, plan, options.activation);
  const NodeGrid& grid = queries.grids.front();
  const std::int64_t n_nodes = std::int64_t{grid[0].size()} * grid[1].size() * grid[2].size();
  const std::int64_t n_points = std::int64_t{queries.n_samples} * queries.n_points, n = n_points * n_corners;
  const at::TensorOptions real(bridge::scalar_type<Real>());
  rows.node = at::empty({n}, at::kLong);
  rows.place = at::empty({n, n_axes}, real);
  rows.coefficients = at::empty({n, plan.n_inner(), row_coefficients}, real);
  rows.mix = at::empty({n_points, n_corners, plan.n_outputs(), plan.n_channels()}, real);
  auto* node = rows.node.data_ptr<std::int64_t>();
  Real *place = rows.place.template data_ptr<Real>(),
       *coefficients = rows.coefficients.template data_ptr<Real>(), *mix = rows.mix.template data_ptr<Real>();
  std::vector<int> points(queries.n_points);
  std::iota(points.begin(), points.end(), 0);
  RowBlock<Real> block;
  for (int sample = 0; sample < queries.n_samples; ++sample) {
    block.prepare(plan, queries, options.blend, sample, points.data(), queries.n_points);
    node = std::transform(block.node.begin(), block.node.end(), node,
                          [&](int one) { return n_nodes * sample + one; });
    place = std::copy(block.place.begin(), block.place.end(), place);
    coefficients = std::copy(block.coefficients.begin(), block.coefficients.end(), coefficients);
    mix = std::copy(block.mix.begin(), block.mix.end(), mix);
  }
  return rows;
}

at::Tensor decode_by_torch(const DecoderOptions& options, const DecoderRows& rows, const at::Tensor& latents,
                           const at::Tensor& parameters) {
  return translate_torch_errors("Decoding by LibTorch", [&] {
    const JetPlan& plan = rows.plan;
    const std::int64_t n_rows = rows.node.size(0);
    const at::Tensor coefficients_of = rows.coefficients.transpose(0, 1);
    const std::int64_t channels = plan.n_channels(), n_latent = options.n_latent, n_fields = options.n_fields;
    const at::Tensor nodes = latents.reshape({-1, n_latent});
    FlatParts parts(parameters);
    at::Tensor h;  // [channel, row, width]
    const auto n_layers = options.widths.size() + 1;
    for (std::size_t l = 0; l < n_layers; ++l) {
      const bool last = l + 1 == n_layers, reads_input = l == 0 || (options.repeat_input && !last);
      const std::int64_t width = last ? n_fields : options.widths[l];
      // Pre-activations: a, then of tangents and inner operators.
      at::Tensor product, of_value, of_axes;
      if (l > 0) product = at::matmul(h, parts.take(options.widths[l - 1], width));
      if (reads_input) {
        of_axes = parts.take(n_axes, width);
        const at::Tensor of_latents = at::matmul(nodes, parts.take(n_latent, width));
        of_value =
            (of_latents + parts.take(1, width)).index_select(0, rows.node) + at::matmul(rows.place, of_axes);
      } else {
        of_value = parts.take(1, width);
      }
      const auto with_product = [&](std::int64_t channel, const at::Tensor& more) {
        if (!product.defined()) return more.expand({n_rows, width});
        return more.defined() ? product[channel] + more : product[channel];
      };
      const auto tangent = [&](int t) {
        return with_product(1 + t, reads_input ? of_axes.narrow(0, plan.tangents[t], 1) : at::Tensor());
      };
      const auto inner = [&](int o) {
        return with_product(
            1 + plan.n_tangents() + o,
            reads_input ? at::matmul(coefficients_of[o].narrow(1, 0, n_axes), of_axes) : at::Tensor());
      };
      const at::Tensor a = with_product(0, of_value);
      const Activation activation = last ? Activation::linear : options.activation;
      std::vector<at::Tensor> made{row_of(activations, activation).phi(a)}, tangents;
      Derivatives phi;
      if (channels > 1) phi = row_of(activations, activation).derivatives(a);
      for (int t = 0; t < plan.n_tangents(); ++t) {
        tangents.push_back(tangent(t));
        made.push_back(phi.slope * tangents.back());
      }
      for (int o = 0; o < plan.n_inner(); ++o) {
        made.push_back(phi.slope * inner(o));
        if (phi.curvature.defined() && !tangents.empty())
          made.back() = made.back() + phi.curvature * quadratic(coefficients_of[o], tangents);
      }
      h = at::stack(made);
    }
    if (options.adds_known_fields) {
      const at::Tensor known = nodes.narrow(1, n_latent - n_fields, n_fields).index_select(0, rows.node);
      h = at::cat({h.narrow(0, 0, 1) + known, h.narrow(0, 1, channels - 1)});
    }
    const std::int64_t n_points = n_rows / n_corners;
    const at::Tensor seen = h.view({channels, n_points, n_corners, n_fields})
                                .permute({1, 2, 0, 3})
                                .reshape({n_points, n_corners * channels, n_fields});
    const at::Tensor mix =
        rows.mix.permute({0, 2, 1, 3}).reshape({n_points, plan.n_outputs(), n_corners * channels});
    return at::bmm(mix, seen).view({rows.n_samples, rows.n_points, plan.n_outputs(), n_fields});
  });
}

template <class Real>
at::Tensor decode_by_torch(const DecoderOptions& options, const DecoderQueries& queries,
                           const at::Tensor& latents, const at::Tensor& parameters) {
  DecoderRows rows = decoder_rows<Real>(options, queries);
  return translate_torch_errors("Decoding by LibTorch", [&] {
    for (at::Tensor* numbers : rows.tensors()) *numbers = numbers->to(latents.device());
    return decode_by_torch(options, rows, latents, parameters);
  });
}

template DecoderRows decoder_rows<float>(const DecoderOptions&, const DecoderQueries&);
template DecoderRows decoder_rows<double>(const DecoderOptions&, const DecoderQueries&);
template at::Tensor decode_by_torch<float>(const DecoderOptions&, const DecoderQueries&, const at::Tensor&,
                                           const at::Tensor&);
template at::Tensor decode_by_torch<double>(const DecoderOptions&, const DecoderQueries&, const at::Tensor&,
                                            const at::Tensor&);

}  // namespace quintet::flow
