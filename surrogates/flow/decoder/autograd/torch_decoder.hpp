#pragma once

#include <array>

#include <ATen/core/Tensor.h>

#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"

namespace quintet::flow {

/// Queries of a decoder by LibTorch's operators, as numbers; rows are nodes' views of points.
struct DecoderRows {
  JetPlan plan;
  int n_samples = 0, n_points = 0;
  at::Tensor node;          ///< [row] int64, among the nodes of all samples
  at::Tensor place;         ///< [row, axis] relative to it
  at::Tensor coefficients;  ///< [row, inner operator, row_coefficients]
  at::Tensor mix;           ///< [point, corner, output, channel]

  [[nodiscard]] std::array<at::Tensor*, 4> tensors() { return {&node, &place, &coefficients, &mix}; }
};

/// Find the nodes from which points are seen, and their weights; on the host, where they stay.
/// Throws InputError as Decoder::forward does.
template <class Real>
[[nodiscard]] DecoderRows decoder_rows(const DecoderOptions& options, const DecoderQueries& queries);

/// The decoder by LibTorch's operators and automatic differentiation: the twin of decode(), on the device of
/// its tensors, which are read there alone.
///
/// The equations are Decoder's: channels (the value, tangents, inner operators) are stacked as rows, a layer
/// is one product. Memory is not bounded: 8 rows a point and channel, all layers, until the backward pass.
/// @param latents [sample, node_t, node_z, node_x, latent] @param parameters [n_parameters], both of the type
/// of `rows` and there
/// @return jets [sample, point, channel, field]
[[nodiscard]] at::Tensor decode_by_torch(const DecoderOptions& options, const DecoderRows& rows,
                                         const at::Tensor& latents, const at::Tensor& parameters);

/// Decode queries, whose rows go to the latents' device; see above. Throws InputError as Decoder::forward
/// does.
template <class Real>
[[nodiscard]] at::Tensor decode_by_torch(const DecoderOptions& options, const DecoderQueries& queries,
                                         const at::Tensor& latents, const at::Tensor& parameters);

}  // namespace quintet::flow
