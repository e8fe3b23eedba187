#pragma once

#include <cstdint>
#include <vector>

#include "physics/kernels/aligned.hpp"
#include "surrogates/flow/decoder/decoder.hpp"

/// Channels that run through the decoder, and the weights that blend them into jets.
namespace quintet::flow {

/// Nodes that a point is seen from.
inline constexpr int n_corners = 8;

/// Channels of the network for a set of operators: the value, tangents along some axes, inner operators.
struct JetPlan {
  std::vector<int> tangents;  ///< axes, increasing
  std::vector<int> inner;     ///< operators that have a channel of their own
  std::vector<int> channel;   ///< [operator] its channel, or -1: a combination of tangents
  int n_operators = 0;        ///< asked for
  bool second_order = false;  ///< some operator is

  [[nodiscard]] int n_tangents() const { return tangents.size(); }
  [[nodiscard]] int n_inner() const { return inner.size(); }
  [[nodiscard]] int n_channels() const { return 1 + n_tangents() + n_inner(); }
  [[nodiscard]] int n_outputs() const { return 1 + n_operators; }
  /// Pairs of tangents, (0,0) (1,1) .. then (0,1) (0,2) (1,2).
  [[nodiscard]] int n_pairs() const { return n_tangents() * (n_tangents() + 1) / 2; }
  friend bool operator==(const JetPlan&, const JetPlan&) = default;
};
/// Tangents along every axis of a second derivative, and of a first-order operator that has one axis alone.
[[nodiscard]] JetPlan make_plan(const DecoderQueries& queries);
/// Throws InputError for bad grids, and for second-order operators with an activation that has no second
/// derivative.
void check_queries(const DecoderQueries& queries, const JetPlan& plan, Activation activation);

/// Numbers of an inner operator in a row: first [axis], then second [pair of tangents], at relative
/// coordinates.
inline constexpr int row_coefficients = n_axes + n_second;

/// Data from which a block of rows (a node's view of a point; rows of a point follow each other) is computed.
template <class Real>
struct RowBlock {
  int n_rows = 0;
  std::vector<int> node;           ///< [row] node of the sample
  std::vector<int> local;          ///< [row] its place among the nodes that are touched
  std::vector<Real> place;         ///< [row][axis] relative to the node
  std::vector<Real> coefficients;  ///< [row][inner operator][row_coefficients]
  std::vector<Real> mix;           ///< [row][output][channel] weights of the jets' sums

  /// Rows of the points whose numbers stand in `points`.
  void prepare(const JetPlan& plan, const DecoderQueries& queries, Blend blend, int sample, const int* points,
               int n_points);
};

/// Call visit(node) for the nodes that points of a sample are seen from, in the order of a block's rows.
template <class Visit>
void visit_nodes(const DecoderQueries& queries, int sample, const int* points, int n_points, Visit&& visit) {
  const NodeGrid& grid = queries.grid(sample);
  for (int p = 0; p < n_points; ++p) {
    const double* x = queries.point(sample, points[p]);
    const auto cell = locate(grid, x);
    for (int corner = 0; corner < n_corners; ++corner)
      visit((cell[0].node[corner >> 2 & 1] * grid[1].size() + cell[1].node[corner >> 1 & 1]) *
                grid[2].size() +
            cell[2].node[corner & 1]);
  }
}

/// The numbers of a sample's points in the order of their cells (a stable sort).
[[nodiscard]] std::vector<int> order_by_cell(const DecoderQueries& queries, int sample);

}  // namespace quintet::flow
