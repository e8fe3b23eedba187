#include "surrogates/flow/encoder/unet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/flow/encoder/batch_norm.hpp"
#include "surrogates/flow/encoder/fourier_part.hpp"

namespace quintet::flow {

namespace {

/// A tensor of a residual block; `fan_in` 0 for gamma and beta.
struct ParameterShape {
  std::string name;  ///< "conv2.bias"
  std::vector<std::int64_t> shape;
  int fan_in = 0;
  double start = 0;
  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (const auto extent : shape) n *= extent;
    return n;
  }
};

/// Convolutions of a residual block in their order.
enum Convolution : std::size_t { conv1, conv2, conv3, shortcut, n_convolutions };
constexpr std::array<const char*, n_convolutions> convolutions = {"conv1", "conv2", "conv3", "shortcut"};

/// Places of tensors in the order of parameter_shapes(): weight and bias of each convolution, then gamma and
/// beta of each normalisation.
constexpr std::size_t weight_of(std::size_t convolution) { return 2 * convolution; }
constexpr std::size_t bias_of(std::size_t convolution) { return 2 * convolution + 1; }
constexpr std::size_t gamma_of(std::size_t norm) { return 2 * n_convolutions + 2 * norm; }
constexpr std::size_t beta_of(std::size_t norm) { return gamma_of(norm) + 1; }

/// Of a Fourier block.
std::vector<ParameterShape> fourier_shapes(const UnetBlock& b) {
  std::vector<ParameterShape> shapes{{"weight", {b.n_out, b.n_in}, b.n_in}, {"bias", {b.n_out}, b.n_in}};
  const auto& m = b.modes;
  if (m[0] > 0)  // of modes with this variance K x is about as large as the low modes of x
    shapes.push_back({"modes", {b.n_in, b.n_out, 2 * m[0], 2 * m[1], m[2], 2}, 2 * b.n_in});
  return shapes;
}

/// All tensors of a block in their order.
std::vector<ParameterShape> parameter_shapes(const UnetBlock& b) {
  if (b.kind == UnetBlockKind::fourier) return fourier_shapes(b);
  std::vector<ParameterShape> shapes;
  const auto convolution = [&](Convolution which, int in, int out, int kernel) {
    const int fan_in = in * kernel * kernel * kernel;
    const std::string name = convolutions[which];
    shapes.push_back({name + ".weight", {out, in, kernel, kernel, kernel}, fan_in});
    shapes.push_back({name + ".bias", {out}, fan_in});
  };
  convolution(conv1, b.n_in, b.n_neck, 1);
  convolution(conv2, b.n_neck, b.n_neck, b.kernel);
  convolution(conv3, b.n_neck, b.n_out, 1);
  convolution(shortcut, b.n_in, b.n_out, 1);
  int number = 0;
  for (const int features : {b.n_neck, b.n_neck, b.n_out}) {
    const std::string name = fmt::format("norm{}", ++number);
    shapes.push_back({name + ".gamma", {features}, 0, 1});
    shapes.push_back({name + ".beta", {features}, 0, 0});
  }
  return shapes;
}

/// Make the last block return 0: no shortcut, and gamma of the last normalisation 0; of a pointwise one all.
void silence(const UnetBlock& block, std::vector<double>& parameters) {
  if (block.kind == UnetBlockKind::fourier) {
    std::fill_n(parameters.begin() + block.first_parameter, block.n_parameters, 0.0);
    return;
  }
  constexpr std::array silent = {weight_of(shortcut), bias_of(shortcut), gamma_of(2)};
  const auto shapes = parameter_shapes(block);
  auto first = parameters.begin() + block.first_parameter;
  for (std::size_t i = 0; i < shapes.size(); first += shapes[i++].size())
    if (std::find(silent.begin(), silent.end(), i) != silent.end()) std::fill_n(first, shapes[i].size(), 0.0);
}

/// Convolutions of a residual block, as a list for messages.
std::vector<std::string> layer_names(const std::vector<UnetBlock>& blocks) {
  std::vector<std::string> names;
  for (const auto& block : blocks)
    if (block.kind == UnetBlockKind::residual)
      for (const char* name : convolutions) names.push_back(fmt::format("{}.{}", block.name, name));
  return names;
}

/// Masks of [sample, feature, t, z, x], the same ones of all samples, where x is.
at::Tensor masks_of(const at::Tensor& x, const networks::NoiseMask& mask) {
  const auto extent = [&](std::int64_t axis) { return static_cast<int>(x.size(axis)); };
  at::Tensor noise = at::empty({1, x.size(1), x.size(2), x.size(3), x.size(4)}, x.options().device(at::kCPU));
  const auto fill = [&](auto* values) {
    networks::fill_noise_mask(mask, extent(1), {extent(2), extent(3), extent(4)}, values);
  };
  if (x.scalar_type() == at::kDouble)
    fill(noise.data_ptr<double>());
  else
    fill(noise.data_ptr<float>());
  return noise.to(x.device());
}

/// x with what a convolution of 3 nodes finds beyond its ends, but for zeros: those the convolution adds.
at::Tensor padded(at::Tensor x, const std::array<Padding, 3>& padding, std::vector<std::int64_t>& zeros) {
  for (int axis = 0; axis < 3; ++axis) {
    const auto rule = padding[axis];
    const std::int64_t dimension = 2 + axis, n = x.size(dimension);
    if (rule == Padding::zeros) {
      zeros[axis] = 1;
      continue;
    }
    const at::Tensor first = x.narrow(dimension, 0, 1), last = x.narrow(dimension, n - 1, 1);
    x = rule == Padding::circular ? at::cat({last, x, first}, dimension)
                                  : at::cat({first, x, last}, dimension);
  }
  return x;
}

/// @param like null: nothing is cut
at::Tensor upsampled(at::Tensor x, const GridShape& factor, const at::Tensor* like) {
  for (int axis = 0; axis < 3; ++axis) {
    const std::int64_t dimension = 2 + axis;
    if (factor[axis] > 1) x = x.repeat_interleave(factor[axis], dimension);
    if (like && x.size(dimension) != like->size(dimension)) x = x.narrow(dimension, 0, like->size(dimension));
  }
  return x;
}

/// x linear by index, held beyond the first and the last node, so that a node's points lie around it.
at::Tensor interpolated_to(const at::Tensor& x, const std::vector<std::int64_t>& shape) {
  return at::upsample_trilinear3d(x, shape, /*align_corners=*/false);
}
at::Tensor interpolated(const at::Tensor& x, const GridShape& factor) {
  return interpolated_to(x, {x.size(2) * factor[0], x.size(3) * factor[1], x.size(4) * factor[2]});
}

at::Tensor pooled(const at::Tensor& x, const GridShape& factor) {
  const std::vector<std::int64_t> window(factor.begin(), factor.end()), none(3, 0), one(3, 1);
  return at::max_pool3d(x, window, window, none, one, /*ceil_mode=*/true);
}

}  // namespace

