#pragma once

#include <cstddef>

#include "physics/codes/binary_codes.hpp"
#include "surrogates/flow/model/flow_model.hpp"

namespace quintet::flow {

/// A model whose continuous decoder has the matrices that binary codes of its own stand for; the encoder and
/// all biases are as they were.
struct CodedDecoder {
  FlowModel model;
  std::size_t bytes = 0;        ///< of the decoder's numbers as codes, scales and biases
  std::size_t bytes_float = 0;  ///< of the same as floats
};
/// @param options groups are of a layer's inputs: hidden, then place, then latents
/// Throws InputError for a model with a convolutional decoder.
[[nodiscard]] CodedDecoder code_decoder(const FlowModel& model, const CodeOptions& options);

}  // namespace quintet::flow
