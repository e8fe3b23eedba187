#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/decoder/autograd/decoder_function.hpp"

#include <cmath>

#include <ATen/ops/clamp.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/flow/decoder/autograd/torch_decoder.hpp"
#include "tests/unit/flow/decoder/decoder_cases.hpp"

/// Jets and gradients beside nested automatic differentiation in double precision.
namespace quintet::flow {
namespace {

at::Tensor activate(Activation activation, const at::Tensor& x) {
  switch (activation) {
    case Activation::tanh:
      return at::tanh(x);
    case Activation::softplus:
      return at::softplus(x, 1, 1000);
    case Activation::sigmoid:
      return at::sigmoid(x);
    case Activation::silu:
      return at::silu(x);
    case Activation::gelu: {
      const double c = 0.79788456080286535588;
      return 0.5 * x * (1 + at::tanh(c * (x + 0.044715 * x * x * x)));
    }
    default:
      throw InternalError("no such activation in this test");
  }
}

/// The network of rows [n, 3 + n_latent].
at::Tensor network(const DecoderOptions& options, const at::Tensor& parameters, const at::Tensor& input) {
  at::Tensor h;
  std::int64_t place = 0;
  for (std::size_t l = 0; l <= options.widths.size(); ++l) {
    const bool last = l == options.widths.size();
    if (l == 0)
      h = input;
    else if (options.repeat_input && !last)
      h = at::cat({h, input}, 1);
    const std::int64_t n_in = h.size(1), n_out = last ? options.n_fields : options.widths[l];
    const auto weight = parameters.slice(0, place, place + n_in * n_out).view({n_in, n_out});
    place += n_in * n_out;
    h = at::mm(h, weight) + parameters.slice(0, place, place + n_out);
    place += n_out;
    if (!last) h = activate(options.activation, h);
  }
  return h;
}

at::Tensor upper_weight(Blend blend, const at::Tensor& r) {
  if (blend == Blend::linear) return r;
  const auto in = at::clamp(r, 0, 1);
  return blend == Blend::cubic ? in * in * (3 - 2 * in) : in * in * in * (10 - 15 * in + 6 * in * in);
}

/// Fields [point, field] of a sample at points [point, 3], through a graph that reaches the points: the
/// network of all corners at once, as differentiating twice takes its time by the number of operators.
at::Tensor fields_of(const DecoderCase& of, int sample, const at::Tensor& points, const at::Tensor& latents,
                     const at::Tensor& parameters) {
  const NodeGrid& grid = of.queries.grid(sample);
  const int n = of.queries.n_points;
  const auto* x = points.const_data_ptr<double>();
  std::vector<at::Tensor> inputs, known, weights;
  for (int corner = 0; corner < 8; ++corner) {
    auto node = at::zeros({n}, at::kLong);
    std::vector<at::Tensor> xi;
    auto weight = at::ones({n}, at::kDouble);
    for (int i = 0; i < 3; ++i) {
      auto start = at::zeros({n}, at::kDouble), spacing = at::zeros({n}, at::kDouble);
      const int side = corner >> i & 1;
      for (int p = 0; p < n; ++p) {
        const AxisCell cell = locate(grid[i], x[3 * p + i]);
        spacing[p] = cell.spacing;
        start[p] = x[3 * p + i] - cell.r * cell.spacing;
        node[p] = node[p].item<std::int64_t>() * grid[i].size() + cell.node[side];
      }
      const auto r = (points.select(1, i) - start) / spacing;
      xi.push_back(r - side);
      const auto upper = upper_weight(of.options.blend, r);
      weight = weight * (side == 1 ? upper : 1 - upper);
    }
    const auto q = latents.select(0, sample).reshape({-1, of.options.n_latent}).index_select(0, node);
    inputs.push_back(at::cat({at::stack(xi, 1), q}, 1));
    if (of.options.adds_known_fields) known.push_back(q.slice(1, of.options.n_latent - of.options.n_fields));
    weights.push_back(weight);
  }
  auto g = network(of.options, parameters, at::cat(inputs));
  if (of.options.adds_known_fields) g = g + at::cat(known);
  return (at::cat(weights).unsqueeze(1) * g).view({8, n, of.options.n_fields}).sum(0);
}

at::Tensor slope(const at::Tensor& sum_of, const at::Tensor& points) {
  if (!sum_of.requires_grad()) return at::zeros_like(points);
  const auto bar = torch::autograd::grad({sum_of}, {points}, {}, true, true, true)[0];
  return bar.defined() ? bar : at::zeros_like(points);
}

/// Jets [sample, point, channel, field] by nested reverse mode.
at::Tensor nested_jets(const DecoderCase& of, const at::Tensor& latents, const at::Tensor& parameters) {
  std::vector<at::Tensor> samples;
  for (int sample = 0; sample < of.queries.n_samples; ++sample) {
    const auto points = at::tensor(of.queries.points)
                            .view({of.queries.n_samples, of.queries.n_points, 3})
                            .select(0, sample)
                            .to(at::kDouble)
                            .clone()
                            .set_requires_grad(true);
    const auto fields = fields_of(of, sample, points, latents, parameters);
    std::vector<at::Tensor> channels = {fields};
    std::vector<std::vector<at::Tensor>> first, second;  // [field], [field][axis]: derivatives [point, 3]
    if (of.queries.n_channels() > 1)
      for (int f = 0; f < of.options.n_fields; ++f) {
        first.push_back({slope(fields.select(1, f).sum(), points)});
        second.emplace_back();
        for (int i = 0; i < 3; ++i) second[f].push_back(slope(first[f][0].select(1, i).sum(), points));
      }
    for (const auto& d : of.queries.operators_of(sample)) {
      std::vector<at::Tensor> columns;
      for (int f = 0; f < of.options.n_fields; ++f) {
        auto sum = at::zeros({of.queries.n_points}, at::kDouble);
        for (int i = 0; i < 3; ++i) sum = sum + d.first[i] * first[f][0].select(1, i);
        for (int ij = 0; ij < n_second; ++ij)
          sum = sum + d.second[ij] * second[f][second_axes[ij][0]].select(1, second_axes[ij][1]);
        columns.push_back(sum);
      }
      channels.push_back(at::stack(columns, 1));
    }
    samples.push_back(at::stack(channels, 1));
  }
  return at::stack(samples, 0);
}

template <class Real>
at::Tensor tensor_of(const std::vector<double>& values, at::IntArrayRef shape) {
  return at::tensor(values, at::kDouble)
      .to(bridge::scalar_type<Real>())
      .view(shape)
      .clone()
      .set_requires_grad(true);
}
template <class Real>
at::Tensor latents_of(const DecoderCase& of) {
  const auto& grid = of.queries.grids[0];
  return tensor_of<Real>(of.latents, {of.queries.n_samples, grid[0].size(), grid[1].size(), grid[2].size(),
                                      of.options.n_latent});
}
template <class Real>
at::Tensor parameters_of(const DecoderCase& of) {
  return tensor_of<Real>(of.parameters, {std::ssize(of.parameters)});
}

double difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max().clamp_min(1.0)).item<double>();
}

