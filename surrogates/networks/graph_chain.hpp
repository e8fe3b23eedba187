#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/layout.hpp"
#include "physics/sparse/row_parts.hpp"
#include "physics/sparse/sparse_product.hpp"
#include "physics/sparse/transpose.hpp"
#include "surrogates/networks/description.hpp"
#include "surrogates/networks/layer.hpp"

namespace quintet::networks {

/// A block of a GraphChain: a dense layer without time step, whose rows may be gathered along a graph first.
/// Its only skip is one of its own input, which is as wide as its output.
struct GraphBlock {
  LayerSpec layer;
  bool on_graph = true;
};

/// Tape that passes of a GraphChain leave for each other.
template <class Real>
struct GraphTape {
  struct Layer {
    AlignedVector<Real> gathered;  ///< [rows, n_in] A H, or [rows, n_out] H W, own columns
    AlignedVector<Real> y, slope;  ///< [rows, n_out] H', [rows, stride] phi'
  };
  std::vector<Layer> layers;
  AlignedVector<Real> padded, product, bar, bar_before, bar_skip, weight_bar, some_rows;  ///< work space

  [[nodiscard]] std::size_t bytes() const;
};

/// A network on the nodes of a graph, shared out over ranks: graph convolutions
///
///     H' = phi(A H W + b)
///
/// and dense layers, one after the other; a block with a skip gives H + phi(...). A [n, n] is any sparse
/// matrix, symmetric or not; gradients go through A^T:
///
///     Z_bar = H'_bar phi',   b_bar = sum Z_bar,   W_bar = (A H)^T Z_bar,   H_bar = A^T (Z_bar W^T),
///
/// or, where W makes rows shorter, A (H W) with T_bar = A^T Z_bar, W_bar = H^T T_bar, H_bar = T_bar W^T: a
/// product moves the shorter rows, once each way. Where ranks share out columns of H, too (2D, 3D), products
/// with W go through the parts of a row one after the other (RowParts): those of Z_bar serve W_bar and H_bar
/// alike. Gradients of parameters are a rank's part of a sum over ranks. Unlike
/// in a Chain rows depend on each other, so all of a rank go through a layer together.
///
/// In float32 numbers of nodes, products and weights in them are of 4 bytes. Gradients of weights are added
/// up in blocks of rows, and these, like sums over ranks, in float64: any number of ranks is the same to
/// round-off of float32. Source: Kipf and Welling 2017 (ICLR); Tripathy et al. 2020 (SC).
/// @tparam Real float or double
template <class Real>
class GraphChain {
 public:
  using Numbers = AlignedVector<Real>;
  using Tape = GraphTape<Real>;

  /// @param a this rank's rows of A, single rows as units
  /// @param kind automatic: the least time by count of the widest layer
  /// Throws InputError for ranks or rows that do not fit the kind, InternalError for layers that do not fit.
  /// Collective.
  GraphChain(const Comm& comm, const SparseRows& a, std::vector<GraphBlock> blocks,
             SpmmKind kind = SpmmKind::automatic, const MessageCosts& costs = {});

  /// The part of H that this rank has; of x, y and their gradients likewise.
  [[nodiscard]] const PanelPart& part() const { return product_->part(); }
  [[nodiscard]] int n_in() const { return layers_.front().spec.n_in; }
  [[nodiscard]] int n_out() const { return layers_.back().spec.n_out; }
  /// How rows are shared out, and why.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  [[nodiscard]] const SpmmLayout& layout() const { return product_->layout(); }
  /// Traffic that this rank has received since the last forward() began, without sums over all ranks.
  [[nodiscard]] const SpmmTraffic& received() const { return received_; }
  /// Bytes of this rank's parts of A and of W, and of what has come from others.
  [[nodiscard]] std::size_t bytes() const;
  /// Whether A^T = A, bit by bit, so that one product serves both ways.
  [[nodiscard]] bool symmetric() const { return back_ == nullptr; }

  /// Take weights and biases from the flat parameters.
  void refresh(const double* parameters);
  /// @param x [rows, columns of n_in] of this rank @return [rows, columns of n_out]. Throws InputError if x
  /// does not match. Collective.
  const Numbers& forward(const Numbers& x, Tape& tape);
  /// After forward(): add this rank's part of dL/dparameters, whose sum over ranks is the whole, to
  /// `gradient`, and write x_bar = dL/dx unless it is null. Parts of several passes may be summed over ranks
  /// at once. Collective.
  /// @param y_bar [rows, columns of n_out] dL/dH' of this rank's part
  void gradient(const Numbers& x, const Numbers& y_bar, Tape& tape, double* gradient,
                Numbers* x_bar = nullptr);

  /// Describe its blocks and their costs, without products with A.
  [[nodiscard]] ChainDescription describe() const;

 private:
  using LayerTape = typename Tape::Layer;
  /// Its n_in and stride are of this rank's columns, those of its spec of all.
  struct GraphLayer : Layer<Real> {
    bool on_graph = true;
    bool gathers_first = true;  ///< (A H) W, else A (H W)
    int n_out = 0;              ///< this rank's columns
    /// W's rows of group j and this rank's columns; transposed W's of this rank's rows and columns of j.
    std::vector<PackedMatrix<Real>> weights, transposes;
    [[nodiscard]] bool has_skip() const { return !this->spec.skip.empty(); }
    [[nodiscard]] bool gathers_last() const { return on_graph && !gathers_first; }
  };
  void gather(SparseProduct<Real>& product, const Numbers& from, Numbers& to, int f);
  void back(const Numbers& from, Numbers& to, int f) { gather(back_ ? *back_ : *product_, from, to, f); }
  void times_weights(const GraphLayer& layer, const Numbers& h, Tape& tape);
  void activate(const GraphLayer& layer, const Numbers& before, const Numbers* in, Tape& tape, LayerTape& to);
  void take_slopes(const GraphLayer& layer, const LayerTape& t, Tape& tape, int first, int last,
                   double* bias) const;
  void whole_gradients(const GraphLayer& layer, const LayerTape& t, const Numbers& in, Tape& tape,
                       bool goes_on, double* sums);
  void cut_gradients(const GraphLayer& layer, const Numbers& in, Tape& tape, bool goes_on, double* sums);
  void add_to_places(const std::vector<double>& sums, double* gradient) const;

  std::vector<GraphLayer> layers_;
  OwnedRows transposed_;  ///< empty if A^T = A
  std::unique_ptr<SparseProduct<Real>> product_, back_;
  std::unique_ptr<RowParts<Real>> parts_;
  std::string reason_;
  SpmmTraffic received_;
};

/// The matrix of graph convolutions: D^-1/2 (A + I) D^-1/2 with D the sums of the rows of A + I; a diagonal
/// that A has stays in place of 1. A_ik is the weight of the edge from k to i. A row whose sum is not
/// positive is 0. Source: Kipf and Welling 2017 (ICLR), eq. 2. Throws InputError if units are not single
/// rows. Collective.
[[nodiscard]] OwnedRows graph_convolution_matrix(const Comm& comm, const SparseRows& a);

}  // namespace quintet::networks