Unet::Unet(const UnetOptions& options, const LayerTiles& tiles, NormSweeps sweeps)
    : options_(options), sweeps_(sweeps), blocks_(unet_blocks(options)), trained_(blocks_.size()) {
  for (const auto& [layer, n] : tiles) tile(layer, n);
  int number = 0;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!has_parameters(blocks_[b])) continue;
    trained_[b].number = number++;
    for (auto& tiled : trained_[b].tiled) {
      if (!tiled) continue;
      TiledLayer placed = *tiled;
      placed.first_part = number;
      number += placed.n() * placed.n();
      tiled = std::make_shared<const TiledLayer>(std::move(placed));
    }
  }
}

void Unet::tile(const std::string& layer, double n) {
  const auto names = layer_names(blocks_);
  QUINTET_CHECK(
      !layer.starts_with("decoder"),
      "tile: {}: the decoder's kernels hold all of its weights in an order of their own, so that tiles "
      "would save nothing; expected one of {}",
      layer, name_list(names));
  QUINTET_CHECK(
      !names.empty(),
      "tile: {}: Fourier layers have no convolutions to cut; leave tile out, or take encoder.kind: unet",
      layer);
  QUINTET_CHECK(std::find(names.begin(), names.end(), layer) != names.end(),
                "tile: there is no layer '{}'{} Expected one of {}", layer,
                did_you_mean(layer, names).empty() ? "." : did_you_mean(layer, names), name_list(names));
  const std::string block = layer.substr(0, layer.find('.')), name = layer.substr(block.size() + 1);
  const std::size_t b =
      std::find_if(blocks_.begin(), blocks_.end(), [&](const auto& one) { return one.name == block; }) -
      blocks_.begin();
  const std::size_t c = std::find(convolutions.begin(), convolutions.end(), name) - convolutions.begin();
  const auto shape = parameter_shapes(blocks_[b])[weight_of(c)].shape;
  const double most = std::min(shape[0], shape[1]);
  QUINTET_CHECK(
      n >= 1 && n <= most && n == std::floor(n),
      "tile: {} in {:g} tiles: it has {} outputs and {} inputs; expected a whole number from 1 to {:g}",
      layer, n, shape[0], shape[1], most);
  const std::int64_t count = n;
  if (count > 1)
    trained_[b].tiled[c] = std::make_shared<const TiledLayer>(
        TiledLayer{0, tile_cuts(shape[0], count), tile_cuts(shape[1], count), shape[2]});
}

