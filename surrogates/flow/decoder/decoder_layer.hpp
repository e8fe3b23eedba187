#pragma once

#include <string>
#include <vector>

#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/flow/decoder/decoder.hpp"

namespace quintet::flow {

/// A dense layer of the decoder ready to run: a = W_h h + W_xi xi + W_q q + c.
template <class Real>
struct DecoderLayer {
  std::string name;
  int n_hidden = 0;  ///< inputs from the layer before: none for the first
  int n_out = 0, stride = 0;
  bool reads_input = false;
  Activation activation = Activation::linear;
  std::size_t weight = 0, bias = 0;  ///< places of [n_in, n_out] and [n_out] among the parameters

  PackedMatrix<Real> hidden, hidden_transposed;  ///< W_h [n_hidden, n_out] and its transpose
  PackedBf16 hidden_bf16;                        ///< W_h again, where queries may ask for it
  PackedMatrix<Real> latent, latent_transposed;  ///< W_q [n_latent, n_out] and its transpose
  AlignedVector<Real> coordinates;               ///< W_xi [axis, stride]; 0 where the input is not read
  AlignedVector<Real> bias_row;                  ///< [stride]
};

template <class Real>
struct Decoder<Real>::State {
  DecoderOptions options;
  std::vector<DecoderLayer<Real>> layers;
  std::size_t n_parameters = 0;
  bool has_bf16 = false;  ///< hidden_bf16 is filled
};

/// Gradients of a layer's parameters, rows padded to whole packs.
template <class Real>
struct LayerGradient {
  AlignedVector<Real> hidden, coordinates, latent, bias;  ///< [n_hidden | n_axes | n_latent | 1, stride]
};

}  // namespace quintet::flow
