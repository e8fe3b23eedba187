#pragma once

#include <vector>

#include "physics/sparse/layout.hpp"
#include "physics/sparse/transpose.hpp"
#include "surrogates/sequence/graph/graph_network.hpp"

namespace quintet::sequence {

/// Bytes of a rank's arrays over nodes in training, those of GraphPasses::bytes() after a window, or up to a
/// fourth more: each of
///
///     (3 M + 1 + x + 3 l + (7 + 3 layers) f) numbers and 8 bytes a row,    x, l, f the rank's columns of
///
/// inputs, leads and features, filled up to packs; and two blocks of rows and a gradient of weights.
/// Forecasts alone take l and 3 f numbers a row less, and no gradient.
[[nodiscard]] double bytes_of_arrays(const GraphNetwork& network, const PanelPart& part, bool trains = true);

/// Needs of the training of a graph network on ranks that need not exist: for plans.
struct GraphNeeds {
  SpmmLayout layout;
  double share = 0;     ///< of a window's work, of the rank that has most; copies (1.5D) do theirs, too
  double arrays = 0;    ///< bytes_of_arrays() of the rank that has most
  double products = 0;  ///< upper bound of its GraphPasses::Memory::products (bytes)
  double weights = 0;   ///< bytes of weights, gradients, Adam's means and the best epoch, whole on each rank
  double forecast = 0;  ///< bytes of forecasts alone, with the weights of one network
  [[nodiscard]] double bytes() const { return arrays + products + weights; }
  /// What each rank receives in a window's forward passes, and forward and backward; words of a number each.
  std::vector<SpmmTraffic> forward, both;
};

/// The matrix of a graph network, with all its rows on this rank.
[[nodiscard]] OwnedRows whole_matrix(const GraphNetwork& network);
/// @param matrix whole_matrix() of the network @param kind as in GraphOptions::spmm
/// Throws InputError for ranks or nodes that do not fit the kind, as a training does.
[[nodiscard]] GraphNeeds graph_needs(const GraphNetwork& network, const SparseRows& matrix, int n_ranks,
                                     SpmmKind kind);

}  // namespace quintet::sequence
