#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/sparse/layout.hpp"
#include "surrogates/sequence/graph/graph_options.hpp"
#include "surrogates/sequence/graph/sea_graph.hpp"
#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::sequence {

/// A graph network over the sea without its weights: from windows of coefficients to coefficients, as the
/// recurrent networks, by way of the field at the nodes.
///
///     x_i(s) = sum_m P_im (input_scale_m X_m(s) + input_offset_m)/v,    s = 1 ... in,
///     H(0)_i = phi([x_i, cos and sin of the season of the last step, place on the sphere] W + b),
///     H(k) = H(k-1) + phi(A H(k-1) W + b),    k = 1 ... layers,    phi = silu,
///     y = H(layers) W + b,    [nodes, out]
///     output_ml = u/output_scale_m sum_i B_mi y_il,    B = (P^T w P)^-1 P^T w.
///
/// P are the modes at the nodes, w the record's inner product; A = D^-1/2 (E + I) D^-1/2 with the edges E of
/// sea_edges() (Kipf and Welling 2017, ICLR). v and u are the sizes of anomalies and of the base's errors
/// over the sea's area, v^2 = sum_m input_scale_m^2 <P_m^2>, so that x and y are of size 1.
struct GraphNetwork {
  std::shared_ptr<const SeaNodes> nodes;
  GraphOptions options;
  WindowShape shape;
  int seasons = 0;
  std::vector<double> input_offset, input_scale, output_scale;  ///< [M]

  [[nodiscard]] int n_modes() const { return nodes->n_modes; }
  [[nodiscard]] int n_inputs() const { return n_modes() + 2 * seasons; }  ///< numbers a step of a window
  [[nodiscard]] int n_features() const { return shape.in + 2 * seasons + 3; }
};

/// Its products with weights, in their order and places in the flat array.
[[nodiscard]] Graph graph_of(const GraphNetwork& network);
/// In words: "graph of 1200 nodes, 3 convolutions of 64 features".
[[nodiscard]] std::string summary(const GraphNetwork& network);

/// A graph network that runs, nodes (and features, 2D and 3D) shared out over ranks, in the precision of its
/// options; windows one after the other, so that outputs do not depend on those beside it.
///
/// In float32 numbers at nodes and their products are of 4 bytes. Windows, weights, coefficients, losses and
/// gradients of weights are in float64 beside both, and so are sums over nodes and ranks.
class GraphPasses {
 public:
  virtual ~GraphPasses() = default;
  [[nodiscard]] virtual std::size_t n_parameters() const = 0;
  /// How nodes are shared out, and why.
  [[nodiscard]] virtual const std::string& reason() const = 0;
  [[nodiscard]] virtual const SpmmLayout& layout() const = 0;
  [[nodiscard]] virtual const PanelPart& part() const = 0;
  /// Traffic that this rank received in the last window's passes, without sums over all ranks.
  [[nodiscard]] virtual const SpmmTraffic& received() const = 0;
  /// Neighbours of all nodes, and nodes of this rank.
  [[nodiscard]] virtual std::size_t n_edges() const = 0;
  [[nodiscard]] int n_own() const { return part().n_rows(); }
  /// Bytes that this rank holds.
  struct Memory {
    std::size_t arrays = 0;    ///< over nodes, with what a window's passes have left
    std::size_t products = 0;  ///< its parts of the matrix and of weights, and what has come from others
  };
  [[nodiscard]] virtual Memory bytes() const = 0;

  virtual void refresh(const double* parameters) = 0;
  /// Outputs [n, out, M] on all ranks of windows [n, in, n_inputs]. Collective.
  [[nodiscard]] virtual std::vector<double> forward(std::span<const double> windows) = 0;
  /// This rank's part of a window's loss,
  ///
  ///     sum_i area_i sum_l (y_il - t_il)^2/(out sum_i area_i),    t_il = sum_m P_im output_scale_m T_ml/u;
  ///
  /// adds its part of share dloss/dparameters to `gradient`: sums over ranks are the caller's, of a window or
  /// of many at once. Collective.
  /// @param window [in, n_inputs] @param target [out, M]
  [[nodiscard]] virtual double loss_and_gradient(const double* window, const double* target, double share,
                                                 double* gradient) = 0;
};
/// @param spmm how ranks share out nodes and features; the network's own option is for its training
/// Throws InputError: a layout that does not fit the ranks, modes that nodes cannot tell apart. Collective.
[[nodiscard]] std::unique_ptr<GraphPasses> graph_passes(const Comm& comm,
                                                        std::shared_ptr<const GraphNetwork> network,
                                                        SpmmKind spmm = SpmmKind::automatic);

}  // namespace quintet::sequence
