#include "surrogates/flow/encoder/fourier_part.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "surrogates/bridge/operators.hpp"

namespace quintet::flow {

namespace {

/// x with its axes extended beyond their ends where they are not circular.
at::Tensor extended(at::Tensor x, const std::array<Padding, 3>& padding) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t dimension = 2 + axis, n = x.size(dimension);
    const std::int64_t more = (fourier_nodes(static_cast<int>(n), padding[axis]) - n) / 2;
    if (more == 0) continue;
    std::vector<std::int64_t> shape(x.sizes().begin(), x.sizes().end());
    shape[dimension] = more;
    const bool zeros = padding[axis] == Padding::zeros;
    const at::Tensor before = zeros ? at::zeros(shape, x.options()) : x.narrow(dimension, 0, 1).expand(shape);
    const at::Tensor after = zeros ? before : x.narrow(dimension, n - 1, 1).expand(shape);
    x = at::cat({before, x, after}, dimension);
  }
  return x;
}

/// Modes of one axis on a grid of n nodes: how many from 0 on, and how many negative ones.
struct AxisModes {
  std::int64_t nodes, positive, negative;
  AxisModes(std::int64_t n, std::int64_t most)
      : nodes(n), positive(std::min(most, (n + 1) / 2)), negative(std::min(most, n / 2)) {}

  /// The modes, of `held` entries along a dimension of which the last ones are the negative wavenumbers.
  [[nodiscard]] at::Tensor of(const at::Tensor& x, std::int64_t dimension) const {
    return at::cat(
        {x.narrow(dimension, 0, positive), x.narrow(dimension, x.size(dimension) - negative, negative)},
        dimension);
  }
  /// Modes among zeros, on all nodes.
  [[nodiscard]] at::Tensor among_zeros(const at::Tensor& x, std::int64_t dimension) const {
    std::vector<std::int64_t> shape(x.sizes().begin(), x.sizes().end());
    shape[dimension] = nodes - positive - negative;
    return at::cat({x.narrow(dimension, 0, positive), at::zeros(shape, x.options()),
                    x.narrow(dimension, positive, negative)},
                   dimension);
  }
};

}  // namespace

at::Tensor fourier_part(const at::Tensor& x, const at::Tensor& weights, std::int64_t n_out,
                        const GridShape& modes, const std::array<Padding, 3>& padding) {
  constexpr std::int64_t time = 2, first = 3, last = 4;
  const at::Tensor seen = extended(x, padding);
  const std::vector<std::int64_t> dimensions{time, first, last},
      nodes{seen.size(time), seen.size(first), seen.size(last)};
  const AxisModes t(nodes[0], modes[0]), z(nodes[1], modes[1]);
  const std::int64_t n_last = std::min<std::int64_t>(modes[2], nodes[2] / 2 + 1);
  const at::Tensor transformed = at::fft_rfftn(seen, std::nullopt, dimensions);
  const at::Tensor low = z.of(t.of(transformed.narrow(last, 0, n_last), time), first);
  const at::Tensor held =
      at::view_as_complex(weights.reshape({x.size(1), n_out, 2 * modes[0], 2 * modes[1], modes[2], 2}));
  const at::Tensor mixed =
      at::einsum("sitzx,iotzx->sotzx", {low, z.of(t.of(held.narrow(last, 0, n_last), time), first)});
  std::vector<std::int64_t> rest(mixed.sizes().begin(), mixed.sizes().end());
  rest[last] = nodes[2] / 2 + 1 - n_last;
  const at::Tensor all =
      t.among_zeros(z.among_zeros(at::cat({mixed, at::zeros(rest, mixed.options())}, last), first), time);
  at::Tensor made = at::fft_irfftn(all, nodes, dimensions);
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t n = x.size(2 + axis);
    made = made.narrow(2 + axis, (nodes[axis] - n) / 2, n);
  }
  return made;
}

}  // namespace quintet::flow
