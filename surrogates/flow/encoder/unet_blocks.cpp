#include "surrogates/flow/encoder/unet_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet::flow {

namespace {

std::size_t product(int a, int b) { return std::int64_t{a} * b; }

std::size_t window_nodes(const UnetBlock& b) { return product(b.kernel, b.kernel) * b.kernel; }

/// conv1, the middle, conv1 and the shortcut with biases; two numbers a feature of each normalisation.
std::size_t residual_parameters(const UnetBlock& b) {
  const std::size_t neck = b.n_neck, out = b.n_out;
  return product(b.n_in, b.n_neck) + neck + window_nodes(b) * neck * neck + neck +
         product(b.n_neck, b.n_out) + out + product(b.n_in, b.n_out) + out + 2 * (2 * neck + out);
}

/// Pointwise weights and biases; a complex number for each pair of features and each mode.
std::size_t fourier_parameters(const UnetBlock& b) {
  const std::size_t pairs = product(b.n_in, b.n_out);
  return pairs + b.n_out + 2 * pairs * product(2 * b.modes[0], 2 * b.modes[1]) * b.modes[2];
}

GridShape halved(const GridShape& shape, const GridShape& factor) {
  GridShape half{};
  for (int i = 0; i < 3; ++i) half[i] = (shape[i] + factor[i] - 1) / factor[i];
  return half;
}

GridShape multiplied(const GridShape& shape, const GridShape& factor) {
  return {shape[0] * factor[0], shape[1] * factor[1], shape[2] * factor[2]};
}

/// Pooling of each level: the longest axes are halved until one node is left.
std::vector<GridShape> pool_factors(const UnetOptions& options) {
  GridShape shape = options.block;
  std::vector<GridShape> factors;
  while (options.levels == 0 || std::ssize(factors) < options.levels) {
    const int longest = *std::max_element(shape.begin(), shape.end());
    if (longest == 1) break;
    GridShape factor{};
    for (int i = 0; i < 3; ++i) factor[i] = shape[i] == longest ? 2 : 1;
    factors.push_back(factor);
    shape = halved(shape, factor);
  }
  return factors;
}

std::vector<int> level_widths(const UnetOptions& options, std::size_t n_levels) {
  if (!options.widths.empty()) {
    QUINTET_CHECK(options.widths.size() == n_levels + 1,
                  "U-Net: {} widths for {} levels below the first; expected {}", options.widths.size(),
                  n_levels, n_levels + 1);
    return options.widths;
  }
  std::vector<int> widths;
  for (std::size_t level = 0; level <= n_levels; ++level)
    widths.push_back(level == 0 ? std::min(options.width, options.widest)
                                : std::min(2 * widths.back(), options.widest));
  return widths;
}

/// Builds the chain block by block.
class Builder {
 public:
  explicit Builder(ResidualMiddle middle) : kernel_(middle == ResidualMiddle::convolution ? 3 : 1) {}
  std::string residual(const std::string& name, const std::string& input, int n_in, int n_neck, int n_out,
                       bool ends_in_relu = true) {
    UnetBlock block{name, UnetBlockKind::residual, {input}, n_in, std::max(n_neck, 1), n_out};
    block.ends_in_relu = ends_in_relu;
    block.kernel = kernel_;
    block.first_parameter = n_parameters_;
    block.n_parameters = residual_parameters(block);
    block.first_statistic = n_statistics_;
    block.n_statistics = 2 * (2 * std::int64_t{block.n_neck} + n_out);
    n_parameters_ += block.n_parameters;
    n_statistics_ += block.n_statistics;
    return add(std::move(block));
  }
  std::string fourier(const std::string& name, const std::string& input, int n_in, int n_out,
                      const GridShape& modes, bool ends_in_gelu) {
    UnetBlock block{name, UnetBlockKind::fourier, {input}, n_in, 0, n_out};
    block.ends_in_gelu = ends_in_gelu;
    block.modes = modes;
    block.first_parameter = n_parameters_;
    block.n_parameters = fourier_parameters(block);
    n_parameters_ += block.n_parameters;
    return add(std::move(block));
  }
  std::string interpolate(const std::string& name, const std::string& input, int n, const GridShape& factor) {
    return add({name, UnetBlockKind::interpolate, {input}, n, 0, n, factor});
  }
  std::string pool(const std::string& name, const std::string& input, int n, const GridShape& factor) {
    return add({name, UnetBlockKind::pool, {input}, n, 0, n, factor});
  }
  /// @param like "": nothing is cut
  std::string upsample(const std::string& name, const std::string& input, const std::string& like, int n,
                       const GridShape& factor) {
    std::vector<std::string> inputs{input};
    if (!like.empty()) inputs.push_back(like);
    return add({name, UnetBlockKind::upsample, inputs, n, 0, n, factor});
  }
  std::string concatenate(const std::string& name, const std::string& a, const std::string& b, int n_a,
                          int n_b) {
    return add({name, UnetBlockKind::concatenate, {a, b}, n_a + n_b, 0, n_a + n_b});
  }
  std::vector<UnetBlock> blocks;