std::size_t Unet::n_parameters() const {
  return blocks_.back().first_parameter + blocks_.back().n_parameters;
}
std::size_t Unet::n_statistics() const {
  return blocks_.back().first_statistic + blocks_.back().n_statistics;
}

std::vector<double> Unet::initial_parameters(std::uint64_t seed) const {
  constexpr std::uint32_t stream = 0x0e7;
  std::vector<double> values;
  values.reserve(n_parameters());
  for (const auto& block : blocks_) {
    if (!has_parameters(block)) continue;
    for (const auto& tensor : parameter_shapes(block))
      for (std::int64_t i = 0; i < tensor.size(); ++i) {
        double u = 0, v = 0;
        if (tensor.fan_in > 0) uniform_pair(seed, stream, values.size(), 0, u, v);
        values.push_back(tensor.fan_in > 0 ? (2 * u - 1) / std::sqrt(tensor.fan_in) : tensor.start);
      }
  }
  if (options_.adds_input) silence(blocks_.back(), values);
  return values;
}

std::vector<double> Unet::initial_statistics() const {
  std::vector<double> values;
  for (const auto& block : blocks_) {
    if (block.kind != UnetBlockKind::residual) continue;
    for (const int features : {block.n_neck, block.n_neck, block.n_out})
      for (const double start : {0., 1.})
        values.insert(values.end(), static_cast<std::size_t>(features), start);
  }
  return values;
}

namespace {

/// The parts of a layer of block `of`, whose weights [out, in, kernel...] begin at `first` in files.
std::vector<BlockTensors> part_tensors(const std::string& block, int convolution, const TiledLayer& layer,
                                       int of, std::size_t first) {
  const std::size_t nodes = layer.kernel * layer.kernel * layer.kernel, stride = layer.inputs.back() * nodes;
  std::vector<BlockTensors> parts;
  for (std::size_t row = 0; row < layer.n(); ++row)
    for (std::size_t column = 0; column < layer.n(); ++column) {
      const std::int64_t out = layer.outputs[row], in = layer.inputs[column];
      const std::vector<std::int64_t> shape{layer.outputs[row + 1] - out, layer.inputs[column + 1] - in,
                                            layer.kernel, layer.kernel, layer.kernel};
      const auto name = fmt::format("{}.weight", convolutions[convolution]);
      parts.push_back({fmt::format("{}.{} [{}, {}]", block, convolutions[convolution], row, column),
                       {{name, shape, {{first + out * stride + in * nodes, shape[1] * nodes, stride}}}},
                       {of, convolution, static_cast<int>(row), static_cast<int>(column)}});
    }
  return parts;
}

}  // namespace

std::vector<BlockTensors> Unet::tensors() const {
  std::vector<BlockTensors> all;
  for (std::size_t b = 0; b < blocks_.size(); ++b) {
    if (!has_parameters(blocks_[b])) continue;
    const auto& tiled = trained_[b].tiled;
    const bool in_parts =
        std::any_of(tiled.begin(), tiled.end(), [](const auto& one) { return one != nullptr; });
    const int number = all.size();
    BlockTensors own{blocks_[b].name, {}};
    std::vector<BlockTensors> parts;
    const auto shapes = parameter_shapes(blocks_[b]);
    std::size_t first = blocks_[b].first_parameter;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      const std::size_t size = shapes[i].size();
      if (in_parts && i < gamma_of(0) && i % 2 == 0 && tiled[i / 2]) {
        const auto of_layer = part_tensors(own.name, i / 2, *tiled[i / 2], number, first);
        parts.insert(parts.end(), of_layer.begin(), of_layer.end());
      } else {
        BlockTensors::Tensor& tensor =
            own.tensors.emplace_back(BlockTensors::Tensor{shapes[i].name, shapes[i].shape});
        if (in_parts) tensor.rows = {first, size, 0};
      }
      first += size;
    }
    all.push_back(std::move(own));
    all.insert(all.end(), std::make_move_iterator(parts.begin()), std::make_move_iterator(parts.end()));
  }
  return all;
}