TEST(DecoderFunction, has_the_jets_and_gradients_of_nested_differentiation) {
  for (const auto& of : decoder_cases()) {
    const auto queries = std::make_shared<DecoderQueries>(of.queries);
    Decoder<double> decoder(of.options);
    const auto latents = latents_of<double>(of), parameters = parameters_of<double>(of);
    const auto jets = decode(decoder, queries, latents, parameters);
    const auto weights = at::tensor(uniform_noise(of.n_jets(), 13, -1, 1), at::kDouble).view_as(jets);
    (jets * weights).sum().backward();

    const auto nested_latents = latents_of<double>(of), nested_parameters = parameters_of<double>(of);
    const auto nested = nested_jets(of, nested_latents, nested_parameters);
    (nested * weights).sum().backward();

    const auto torch_latents = latents_of<double>(of), torch_parameters = parameters_of<double>(of);
    const auto by_torch = decode_by_torch<double>(of.options, of.queries, torch_latents, torch_parameters);
    (by_torch * weights).sum().backward();

    for (int channel = 0; channel < of.queries.n_channels(); ++channel)
      for (const auto& made : {jets, by_torch})
        EXPECT_LT(difference(made.detach().select(2, channel), nested.detach().select(2, channel)), 1e-10)
            << of.name << " channel " << channel;
    for (const auto& made : {parameters, torch_parameters})
      EXPECT_LT(difference(made.grad(), nested_parameters.grad()), 1e-10) << of.name;
    for (const auto& made : {latents, torch_latents})
      EXPECT_LT(difference(made.grad(), nested_latents.grad()), 1e-10) << of.name;
  }
}