 private:
  std::string add(UnetBlock block) {
    blocks.push_back(std::move(block));
    return blocks.back().name;
  }
  int kernel_;
  std::size_t n_parameters_ = 0, n_statistics_ = 0;
};

std::string at_level(const char* name, std::size_t level) { return fmt::format("{}_{}", name, level); }

bool refines(const UnetOptions& options) { return options.n_refined > 0; }

/// Double what is left of the refinement along each axis until it is used up; each stage has half the
/// features of the one before, as in the U-Net, down to two a field.
void refine(Builder& chain, std::string x, const UnetOptions& options) {
  GridShape left = options.refinement;
  int n = options.n_output;
  for (std::size_t stage = 1; left != GridShape{1, 1, 1}; ++stage) {
    GridShape factor{};
    for (int i = 0; i < 3; ++i) {
      factor[i] = left[i] % 2 == 0 ? 2 : left[i];
      left[i] /= factor[i];
    }
    x = chain.upsample(at_level("finer", stage), x, "", n, factor);
    const int finer = std::max(n / 2, std::min(n, 2 * options.n_refined));
    x = chain.residual(at_level("refine", stage), x, n, finer, finer);
    n = finer;
  }
  chain.residual("fields", x, n, n, options.n_refined, false);
}

void check(const UnetOptions& options) {
  QUINTET_CHECK(options.n_input >= 1 && options.n_output >= 1,
                "U-Net: {} input and {} output features; expected at least 1", options.n_input,
                options.n_output);
  QUINTET_CHECK(*std::min_element(options.block.begin(), options.block.end()) >= 1 &&
                    *std::max_element(options.block.begin(), options.block.end()) <= 65536,
                "U-Net: a block of {} nodes; expected 1 to 65536 along each axis",
                fmt::join(options.block, " x "));
  const bool widths_good = std::all_of(options.widths.begin(), options.widths.end(),
                                       [](int width) { return width >= 1 && width <= 65536; });
  QUINTET_CHECK(widths_good && options.width >= 1 && options.width <= 65536 && options.widest >= 1 &&
                    options.n_input <= 65536 && options.n_output <= 65536,
                "U-Net: a width is out of range; expected 1 to 65536");
  QUINTET_CHECK(*std::min_element(options.refinement.begin(), options.refinement.end()) >= 1 &&
                    *std::max_element(options.refinement.begin(), options.refinement.end()) <= 1024,
                "U-Net: refinement by {}; expected 1 to 1024 along each axis",
                fmt::join(options.refinement, " x "));
  QUINTET_CHECK(options.layers >= 1 && options.layers <= 1000, "Fourier layers: {}; expected 1 to 1000",
                options.layers);
  QUINTET_CHECK(options.levels >= 0, "U-Net: {} levels; expected at least 0", options.levels);
  QUINTET_CHECK(options.masks.level > 0 && options.masks.level <= 1e3,
                "U-Net: masks of level {:g}; expected above 0, at most 1000", options.masks.level);
  QUINTET_CHECK(options.epsilon > 0 && options.momentum > 0 && options.momentum <= 1,
                "U-Net: batch normalisation with epsilon {} and momentum {}; expected above 0, at most 1",
                options.epsilon, options.momentum);
}

/// How many nodes of the finest grid the coarsest has one of.
GridShape pooled_by(const std::vector<GridShape>& factors) {
  GridShape all = {1, 1, 1};
  for (const auto& factor : factors) all = multiplied(all, factor);
  return all;
}

/// Refuse modes that a block does not have: their weights would never be used.
void check_modes(const UnetOptions& options, const GridShape& nodes) {
  constexpr const char* axes[] = {"time", "the first axis of space", "the last axis"};
  for (int i = 0; i < 3; ++i) {
    const int seen = fourier_nodes(nodes[i], options.padding[i]), most = std::max(1, seen / 2);
    QUINTET_CHECK(options.modes[i] >= 1 && options.modes[i] <= most,
                  "model.encoder.modes: {} along {}, where a layer sees {} nodes; expected 1 to {}",
                  options.modes[i], axes[i], seen, most);
  }
}

/// Li et al. 2021: lifted to `width` features, layers with a gelu between them, and two pointwise ones.
std::vector<UnetBlock> fourier_blocks(const UnetOptions& options) {
  constexpr GridShape none = {0, 0, 0};
  constexpr int projected = 4;  // times the width: 128 of 32 in the paper
  Builder chain(options.middle);
  const GridShape nodes = refines(options) ? multiplied(options.block, options.refinement) : options.block;
  check_modes(options, nodes);
  const int width = options.width;
  std::string x = chain.fourier("enter", unet_input, options.n_input, width, none, false);
  if (refines(options)) x = chain.interpolate("finer", x, width, options.refinement);
  for (int layer = 1; layer <= options.layers; ++layer)
    x = chain.fourier(at_level("layer", layer), x, width, width, options.modes, layer < options.layers);
  x = chain.fourier("project", x, width, projected * width, none, true);
  const int n_out = refines(options) ? options.n_refined : options.n_output;
  chain.fourier("leave", x, projected * width, n_out, none, false);
  return std::move(chain.blocks);
}

GridShape period_of(const UnetOptions& options) {
  GridShape period = options.masks.period;
  for (int i = 0; i < 3; ++i)
    if (period[i] == 0) period[i] = options.block[i];
  return period;
}

/// Masks of each residual block, numbered in their order; a coarser level's period is the finest one's,
/// pooled.
void add_masks(std::vector<UnetBlock>& blocks, const UnetOptions& options, const GridShape& pooled) {
  const GridShape period = period_of(options);
  for (int i = 0; i < 3; ++i)
    QUINTET_CHECK(period[i] >= 1 && period[i] <= options.block[i] &&
                      (period[i] == options.block[i] || period[i] % pooled[i] == 0),
                  "U-Net: masks of period {} along axis {}, of which a block has {} nodes and the coarsest "
                  "level one for {}; expected a multiple of {} up to the block, or the block itself (crop)",
                  period[i], i, options.block[i], pooled[i], pooled[i]);
  const auto periods = unet_shapes(blocks, period);
  std::uint32_t layer = 0;
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    if (blocks[b].kind != UnetBlockKind::residual) continue;
    QUINTET_CHECK(*std::max_element(periods[b].begin(), periods[b].end()) <= 65536,
                  "U-Net: masks of period {} in block {}; expected at most 65536 along each axis",
                  fmt::join(periods[b], " x "), blocks[b].name);
    blocks[b].mask = networks::NoiseMask{options.masks.seed, layer++, options.masks.level, periods[b]};
  }
}

}  // namespace