std::vector<at::Tensor> Unet::parts(const at::Tensor& parameters) const {
  // One split: its backward pass is one copy, where a slice each would make a full gradient each.
  std::vector<std::int64_t> sizes;
  for (const auto& block : blocks_)
    if (has_parameters(block)) sizes.push_back(block.n_parameters);
  return parameters.split_with_sizes(sizes);
}

BlockParameters Unet::blocks_of(const at::Tensor& parameters) const {
  return [all = parts(parameters)](int number) { return all[number]; };
}

at::Tensor Unet::train(const Comm& comm, const at::Tensor& parameters, const at::Tensor& input,
                       const at::Tensor& statistics) const {
  return translate_torch_errors("The U-Net",
                                [&] { return run(&comm, blocks_of(parameters), input, statistics); });
}

at::Tensor Unet::train(const Comm& comm, const BlockParameters& parameters, const at::Tensor& input,
                       const at::Tensor& statistics, BlockPass& pass, const PartsBackward& back) const {
  return translate_torch_errors("The U-Net",
                                [&] { return run_blocks(comm, parameters, input, statistics, pass, back); });
}

at::Tensor Unet::evaluate(const BlockParameters& parameters, const at::Tensor& input,
                          const at::Tensor& statistics) const {
  return translate_torch_errors("The U-Net", [&] { return run(nullptr, parameters, input, statistics); });
}

// Weights that are stored in tiles come in parts, the others in one flat tensor; the block is the same for
// both.
at::Tensor Unet::residual(const Comm* comm, std::size_t number, const Source& source, const at::Tensor& x,
                          const at::Tensor& statistics, std::vector<BatchMoments>* moments) const {
  const UnetBlock& block = blocks_[number];
  const auto& tiled = trained_[number].tiled;
  const auto is_in_parts = [&](std::size_t i) {
    return i < gamma_of(0) && i % 2 == 0 && tiled[i / 2] != nullptr;
  };
  const auto shapes = parameter_shapes(block);
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!is_in_parts(i)) sizes.push_back(shapes[i].size());
  const auto whole = source.own.split_with_sizes(sizes);
  auto next = whole.begin();
  std::vector<at::Tensor> p(shapes.size());
  for (std::size_t i = 0; i < shapes.size(); ++i)
    if (!is_in_parts(i)) p[i] = (next++)->view(shapes[i].shape);
  const auto convolution = [&](std::size_t c, const at::Tensor& from) {
    std::vector<std::int64_t> zeros(3, 0);
    const bool looks_around = c == conv2 && block.kernel == 3;
    const at::Tensor seen = looks_around ? padded(from, options_.padding, zeros) : from;
    return tiled[c] ? tiled_convolution(tiled[c], *source.parts, source.back, seen, p[bias_of(c)], zeros)
                    : at::conv3d(seen, p[weight_of(c)], p[bias_of(c)], at::IntArrayRef{1, 1, 1}, zeros);
  };
  std::int64_t statistic = block.first_statistic;
  const auto normalise = [&](const at::Tensor& y, int number) {
    const at::Tensor &gamma = p[gamma_of(number)], &beta = p[beta_of(number)];
    const at::Tensor mean = statistics.narrow(0, statistic, gamma.size(0));
    const at::Tensor variance = statistics.narrow(0, statistic + gamma.size(0), gamma.size(0));
    statistic += 2 * gamma.size(0);
    return comm ? batch_norm_over_ranks(*comm, y, gamma, beta, mean, variance, options_.momentum,
                                        options_.epsilon, moments ? &(*moments)[number] : nullptr, sweeps_)
                : batch_norm_by_running(y, gamma, beta, mean, variance, options_.epsilon);
  };
  at::Tensor y = at::relu(normalise(convolution(conv1, x), 0));
  if (block.mask) y = y + masks(number, y);
  y = at::relu(normalise(convolution(conv2, y), 1));
  y = normalise(convolution(conv3, y), 2) + convolution(shortcut, x);
  return block.ends_in_relu ? at::relu(y) : y;
}

at::Tensor Unet::fourier(const UnetBlock& block, const at::Tensor& parameters, const at::Tensor& x) const {
  std::vector<std::int64_t> sizes;
  for (const auto& shape : parameter_shapes(block)) sizes.push_back(shape.size());
  const auto p = parameters.split_with_sizes(sizes);
  at::Tensor y = at::conv3d(x, p[0].view({block.n_out, block.n_in, 1, 1, 1}), p[1]);
  if (p.size() > 2) y = y + fourier_part(x, p[2], block.n_out, block.modes, options_.padding);
  return block.ends_in_gelu ? at::gelu(y) : y;
}

