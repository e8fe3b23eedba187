#pragma once

#include "surrogates/flow/decoder/decoder_layer.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"

/// Activation of channels between two products: one sweep forward, one backward.
///
/// Channels are stacked as rows: channel c of row r stands at row c n_rows + r of arrays [.., stride].
namespace quintet::flow {

/// A layer's arrays in a block of rows.
template <class Real>
struct LayerArrays {
  const Real* node_products;  ///< W_q q + c [touched node, node_stride]; bias alone where no input is read
  int node_stride;            ///< 0 where all rows share one
  Real* a;                    ///< pre-activations; null for the first layer, which has no product
  Real* h;                    ///< activations
};

/// Pre-activations and activations of all channels: `a` comes with the product of the layer before, and keeps
/// what is needed by the backward pass if `keep`.
template <class Real>
void activate_forward(const DecoderLayer<Real>& layer, const JetPlan& plan, const RowBlock<Real>& rows,
                      const LayerArrays<Real>& arrays, bool keep);

/// The way back: `h_bar` becomes a_bar, `arrays.h` the activations again; adds to the gradients of W_xi
/// [axis, stride] and of the nodes' products [touched node, node_stride].
template <class Real>
void activate_backward(const DecoderLayer<Real>& layer, const JetPlan& plan, const RowBlock<Real>& rows,
                       const LayerArrays<Real>& arrays, Real* h_bar, Real* coordinates_bar, Real* node_bar);

}  // namespace quintet::flow