std::vector<GridShape> unet_shapes(const std::vector<UnetBlock>& blocks, const GridShape& shape) {
  std::map<std::string, GridShape> known{{unet_input, shape}};
  std::vector<GridShape> shapes;
  for (const auto& block : blocks) {
    GridShape out = known.at(block.inputs[0]);
    if (block.kind == UnetBlockKind::pool) out = halved(out, block.factor);
    if (block.kind == UnetBlockKind::interpolate) out = multiplied(out, block.factor);
    if (block.kind == UnetBlockKind::upsample)
      out = block.inputs.size() == 2 ? known.at(block.inputs[1]) : multiplied(out, block.factor);
    known[block.name] = out;
    shapes.push_back(out);
  }
  return shapes;
}

std::optional<MaskPeriods> mask_periods(const UnetOptions& options) {
  if (options.kind != EncoderKind::unet || options.middle != ResidualMiddle::perturb) return std::nullopt;
  MaskPeriods periods{period_of(options), {}};
  const GridShape pooled = pooled_by(pool_factors(options));
  for (std::size_t i = 0; i < 3; ++i) periods.whole[i] = periods.period[i] % pooled[i] == 0;
  return periods;
}

std::vector<UnetBlock> unet_blocks(const UnetOptions& options) {
  check(options);
  if (options.kind == EncoderKind::fourier) return fourier_blocks(options);
  const auto factors = pool_factors(options);
  const std::size_t n = factors.size();
  QUINTET_CHECK(n >= 1, "U-Net: a block of one node has nothing to pool; expected 2 or more along some axis");
  const auto width = level_widths(options, n);
  Builder chain(options.middle);
  std::vector<std::string> skips{chain.residual("enter", unet_input, options.n_input, width[0], width[0])};
  for (std::size_t l = 1; l <= n; ++l) {
    const auto down = chain.residual(at_level("down", l), skips.back(), width[l - 1], width[l] / 2, width[l]);
    skips.push_back(chain.pool(at_level("pool", l), down, width[l], factors[l - 1]));
  }
  std::string x = chain.upsample(at_level("up", n), skips[n], skips[n - 1], width[n], factors[n - 1]);
  int features = width[n - 1];
  x = chain.residual("middle", x, width[n], features, features);
  for (std::size_t l = n - 1; l >= 1; --l) {
    x = chain.concatenate(at_level("join", l), x, skips[l], features, width[l]);
    const int joined = features + width[l];
    features = width[l - 1];
    x = chain.residual(at_level("merge", l), x, joined, features, features);
    x = chain.upsample(at_level("up", l), x, skips[l - 1], features, factors[l - 1]);
  }
  x = chain.concatenate("join_0", x, skips[0], features, width[0]);
  x = chain.residual("leave", x, features + width[0], options.n_output, options.n_output, refines(options));
  if (refines(options)) refine(chain, x, options);
  if (options.middle == ResidualMiddle::perturb) add_masks(chain.blocks, options, pooled_by(factors));
  return std::move(chain.blocks);
}

