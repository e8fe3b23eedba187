#pragma once

#include <ATen/core/Tensor.h>

#include "surrogates/flow/decoder/decoder.hpp"

namespace quintet::flow {

/// The decoder by LibTorch's operators and automatic differentiation: the twin of decode(), on the device of
/// its tensors.
///
/// The equations are Decoder's: channels (the value, tangents, inner operators) are stacked as rows, a layer
/// is one product. Which nodes a point is seen from, and with what weights, is found on the host. Memory is
/// not bounded: 8 rows a point and channel, all layers, until the backward pass.
/// @param latents [sample, node_t, node_z, node_x, latent], of type Real @param parameters [n_parameters],
/// there
/// @return jets [sample, point, channel, field]
/// Throws InputError as Decoder::forward does.
template <class Real>
[[nodiscard]] at::Tensor decode_by_torch(const DecoderOptions& options, const DecoderQueries& queries,
                                         const at::Tensor& latents, const at::Tensor& parameters);

}  // namespace quintet::flow
