#pragma once

#include <memory>
#include <span>

#include "io/device/device_fwd.hpp"
#include "surrogates/flow/decoder/decoder.hpp"
#include "surrogates/flow/model/flow_model.hpp"

namespace quintet::flow {

/// The decoder of a continuous model by LibTorch on a run's device, for inference: weights go there once,
/// latents once for all points that are asked of them.
class DeviceDecoder {
 public:
  /// Memory of the device that points are cut into parts for (bytes).
  static constexpr double most_bytes = 256e6;

  /// Throws InputError for a model with a convolutional decoder.
  DeviceDecoder(const FlowModel& model, const DeviceSession& device);
  ~DeviceDecoder();
  DeviceDecoder(DeviceDecoder&&) noexcept;

  /// Latents [t][z][x][latent] of the queries to come, which are of one sample.
  void take(std::span<const float> latents, const GridShape& shape);
  /// Compute the jets of Decoder::forward, to round-off.
  void forward(const DecoderQueries& queries, std::span<float> jets) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quintet::flow
