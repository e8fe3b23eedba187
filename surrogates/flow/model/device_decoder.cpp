#include "surrogates/flow/model/device_decoder.hpp"

#include <algorithm>
#include <cstdint>

#include "io/log/error.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/decoder/autograd/torch_decoder.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"
#include "surrogates/flow/model/flow_inference.hpp"

namespace quintet::flow {

struct DeviceDecoder::State {
  TorchDevice device;
  DecoderOptions options;
  at::Tensor weights, latents;

  [[nodiscard]] at::Tensor there(std::span<const float> values, at::IntArrayRef shape) const {
    return at::from_blob(const_cast<float*>(values.data()), shape, at::kFloat)
        .to(at::TensorOptions().device(device.place()), /*non_blocking=*/false, /*copy=*/true);
  }
  /// Points at a time: a layer's input, product and results, of all rows and channels.
  [[nodiscard]] int points(int n_channels) const {
    const double widest = *std::max_element(options.widths.begin(), options.widths.end());
    const double a_point = 4.0 * 6 * n_corners * (n_channels + 2) * widest;
    return std::clamp(most_bytes / a_point, 16.0, 1e6);
  }
};

DeviceDecoder::DeviceDecoder(const FlowModel& model, const DeviceSession& device) {
  const auto& header = model.header;
  QUINTET_CHECK(header.options.decoder.kind == DecoderKind::continuous,
                "a model with a convolutional decoder has no decoder for points");
  state_ = translate_torch_errors("The decoder on a device", [&] {
    auto state = std::make_unique<State>(
        State{TorchDevice(device), decoder_options(header.options, header.fields.size()), {}, {}});
    const auto own = std::span(model.parameters).subspan(flow_network_size(header).encoder);
    state->weights = state->there(own, {std::ssize(own)});
    return state;
  });
}
DeviceDecoder::~DeviceDecoder() = default;
DeviceDecoder::DeviceDecoder(DeviceDecoder&&) noexcept = default;

void DeviceDecoder::take(std::span<const float> latents, const GridShape& shape) {
  translate_torch_errors("The decoder on a device", [&] {
    state_->latents.reset();
    state_->latents =
        state_->there(latents, {1, shape[0], shape[1], shape[2], std::int64_t{state_->options.n_latent}});
  });
}

void DeviceDecoder::forward(const DecoderQueries& queries, std::span<float> jets) const {
  const c10::InferenceMode without_graph;
  const int most = state_->points(queries.n_channels());
  const std::size_t a_point = queries.n_channels() * state_->options.n_fields;
  DecoderQueries some = queries;
  for (int first = 0; first < queries.n_points; first += most) {
    some.n_points = std::min(most, queries.n_points - first);
    const auto from = queries.points.begin() + std::ptrdiff_t{first} * n_axes;
    some.points.assign(from, from + std::ptrdiff_t{some.n_points} * n_axes);
    const at::Tensor made = decode_by_torch<float>(state_->options, some, state_->latents, state_->weights)
                                .to(at::kCPU)
                                .contiguous();
    std::copy_n(made.const_data_ptr<float>(), made.numel(), jets.begin() + (first * a_point));
  }
}

}  // namespace quintet::flow
