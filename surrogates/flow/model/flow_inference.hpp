#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/device/device.hpp"
#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/flow/model/flow_model.hpp"

/// Use of a model without training and without LibTorch.
namespace quintet::flow {

/// Numbers that a model's networks hold.
struct FlowNetworkSize {
  std::size_t encoder = 0, parameters = 0;  ///< the encoder's, and all
  std::size_t statistics = 0;
};
/// Throws InputError for options that make no network.
[[nodiscard]] FlowNetworkSize flow_network_size(const FlowModelHeader& header);

/// Input of the encoder from coarse fields: the normalised fields, with `differences` those of each field
/// along each axis, then for each conditioning parameter 2 log(p/p_0)/log(p_most/p_least) throughout, p_0 the
/// middle of its range in training (0 where it was one value).
///
/// Differences are 4 (f_(i+1) - f_(i-1)) along time and 4 (f_(i+1) - 2 f_i + f_(i-1)) along space, about as
/// large as the fields. Beyond an end f is that of the other end where padding is circular, else that of the
/// end.
///
/// @param fields [sample][field][t][z][x] normalised
/// @param parameters [sample][parameter] in the header's order
/// @return [sample][feature][t][z][x]
template <class Real>
[[nodiscard]] std::vector<Real> encoder_features(const FlowModelHeader& header, const GridShape& shape,
                                                 std::span<const float> fields,
                                                 std::span<const double> parameters);

/// Latents of coarse fields for inference, without a graph: [sample][t][z][x][latent] (convolutional: fields
/// on the fine grid).
/// @param fields [sample][field][t][z][x] physical units
/// @param parameters [sample][parameter] in the header's order
/// @param device where LibTorch computes them
[[nodiscard]] std::vector<float> encode_fields(const FlowModel& model, int n_samples, const GridShape& shape,
                                               std::span<const float> fields,
                                               std::span<const double> parameters,
                                               const DeviceSession& device = {});

/// The decoder of a continuous model, with its weights. Jets are of normalised fields: times the field's
/// deviation, and for values plus its mean, they are in physical units. Throws InputError for a model with a
/// convolutional decoder, whose fields are those of encode_fields().
[[nodiscard]] Decoder<float> continuous_decoder(const FlowModel& model);

}  // namespace quintet::flow
