#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quintet::planning {

/// Kinds of layer, as far as their cost differs.
enum class LayerKind {
  convolution,
  dense,
  max_pool,
  average_pool,
  rectifier,
  addition,
  normalisation,
  recurrent,
  other
};

/// A layer of a network as sizes: items of a sample that come in (x) and go out (y), and weights (w).
struct Layer {
  std::string name;
  LayerKind kind = LayerKind::other;
  std::vector<std::int64_t> x{}, y{};  ///< channels, then extents (width, height, ...) if there are any
  std::vector<std::int64_t> kernel{};  ///< [extents] or none: 1
  std::int64_t weights = 0;            ///< |w|, biases included
  /// Items of a sample that go past this layer to later ones: what skips carry from the layers before it.
  std::int64_t beside = 0;

  [[nodiscard]] double x_items() const;  ///< |x|
  [[nodiscard]] double y_items() const;  ///< |y|
  /// Whether a part along the width needs its neighbours' cells: a window that overlaps the next one.
  [[nodiscard]] bool has_halo() const;
  /// Items that a part along the width needs of one neighbour: (K - 1)/2 layers of cells of `sizes` (x in the
  /// forward pass, y in the backward one), sizes[0] sizes[2] sizes[3] ... each.
  [[nodiscard]] double halo(const std::vector<std::int64_t>& sizes) const;
  /// Width of x and y, whichever is less; 1 without extents, and of a recurrent layer, whose steps follow
  /// from each other.
  [[nodiscard]] std::int64_t width() const;
  /// How often ranks that share its channels out meet: once, of a recurrent layer at each step.
  [[nodiscard]] double meetings() const;
};

/// Fill in Layer::beside. @param reads layers whose y each layer reads, -1: x of the first [layers]
void count_beside(std::vector<Layer>& layers, const std::vector<std::vector<int>>& reads);

/// A network, and what one rank needs for a sample of it.
struct Network {
  std::vector<Layer> layers;
  double forward_seconds = 0, backward_seconds = 0;  ///< of a sample, all layers
  double update_seconds = 0;                         ///< of all weights, a step

  [[nodiscard]] double weights() const;  ///< sum |w|
};

/// One row a kind of layer: floating-point operations of a sample forward.
struct LayerKindRow {
  LayerKind value;
  const char *name, *doc;
  double (*flops)(const Layer&);
  /// Operations in the ParaDL authors' script of a forward and backward pass and the update of weights, half
  /// of them without the latter: windows of a pool are counted C times, a dense layer half.
  double (*authors)(const Layer&);
};
[[nodiscard]] std::span<const LayerKindRow> layer_kinds();
[[nodiscard]] const LayerKindRow& row_of(LayerKind kind);

/// The share of each layer in the time of a sample, from its operations: sums to 1. [layers] (1)
/// @param authors the operations as the ParaDL authors' script counts them
[[nodiscard]] std::vector<double> time_shares(const Network& network, bool authors);

}  // namespace quintet::planning
