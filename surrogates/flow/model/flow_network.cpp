#include "surrogates/flow/model/flow_network.hpp"

#include <algorithm>
#include <cmath>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/flow/decoder/autograd/decoder_function.hpp"
#include "surrogates/flow/decoder/autograd/torch_decoder.hpp"
#include "surrogates/flow/model/refined_grid.hpp"

namespace quintet::flow {

namespace {

UnetOptions encoder_options(const FlowModelHeader& header) {
  return unet_options(header.options, header.fields.size(), header.block, header.refinement);
}
DecoderOptions decoder_options(const FlowModelHeader& header) {
  return flow::decoder_options(header.options, header.fields.size());
}

FlowNetworkSize size_of(const FlowModelHeader& header, const std::vector<UnetBlock>& blocks) {
  FlowNetworkSize size;
  for (const auto& block : blocks) {
    size.encoder += block.n_parameters;
    size.statistics += block.n_statistics;
  }
  size.parameters = size.encoder;
  if (header.options.decoder.kind == DecoderKind::continuous)
    size.parameters += Decoder<float>(decoder_options(header)).n_parameters();
  return size;
}

/// Between -1 and 1 over the range in training, by the logarithm.
double conditioning_feature(const ModelParameter& parameter, double value) {
  const auto [least, most] = parameter.range;
  QUINTET_CHECK(least > 0 && value > 0,
                "conditioning on {}: {} is not above 0; its logarithm is what the encoder sees",
                parameter.name, std::min(least, value));
  const double width = std::log(most / least);
  return width == 0 ? 0 : 2 * std::log(value / std::sqrt(least * most)) / width;
}

/// Add the differences of a sample's field along each axis to the features.
template <class Real>
void append_differences(std::span<const float> field, const GridShape& shape,
                        const std::array<Padding, 3>& padding, bool of_volumes, std::vector<Real>& features) {
  constexpr float scale = 4;
  const std::array<std::ptrdiff_t, 3> strides{std::ptrdiff_t{shape[1]} * shape[2], shape[2], 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::ptrdiff_t stride = strides[axis];
    const int n = shape[axis], beyond = padding[axis] == Padding::circular ? n - 1 : 0;
    const bool is_time = axis == 0 && !of_volumes;
    for (std::ptrdiff_t i = 0; i < std::ssize(field); ++i) {
      const int at = i / stride % n;
      const float here = field[i], before = field[at > 0 ? i - stride : i + beyond * stride],
                  after = field[at < n - 1 ? i + stride : i - beyond * stride];
      features.push_back(scale * (is_time ? after - before : after + before - 2 * here));
    }
  }
}

}  // namespace

FlowNetworkSize flow_network_size(const FlowModelHeader& header) {
  return size_of(header, unet_blocks(encoder_options(header)));
}

template <class Real>
std::vector<Real> encoder_features(const FlowModelHeader& header, const GridShape& shape,
                                   std::span<const float> fields, std::span<const double> parameters) {
  const std::size_t nodes = std::int64_t{shape[0]} * shape[1] * shape[2];
  const std::size_t n_fields = header.fields.size(), n_parameters = header.parameters.size(),
                    of_sample = n_fields * nodes, n_samples = fields.size() / of_sample;
  QUINTET_ASSERT(fields.size() == n_samples * of_sample && parameters.size() == n_samples * n_parameters,
                 "{} values and {} parameters", fields.size(), parameters.size());
  const UnetOptions encoder = encoder_options(header);
  std::vector<Real> features;
  features.reserve(n_samples * encoder.n_input * nodes);
  for (std::size_t sample = 0; sample < n_samples; ++sample) {
    const auto own = fields.subspan(sample * of_sample, of_sample);
    features.insert(features.end(), own.begin(), own.end());
    for (std::size_t field = 0; header.options.encoder.differences && field < n_fields; ++field)
      append_differences(own.subspan(field * nodes, nodes), shape, encoder.padding, header.of_volumes(),
                         features);
    for (const auto& name : header.options.conditioning) {
      const auto found = std::find_if(header.parameters.begin(), header.parameters.end(),
                                      [&](const auto& one) { return one.name == name; });
      QUINTET_CHECK(found != header.parameters.end(), "conditioning on '{}', which the data do not have",
                    name);
      const std::size_t place = found - header.parameters.begin();
      const double value = parameters[sample * n_parameters + place];
      features.insert(features.end(), nodes, static_cast<Real>(conditioning_feature(*found, value)));
    }
  }
  return features;
}

template <class Real>
FlowNetwork<Real>::FlowNetwork(const FlowModelHeader& header, const LayerTiles& tiles, Engine engine)
    : engine_(engine),
      refinement_(header.refinement),
      encoder_(encoder_options(header), tiles,
               engine == Engine::torch ? NormSweeps::torch : NormSweeps::ours),
      n_encoder_blocks_(encoder_.tensors().size()) {
  size_ = size_of(header, encoder_.blocks());
  if (header.options.decoder.kind == DecoderKind::continuous)
    decoder_ = std::make_unique<Decoder<Real>>(decoder_options(header));
}

template <class Real>
std::vector<double> FlowNetwork<Real>::initial_parameters(std::uint64_t seed) const {
  std::vector<double> values = encoder_.initial_parameters(seed);
  if (decoder_) {
    const auto more = decoder_->initial_parameters(seed);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

template <class Real>
networks::ChainDescription FlowNetwork<Real>::describe(const GridShape& shape) const {
  auto description = describe_unet(encoder_.blocks(), shape, sizeof(Real));
  if (decoder_)
    for (auto block : decoder_->describe().blocks) {
      block.name = "decoder " + block.name;
      description.blocks.push_back(std::move(block));
    }
  return description;
}

template <class Real>
std::vector<BlockTensors> FlowNetwork<Real>::tensors() const {
  auto blocks = encoder_.tensors();
  if (decoder_)  // its kernels read one array
    blocks.push_back({"decoder", {{"layers", {static_cast<std::int64_t>(decoder_->n_parameters())}}}});
  return blocks;
}

template <class Real>
std::vector<at::Tensor> FlowNetwork<Real>::parts(const at::Tensor& parameters) const {
  const std::int64_t n = size_.encoder;
  auto all = encoder_.parts(parameters.narrow(0, 0, n));
  if (decoder_) all.push_back(parameters.narrow(0, n, parameters.size(0) - n));
  return all;
}

template <class Real>
at::Tensor FlowNetwork<Real>::encode(const BlockParameters& parameters, const at::Tensor& features,
                                     const at::Tensor& statistics) const {
  return with_known_fields(encoder_.evaluate(parameters, features, statistics), features);
}

template <class Real>
at::Tensor FlowNetwork<Real>::encode(const Comm& comm, const BlockParameters& parameters,
                                     const at::Tensor& features, const at::Tensor& statistics,
                                     BlockPass& pass, const PartsBackward& back) const {
  return with_known_fields(encoder_.train(comm, parameters, features, statistics, pass, back), features);
}

template <class Real>
at::Tensor FlowNetwork<Real>::with_known_fields(const at::Tensor& latents, const at::Tensor& features) const {
  if (!decoder_ || !decoder_->options().adds_known_fields) return latents;
  return at::cat({latents, features.narrow(1, 0, decoder_->options().n_fields).permute({0, 2, 3, 4, 1})}, 4);
}

template <class Real>
at::Tensor FlowNetwork<Real>::decode(const at::Tensor& latents, const BlockParameters& parameters,
                                     std::shared_ptr<const DecoderQueries> queries, bool made_again) {
  if (!decoder_ || engine_ == Engine::torch) {
    DecoderRows asked = rows(*queries);
    for (at::Tensor* numbers : asked.tensors()) *numbers = numbers->to(latents.device());
    return decode(latents, parameters, asked);
  }
  return flow::decode<Real>(*decoder_, std::move(queries), latents, parameters(n_encoder_blocks_),
                            made_again);
}

template <class Real>
DecoderRows FlowNetwork<Real>::rows(const DecoderQueries& queries) const {
  return decoder_ ? decoder_rows<Real>(decoder_->options(), queries) : interpolation_rows(queries);
}

template <class Real>
at::Tensor FlowNetwork<Real>::decode(const at::Tensor& latents, const BlockParameters& parameters,
                                     const DecoderRows& rows) const {
  if (decoder_) return decode_by_torch(decoder_->options(), rows, latents, parameters(n_encoder_blocks_));
  const std::int64_t n_fields = latents.size(4);
  const at::Tensor corners = latents.reshape({-1, n_fields})
                                 .index_select(0, rows.node)
                                 .view({rows.n_samples, rows.n_points, n_corners, n_fields});
  return (corners * rows.mix.view({rows.n_samples, rows.n_points, n_corners, 1})).sum(2).unsqueeze(2);
}

template <class Real>
DecoderRows FlowNetwork<Real>::interpolation_rows(const DecoderQueries& queries) const {
  QUINTET_CHECK(
      queries.n_channels() == 1,
      "equations need derivatives, which a convolutional decoder does not have; set loss.gamma to 0 and "
      "leave boundary conditions without derivatives");
  const std::int64_t n = std::int64_t{queries.n_samples} * queries.n_points;
  const at::TensorOptions real(bridge::scalar_type<Real>());
  DecoderRows rows{{},
                   queries.n_samples,
                   queries.n_points,
                   at::empty({n * n_corners}, at::kLong),
                   at::empty({0}, real),
                   at::empty({0}, real),
                   at::empty({n, n_corners}, real)};
  auto* nodes = rows.node.data_ptr<std::int64_t>();
  auto* weights = rows.mix.template data_ptr<Real>();
  for (std::int64_t sample = 0; sample < queries.n_samples; ++sample) {
    const NodeGrid grid = refined_grid(queries.grid(sample), refinement_);
    const std::int64_t n_nodes = std::int64_t{grid[0].size()} * grid[1].size() * grid[2].size();
    for (std::int64_t p = 0; p < queries.n_points; ++p) {
      const double* x = &queries.points[(sample * queries.n_points + p) * n_axes];
      std::array<AxisCell, n_axes> cells{};
      for (std::size_t i = 0; i < n_axes; ++i) cells[i] = locate(grid[i], x[i]);
      for (int corner = 0; corner < n_corners; ++corner) {
        std::int64_t node = 0;
        double product = 1;
        for (std::size_t i = 0; i < n_axes; ++i) {
          const bool upper = (corner >> (2 - i) & 1) != 0;
          node = node * grid[i].size() + cells[i].node[upper ? 1 : 0];
          product *= upper ? cells[i].r : 1 - cells[i].r;
        }
        *nodes++ = n_nodes * sample + node;
        *weights++ = static_cast<Real>(product);
      }
    }
  }
  return rows;
}

std::vector<float> encode_fields(const FlowModel& model, int n_samples, const GridShape& shape,
                                 std::span<const float> fields, std::span<const double> parameters,
                                 const DeviceSession& device) {
  const FlowNetwork<float> network(model.header);
  std::vector<float> normalised(fields.begin(), fields.end());
  const std::size_t nodes = std::int64_t{shape[0]} * shape[1] * shape[2];
  for (std::size_t i = 0; i < normalised.size(); ++i) {
    const auto& field = model.header.fields[i / nodes % model.header.fields.size()];
    normalised[i] = static_cast<float>((normalised[i] - field.mean) / field.deviation);
  }
  auto features = encoder_features<float>(model.header, shape, normalised, parameters);
  return translate_torch_errors("The encoder", [&] {
    const c10::InferenceMode without_graph;
    const TorchDevice there(device);
    const auto wrap = [&there](const auto& values) {  // torch has no read-only tensors; nothing is written
      using Value = typename std::remove_cvref_t<decltype(values)>::value_type;
      return at::from_blob(const_cast<Value*>(values.data()), {std::ssize(values)},
                           at::TensorOptions(bridge::scalar_type<Value>()))
          .to(there.place());
    };
    const auto parts = network.parts(wrap(model.parameters));
    const at::Tensor latents =
        network
            .encode([&](int block) { return parts[block]; },
                    wrap(features).view({std::int64_t{n_samples}, -1, shape[0], shape[1], shape[2]}),
                    wrap(model.statistics))
            .to(at::kCPU)
            .contiguous();
    const float* values = latents.data_ptr<float>();
    return std::vector<float>(values, values + latents.numel());
  });
}

Decoder<float> continuous_decoder(const FlowModel& model) {
  QUINTET_CHECK(model.header.options.decoder.kind == DecoderKind::continuous,
                "a model with a convolutional decoder has no fields between the points of its grid but by "
                "interpolation, and no derivatives");
  Decoder<float> decoder(decoder_options(model.header));
  decoder.refresh(model.parameters.data() + flow_network_size(model.header).encoder);
  return decoder;
}

template class FlowNetwork<float>;
template class FlowNetwork<double>;
template std::vector<float> encoder_features(const FlowModelHeader&, const GridShape&, std::span<const float>,
                                             std::span<const double>);
template std::vector<double> encoder_features(const FlowModelHeader&, const GridShape&,
                                              std::span<const float>, std::span<const double>);

}  // namespace quintet::flow
