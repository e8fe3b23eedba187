#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/layout.hpp"
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
struct GraphTape {
  struct Layer {
    AlignedVector<double> gathered;  ///< [rows, n_in] A H, or [rows, n_out] H W
    AlignedVector<double> y, slope;  ///< [rows, n_out] H', [rows, stride] phi'
  };
  std::vector<Layer> layers;
  AlignedVector<double> padded, product, bar, bar_before, bar_skip, weight_bar;  ///< work space
};

/// A network on the nodes of a graph, shared out over ranks by rows: graph convolutions
///
///     H' = phi(A H W + b)
///
/// and dense layers, one after the other; a block with a skip gives H + phi(...). A [n, n] is any sparse
/// matrix, symmetric or not; gradients go through A^T:
///
///     Z_bar = H'_bar phi',   b_bar = sum Z_bar,   W_bar = (A H)^T Z_bar,   H_bar = A^T (Z_bar W^T),
///
/// or, where W makes rows shorter, A (H W) with T_bar = A^T Z_bar, W_bar = H^T T_bar, H_bar = T_bar W^T: a
/// product moves the shorter rows, once each way. Gradients of parameters are summed over ranks. Unlike in a
/// Chain rows depend on each other, so all of a rank go through a layer together. In float64.
/// Source: Kipf and Welling 2017 (ICLR); Tripathy et al. 2020 (SC).
class GraphChain {
 public:
  /// @param a this rank's rows of A, single rows as units
  /// @param kind 1d, sparse_1d or 1.5d, or automatic: the least time by count; 2d and 3d cut rows of H, which
  /// the product with W needs whole. Throws InputError for these, InternalError for layers that do not fit.
  /// Collective.
  GraphChain(const Comm& comm, const SparseRows& a, std::vector<GraphBlock> blocks,
             SpmmKind kind = SpmmKind::automatic, const MessageCosts& costs = {});

  /// The rows of H that this rank has, all columns.
  [[nodiscard]] const PanelPart& part() const { return product_->part(); }
  [[nodiscard]] int n_in() const { return layers_.front().spec.n_in; }
  [[nodiscard]] int n_out() const { return layers_.back().spec.n_out; }
  /// How rows are shared out, and why.
  [[nodiscard]] const std::string& reason() const { return reason_; }
  /// Whether A^T = A, bit by bit, so that one product serves both ways.
  [[nodiscard]] bool symmetric() const { return back_ == nullptr; }

  /// Take weights and biases from the flat parameters.
  void refresh(const double* parameters);
  /// @param x [rows, n_in] of this rank @return [rows, n_out]. Throws InputError if x does not match.
  /// Collective.
  const AlignedVector<double>& forward(const AlignedVector<double>& x, GraphTape& tape);
  /// After forward(): add dL/dparameters of all ranks to `gradient`, and write x_bar = dL/dx unless it is
  /// null. Collective.
  /// @param y_bar [rows, n_out] dL/dH' of this rank's rows
  void gradient(const AlignedVector<double>& x, const AlignedVector<double>& y_bar, GraphTape& tape,
                double* gradient, AlignedVector<double>* x_bar = nullptr);

  /// Describe its blocks and their costs, without products with A.
  [[nodiscard]] ChainDescription describe() const;

 private:
  struct GraphLayer : Layer<double> {
    bool on_graph = true;
    bool gathers_first = true;  ///< (A H) W, else A (H W)
    [[nodiscard]] bool has_skip() const { return !spec.skip.empty(); }
  };
  void back(const AlignedVector<double>& from, AlignedVector<double>& to, int f) {
    (back_ ? *back_ : *product_)(from, to, f);
  }

  Comm comm_;
  std::vector<GraphLayer> layers_;
  OwnedRows transposed_;  ///< empty if A^T = A
  std::unique_ptr<SparseProduct> product_, back_;
  std::string reason_;
};

/// The matrix of graph convolutions: D^-1/2 (A + I) D^-1/2 with D the sums of the rows of A + I; a diagonal
/// that A has stays in place of 1. A_ik is the weight of the edge from k to i. A row whose sum is not
/// positive is 0. Source: Kipf and Welling 2017 (ICLR), eq. 2. Throws InputError if units are not single
/// rows. Collective.
[[nodiscard]] OwnedRows graph_convolution_matrix(const Comm& comm, const SparseRows& a);

}  // namespace quintet::networks