at::Tensor Unet::masks(std::size_t number, const at::Tensor& x) const {
  const auto& mask = *blocks_[number].mask;
  if (sweeps_ == NormSweeps::ours) return masks_of(x, mask);  // neither stored nor counted
  const MaskPlace place{static_cast<std::int64_t>(number), x.size(2), x.size(3), x.size(4)};
  const auto found = masks_.find(place);
  return found != masks_.end() ? found->second : masks_[place] = masks_of(x, mask);
}

at::Tensor Unet::forward(const Comm* comm, std::size_t number, const Source& source,
                         const std::vector<at::Tensor>& x, const at::Tensor& statistics,
                         std::vector<BatchMoments>* moments) const {
  const UnetBlock& block = blocks_[number];
  switch (block.kind) {
    case UnetBlockKind::residual:
      return residual(comm, number, source, x[0], statistics, moments);
    case UnetBlockKind::fourier:
      return fourier(block, source.own, x[0]);
    case UnetBlockKind::interpolate:
      return interpolated(x[0], block.factor);
    case UnetBlockKind::pool:
      return pooled(x[0], block.factor);
    case UnetBlockKind::upsample:
      return upsampled(x[0], block.factor, x.size() == 2 ? &x[1] : nullptr);
    case UnetBlockKind::concatenate:
      return at::cat({x[0], x[1]}, 1);
  }
  throw InternalError("a block of the U-Net without a kind");
}

namespace {

/// [tensor] the last block that reads it.
std::map<std::string, std::size_t> last_uses(const std::vector<UnetBlock>& blocks) {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (const auto& name : blocks[i].inputs) last[name] = i;
  return last;
}

}  // namespace

at::Tensor Unet::run(const Comm* comm, const BlockParameters& parameters, const at::Tensor& input,
                     const at::Tensor& statistics) const {
  QUINTET_ASSERT(input.dim() == 5 && input.size(1) == options_.n_input, "an input of {} features",
                 input.size(1));
  std::map<std::string, at::Tensor> tensors{{unet_input, input}};
  const auto last_use = last_uses(blocks_);
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto& block = blocks_[i];
    Source source{{}, &parameters};
    if (trained_[i].number >= 0) source.own = parameters(trained_[i].number);
    std::vector<at::Tensor> x;
    for (const auto& name : block.inputs) x.push_back(tensors.at(name));
    const at::Tensor made = forward(comm, i, source, x, statistics);
    for (const auto& name : block.inputs)
      if (last_use.at(name) == i) tensors.erase(name);
    tensors[block.name] = made;
  }
  return finished(tensors.at(blocks_.back().name), input);
}

at::Tensor Unet::run_blocks(const Comm& comm, const BlockParameters& parameters, const at::Tensor& input,
                            const at::Tensor& statistics, BlockPass& pass, const PartsBackward& back) const {
  QUINTET_ASSERT(input.dim() == 5 && input.size(1) == options_.n_input, "an input of {} features",
                 input.size(1));
  pass.put(unet_input, input);
  const auto last_use = last_uses(blocks_);
  const auto segments = unet_segments(blocks_);
  auto segment = segments.begin();
  const auto parts = std::make_shared<const BlockParameters>(parameters);  // a block may be run again
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const auto& block = blocks_[i];
    if (segment != segments.end() && *segment == i) {
      pass.begin_segment();
      ++segment;
    }
    BlockPass::Trained trained;
    if (const int number = trained_[i].number; number >= 0) trained = {number, parameters(number)};
    // A block that is run again finds its batch's moments there: statistics move once.
    const auto moments = std::make_shared<std::vector<BatchMoments>>(3);
    pass.run(trained, block.name, block.inputs,
             [this, comm, i, own = trained.parameters, parts, back, statistics,
              moments](const std::vector<at::Tensor>& x) {
               return forward(&comm, i, {own, parts.get(), back}, x, statistics, moments.get());
             });
    for (const auto& name : block.inputs)
      if (last_use.at(name) == i) pass.release(name);
  }
  return finished(pass.take(blocks_.back().name), input);
}

at::Tensor Unet::finished(at::Tensor made, const at::Tensor& input) const {
  if (options_.adds_input)
    made = made + interpolated_to(input.narrow(1, 0, options_.n_refined), made.sizes().slice(2).vec());
  return made.permute({0, 2, 3, 4, 1}).contiguous();
}

}  // namespace quintet::flow
