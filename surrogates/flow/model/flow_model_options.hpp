#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/flow/decoder/decoder_options.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"

namespace quintet::flow {

/// How latents become fields.
enum class DecoderKind {
  continuous,    ///< Decoder: fields and their derivatives at any point
  convolutional  ///< more stages of the U-Net, and linear interpolation between nodes: the usual baseline
};

/// Base that a model's fields correct.
enum class DecoderBase {
  none,           ///< nothing: the network gives the fields (the reference)
  interpolation,  ///< the coarse fields, interpolated linearly along each axis
};

/// Section `model.encoder.masks`.
struct MaskOptions {
  double level = 0.1;
  std::vector<std::string> period{"crop"};  ///< one for all axes, or one each: nodes, or crop
  std::int64_t seed = 1;
};
void describe(Schema& schema, MaskOptions& options);

/// Section `model.encoder`.
struct EncoderOptions {
  EncoderKind kind = EncoderKind::unet;
  int width = 16, widest = 256;
  int layers = 4;                            ///< Fourier layers
  std::vector<std::int64_t> modes{2, 4, 8};  ///< of each axis, time first
  std::vector<std::int64_t> widths;
  int levels = 0;
  std::vector<std::string> padding{"zeros"};  ///< one for all axes, or one each
  ResidualMiddle block = ResidualMiddle::convolution;
  std::optional<MaskOptions> masks;  ///< where it perturbs; a model's file has them then
  bool differences = false;          ///< whether it sees those of the fields, too: encoder_features()
};
void describe(Schema& schema, EncoderOptions& options);

/// Section `model.decoder`.
struct ContinuousOptions {
  DecoderKind kind = DecoderKind::continuous;
  std::vector<std::int64_t> widths{512, 256, 128, 64, 32};
  Activation activation = Activation::softplus;
  bool repeat_input = true;
  Blend blend = Blend::linear;
  DecoderBase base = DecoderBase::none;
};
void describe(Schema& schema, ContinuousOptions& options);

/// Section `model`: the networks; defaults are the reference's (Jiang et al. 2020, SC20).
struct FlowModelOptions {
  int latents = 32;
  EncoderOptions encoder;
  ContinuousOptions decoder;
  std::vector<std::string> conditioning;  ///< parameters that the encoder sees
};
void describe(Schema& schema, FlowModelOptions& options);

/// @param refinement of the convolutional decoder; not looked at otherwise
[[nodiscard]] UnetOptions unet_options(const FlowModelOptions& options, int n_fields, const GridShape& block,
                                       const GridShape& refinement);
/// The kind of encoder and residual blocks in words, with what their masks are: of equal words, weights fit.
[[nodiscard]] std::string residual_words(const UnetOptions& options);
/// With a base its latents are the encoder's, then the coarse fields of the node.
[[nodiscard]] DecoderOptions decoder_options(const FlowModelOptions& options, int n_fields);

}  // namespace quintet::flow
