#pragma once

#include <vector>

#include "physics/kernels/activation.hpp"
#include "surrogates/flow/equations/differential_operator.hpp"

namespace quintet::flow {

/// Weights w(r) that blend what the two nodes of a cell say, r in [0, 1] the place between them.
enum class Blend {
  linear,   ///< w = r: fields are continuous, their first derivatives jump at nodes (the reference)
  cubic,    ///< w = 3 r^2 - 2 r^3: first derivatives are continuous, too
  quintic,  ///< w = 6 r^5 - 15 r^4 + 10 r^3: so are second derivatives
};

/// The continuous decoder: a dense network of (place relative to a node, latents of the node). The defaults
/// are the reference's.
///
/// Source: Jiang et al. 2020 (SC20), section 4.
struct DecoderOptions {
  int n_latent = 32;
  int n_fields = 4;
  std::vector<int> widths = {512, 256, 128, 64, 32};  ///< of the hidden layers
  Activation activation = Activation::softplus;
  bool repeat_input = true;  ///< hidden layers after the first read the network's input as well
  Blend blend = Blend::linear;
  /// The last n_fields latents of a node are fields known there, and what the network says is a correction to
  /// them: without it the decoder interpolates (Blend::linear: linearly along each axis).
  bool adds_known_fields = false;
};

}  // namespace quintet::flow