bool has_parameters(const UnetBlock& block) {
  return block.kind == UnetBlockKind::residual || block.kind == UnetBlockKind::fourier;
}

int fourier_nodes(int n, Padding padding) { return padding == Padding::circular ? n : n + 2 * ((n + 3) / 4); }

std::vector<std::size_t> unet_segments(const std::vector<UnetBlock>& blocks) {
  const auto widens = [](const UnetBlock& block) {
    return block.kind == UnetBlockKind::upsample || block.kind == UnetBlockKind::concatenate ||
           block.kind == UnetBlockKind::interpolate;
  };
  std::vector<std::size_t> first;
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (i == 0 || (blocks[i].kind != UnetBlockKind::pool && !widens(blocks[i - 1]))) first.push_back(i);
  return first;
}

networks::ChainDescription describe_unet(const std::vector<UnetBlock>& blocks, const GridShape& shape,
                                         std::size_t bytes) {
  networks::ChainDescription description;
  description.input = unet_input;
  description.n_in = blocks.front().n_in;
  const auto shapes = unet_shapes(blocks, shape);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const UnetBlock& block = blocks[b];
    const GridShape& out = shapes[b];
    networks::BlockDescription& made = description.blocks.emplace_back();
    made.name = block.name;
    made.inputs = block.inputs;
    made.n_in = made.n_weights_in = block.n_in;
    made.n_out = block.n_out;
    made.parameters = block.n_parameters;
    made.parameter_bytes = block.n_parameters * bytes;
    const double nodes = static_cast<double>(out[0]) * out[1] * out[2];
    const auto tensor = [&](int features) { return static_cast<std::size_t>(nodes) * features * bytes; };
    made.output_bytes = made.kept_bytes = tensor(block.n_out);
    const std::string on = fmt::format(" on {} x {} x {}", out[0], out[1], out[2]);
    switch (block.kind) {
      case UnetBlockKind::residual: {
        const double in = block.n_in, neck = block.n_neck, features = block.n_out;
        const double window = window_nodes(block);
        const int masked = block.mask ? 1 : 0;
        made.kind = fmt::format("{} {}{}",
                                masked        ? "perturbed"
                                : window == 1 ? "pointwise"
                                              : "residual",
                                block.n_neck, on);
        made.forward_flops =
            2 * nodes * (in * neck + window * neck * neck + neck * features + in * features) +
            nodes * ((12 + masked) * neck + 7 * features);  // biases, normalisation, relu, sums
        made.adjoint_flops = 2 * made.forward_flops;
        // Before and after each normalisation, with the masks, and the output.
        made.kept_bytes =
            (4 + static_cast<std::size_t>(masked)) * tensor(block.n_neck) + 3 * tensor(block.n_out);
        break;
      }
      case UnetBlockKind::pool:
        made.kind = "largest" + on;
        made.forward_flops = nodes * block.n_out * block.factor[0] * block.factor[1] * block.factor[2];
        break;
      case UnetBlockKind::fourier: {
        made.kind = block.modes[0] > 0 ? fmt::format("Fourier, {} modes{}", fmt::join(block.modes, " x "), on)
                                       : "pointwise" + on;
        const double pairs = static_cast<double>(block.n_in) * block.n_out;
        const double modes = 4.0 * block.modes[0] * block.modes[1] * block.modes[2];
        const double transforms =
            modes == 0 ? 0 : 2.5 * nodes * std::log2(nodes + 1) * (block.n_in + block.n_out);
        made.forward_flops = nodes * (2 * pairs + 2 * block.n_out) + 8 * pairs * modes + transforms;
        made.adjoint_flops = 2 * made.forward_flops;
        made.kept_bytes = tensor(2 * block.n_out) + static_cast<std::size_t>(8 * modes) * block.n_in;
        break;
      }
      case UnetBlockKind::interpolate:
        made.kind = "interpolate" + on;
        break;
      case UnetBlockKind::upsample:
        made.kind = "upsample" + on;
        break;
      case UnetBlockKind::concatenate:
        made.kind = "concatenate" + on;
        break;
    }
  }
  return description;
}

}  // namespace quintet::flow
