#pragma once

#include <memory>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/decoder/decoder.hpp"

namespace quintet::flow {

/// The decoder as one function of torch's autograd, whose backward pass is Decoder::backward.
///
/// Takes the parameters into the decoder (refresh), which must live, unchanged, until the backward pass; its
/// tape is kept only where a gradient is wanted.
/// @param made_again the tape keeps nothing (see DecoderTape)
/// @param latents [sample, node_t, node_z, node_x, latent], contiguous, of type Real
/// @param parameters [n_parameters], contiguous
/// @return jets [sample, point, channel, field]
template <class Real>
[[nodiscard]] at::Tensor decode(Decoder<Real>& decoder, std::shared_ptr<const DecoderQueries> queries,
                                const at::Tensor& latents, const at::Tensor& parameters,
                                bool made_again = false);

}  // namespace quintet::flow
