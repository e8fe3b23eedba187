#include "surrogates/flow/encoder/tiled_convolution.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <ATen/core/ivalue.h>
#include <torch/csrc/autograd/custom_function.h>

#include "surrogates/bridge/operators.hpp"

namespace quintet::flow {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Data of a pass of the layer, kept for the backward pass.
struct Kept : torch::CustomClassHolder {
  std::shared_ptr<const TiledLayer> layer;
  PartsBackward back;
  std::vector<std::int64_t> zeros;
  std::int64_t out() const { return layer->outputs.back(); }
  std::int64_t in() const { return layer->inputs.back(); }
};

std::int64_t length(const std::vector<std::int64_t>& cuts, std::size_t tile) {
  return cuts[tile + 1] - cuts[tile];
}

at::Tensor new_weights(const TiledLayer& layer, std::int64_t out, std::int64_t in, const at::Tensor& like) {
  const auto k = layer.kernel;
  return at::empty({out, in, k, k, k}, like.options().requires_grad(false));
}

at::Tensor shaped(const TiledLayer& layer, std::size_t row, std::size_t column, const at::Tensor& part) {
  const auto k = layer.kernel;
  return part.detach().view({length(layer.outputs, row), length(layer.inputs, column), k, k, k});
}

constexpr std::array<std::int64_t, 3> one{1, 1, 1}, none{0, 0, 0};

struct TiledFunction : torch::autograd::Function<TiledFunction> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& bias,
                            const BlockParameters* values, c10::intrusive_ptr<Kept> kept) {
    const TiledLayer& layer = *kept->layer;
    at::Tensor y;
    for (std::size_t row = 0; row < layer.n(); ++row) {
      const std::int64_t first = layer.outputs[row], n = length(layer.outputs, row);
      const at::Tensor weights = new_weights(layer, n, kept->in(), x);
      for (std::size_t column = 0; column < layer.n(); ++column)
        weights.narrow(1, layer.inputs[column], length(layer.inputs, column))
            .copy_(shaped(layer, row, column, (*values)(layer.part(row, column))));
      const at::Tensor made = at::conv3d(x, weights, bias.narrow(0, first, n), one, kept->zeros);
      if (!y.defined())
        y = at::empty({made.size(0), kept->out(), made.size(2), made.size(3), made.size(4)}, made.options());
      y.narrow(1, first, n).copy_(made);
    }
    context->save_for_backward({x});
    context->saved_data["kept"] = c10::IValue::make_capsule(std::move(kept));
    return y;
  }

  static variable_list backward(AutogradContext* context, const variable_list& bars) {
    const at::Tensor x = context->get_saved_variables()[0], bar = bars[0].contiguous();
    const auto kept = c10::static_intrusive_pointer_cast<Kept>(context->saved_data["kept"].toCapsule());
    at::Tensor x_bar;
    if (context->needs_input_grad(0)) x_bar = input_gradient(*kept, x, bar);
    return {x_bar, weight_gradients(*kept, x, bar), at::Tensor(), at::Tensor()};
  }

 private:
  static auto differentiate(const Kept& kept, const at::Tensor& bar, const at::Tensor& x,
                            const at::Tensor& weights, const std::array<bool, 3>& wanted) {
    return at::convolution_backward(bar, x, weights, std::vector<std::int64_t>{weights.size(0)}, one,
                                    kept.zeros, one, /*transposed=*/false, none, /*groups=*/1, wanted);
  }

  static at::Tensor input_gradient(const Kept& kept, const at::Tensor& x, const at::Tensor& bar) {
    const TiledLayer& layer = *kept.layer;
    at::Tensor x_bar = at::empty_like(x, at::MemoryFormat::Contiguous);
    for (std::size_t column = 0; column < layer.n(); ++column) {
      const std::int64_t first = layer.inputs[column], n = length(layer.inputs, column);
      const at::Tensor weights = new_weights(layer, kept.out(), n, x);
      for (std::size_t row = 0; row < layer.n(); ++row)
        weights.narrow(0, layer.outputs[row], length(layer.outputs, row))
            .copy_(shaped(layer, row, column, kept.back.values(layer.part(row, column))));
      x_bar.narrow(1, first, n)
          .copy_(std::get<0>(differentiate(kept, bar, x.narrow(1, first, n), weights, {true, false, false})));
    }
    return x_bar;
  }

  /// @return the bias's
  static at::Tensor weight_gradients(const Kept& kept, const at::Tensor& x, const at::Tensor& bar) {
    const TiledLayer& layer = *kept.layer;
    at::Tensor bias_bar = at::empty({kept.out()}, x.options().requires_grad(false));
    for (std::size_t row = 0; row < layer.n(); ++row) {
      const std::int64_t first = layer.outputs[row], n = length(layer.outputs, row);
      auto [unused, gradient, of_bias] =
          differentiate(kept, bar.narrow(1, first, n), x, new_weights(layer, n, kept.in(), x),
                        {false, true, true});  // weights for their shape alone
      bias_bar.narrow(0, first, n).copy_(of_bias);
      for (std::size_t column = 0; column < layer.n(); ++column)
        kept.back.finish(
            layer.part(row, column),
            gradient.narrow(1, layer.inputs[column], length(layer.inputs, column)).reshape({-1}));
    }
    return bias_bar;
  }
};

}  // namespace

std::vector<std::int64_t> tile_cuts(std::int64_t channels, std::int64_t n) {
  constexpr std::int64_t pack = 16;
  const std::int64_t grain = channels / pack >= n ? pack : 1;
  std::vector<std::int64_t> cuts;
  for (std::int64_t tile = 0; tile < n; ++tile) cuts.push_back(grain * (channels / grain * tile / n));
  cuts.push_back(channels);
  return cuts;
}

at::Tensor tiled_convolution(const std::shared_ptr<const TiledLayer>& layer, const BlockParameters& values,
                             const PartsBackward& back, const at::Tensor& x, const at::Tensor& bias,
                             const std::vector<std::int64_t>& zeros) {
  auto kept = c10::make_intrusive<Kept>();
  kept->layer = layer;
  kept->back = back;
  kept->zeros = zeros;
  return TiledFunction::apply(x, bias, &values, std::move(kept));
}

}  // namespace quintet::flow