/// Of functions that nested differentiation above does not have; also in float, and beyond what a softplus of
/// LibTorch calls linear by itself.
TEST(DecoderFunction, by_operators_of_torch_gives_the_same_jets_and_gradients) {
  const auto first_order = std::vector<DifferentialOperator>{{{1, 0, 0}, {}}, {{0, 1, 2}, {}}};
  for (const auto activation :
       {Activation::relu, Activation::relu6, Activation::linear, Activation::softplus}) {
    auto of = make_case(fmt::format("activation {}", static_cast<int>(activation)), small_decoder(activation),
                        {stretched_grid()}, 1, 23, {first_order});
    for (double& latent : of.latents) latent *= 20;
    const auto compare = [&]<class Real>(Real, double tolerance) {
      const auto queries = std::make_shared<DecoderQueries>(of.queries);
      Decoder<Real> decoder(of.options);
      const auto latents = latents_of<Real>(of), parameters = parameters_of<Real>(of);
      const auto torch_latents = latents_of<Real>(of), torch_parameters = parameters_of<Real>(of);
      const auto jets = decode(decoder, queries, latents, parameters);
      const auto by_torch = decode_by_torch<Real>(of.options, of.queries, torch_latents, torch_parameters);
      EXPECT_EQ(by_torch.scalar_type(), jets.scalar_type());
      jets.square().sum().backward();
      by_torch.square().sum().backward();
      EXPECT_LT(difference(by_torch.detach(), jets.detach()), tolerance) << of.name;
      EXPECT_LT(difference(torch_parameters.grad(), parameters.grad()), tolerance) << of.name;
      EXPECT_LT(difference(torch_latents.grad(), latents.grad()), tolerance) << of.name;
    };
    compare(double(), 1e-13);
    compare(float(), 1e-5);
  }
  const auto curved = make_case("relu", small_decoder(Activation::relu), {stretched_grid()}, 1, 2,
                                {convection_operators(0.1)});
  EXPECT_THROW((void)decode_by_torch<double>(curved.options, curved.queries, latents_of<double>(curved),
                                             parameters_of<double>(curved)),
               InputError);
}

TEST(DecoderFunction, passes_the_gradient_on_and_keeps_no_tape_where_none_is_wanted) {
  const auto of = make_case("chain", small_decoder(Activation::softplus), {stretched_grid()}, 1, 9,
                            {convection_operators(0.1)});
  const auto queries = std::make_shared<DecoderQueries>(of.queries);
  Decoder<float> decoder(of.options);
  const auto latents = latents_of<float>(of), parameters = parameters_of<float>(of);
  auto loss = [&](const at::Tensor& scaled) {
    return decode(decoder, queries, scaled, parameters).abs().sum();
  };

  loss(2 * latents).backward();  // through a node before it
  const auto gradient = latents.grad().clone();
  latents.mutable_grad() = at::Tensor();
  const auto doubled = (2 * latents).detach().set_requires_grad(true);
  loss(doubled).backward();

  EXPECT_EQ((gradient - 2 * doubled.grad()).abs().max().item<float>(), 0.0f);
  EXPECT_GT(gradient.abs().max().item<float>(), 0.0f);
  const auto without = decode(decoder, queries, latents.detach(), parameters.detach());
  EXPECT_FALSE(without.requires_grad());
  EXPECT_TRUE(at::equal(without, decode(decoder, queries, latents, parameters).detach()));
}

TEST(DecoderFunction, refuses_tensors_of_another_shape_or_type) {
  const auto of = make_case("shape", small_decoder(Activation::softplus), {stretched_grid()}, 1, 9, {});
  const auto queries = std::make_shared<DecoderQueries>(of.queries);
  Decoder<float> decoder(of.options);
  EXPECT_THROW((void)decode(decoder, queries, latents_of<double>(of), parameters_of<float>(of)),
               InternalError);
  EXPECT_THROW((void)decode(decoder, queries, latents_of<float>(of).squeeze(0), parameters_of<float>(of)),
               InternalError);
  EXPECT_THROW((void)decode(decoder, queries, latents_of<float>(of), parameters_of<float>(of).slice(0, 1)),
               InternalError);
}

}  // namespace
}  // namespace quintet::flow
