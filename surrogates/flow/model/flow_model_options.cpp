#include "surrogates/flow/model/flow_model_options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/schema_marks.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "surrogates/networks/activation_names.hpp"

namespace quintet::flow {

namespace {

struct PaddingRow {
  Padding value;
  const char* name;
};
constexpr PaddingRow paddings[] = {
    {Padding::zeros, "zeros"}, {Padding::circular, "circular"}, {Padding::replicate, "replicate"}};

struct MiddleRow {
  ResidualMiddle value;
  const char* name;
};
constexpr MiddleRow middles[] = {{ResidualMiddle::convolution, "convolution"},
                                 {ResidualMiddle::perturb, "perturb"},
                                 {ResidualMiddle::pointwise, "pointwise"}};

struct EncoderRow {
  EncoderKind value;
  const char* name;
};
constexpr EncoderRow encoders[] = {{EncoderKind::unet, "unet"}, {EncoderKind::fourier, "fourier"}};

struct KindRow {
  DecoderKind value;
  const char* name;
};
constexpr KindRow kinds[] = {{DecoderKind::continuous, "continuous"},
                             {DecoderKind::convolutional, "convolutional"}};

struct BlendRow {
  Blend value;
  const char* name;
};
constexpr BlendRow blends[] = {
    {Blend::linear, "linear"}, {Blend::cubic, "cubic"}, {Blend::quintic, "quintic"}};

struct BaseRow {
  DecoderBase value;
  const char* name;
};
constexpr BaseRow bases[] = {{DecoderBase::none, "none"}, {DecoderBase::interpolation, "interpolation"}};

constexpr int widest_layer = 65536;

constexpr const char* whole_crop = "crop";

/// Nodes, 0 for the whole crop; nothing for what is neither.
std::optional<int> period_of(const std::string& text) {
  if (text == whole_crop) return 0;
  int nodes = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, nodes);
  if (error != std::errc() || stop != end || nodes < 1) return std::nullopt;
  return nodes;
}

std::vector<int> as_ints(const std::vector<std::int64_t>& values) { return {values.begin(), values.end()}; }

}  // namespace

void describe(Schema& schema, MaskOptions& options) {
  schema.number("level", options.level, "Largest value of a mask; what it is added to is of order 1")
      .above(0)
      .at_most(1000);
  schema
      .texts(
          "period", options.period,
          "Coarse nodes after which masks repeat themselves, or crop (they are a crop's, from its corner "
          "on); one for all axes, or one each, time first; where levels pool, a multiple of what they pool")
      .length(1, 3);
  schema.integer("seed", options.seed, "Of the masks: a model keeps it in place of them").at_least(0);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.period.size() == 2) return "period: 2 values; expected 1, or 3 (time, then two of space)";
    for (const auto& text : options.period)
      if (!period_of(text))
        return fmt::format("period: '{}' is no number of nodes; expected 1 or more, or crop", text);
    return std::nullopt;
  });
}

namespace {

/// The first key that another kind of encoder has, none where all fit.
std::optional<std::string> foreign_key(const EncoderOptions& options) {
  const EncoderOptions usual;
  const auto refused = [](const char* key, const char* kind) {
    return fmt::format("{} is for kind: {}; leave it out, or take that kind", key, kind);
  };
  if (options.kind == EncoderKind::unet) {
    if (options.layers != usual.layers) return refused("layers", "fourier");
    if (options.modes != usual.modes) return refused("modes", "fourier");
    return std::nullopt;
  }
  if (!options.widths.empty()) return refused("widths", "unet");
  if (options.levels != usual.levels) return refused("levels", "unet");
  if (options.widest != usual.widest) return refused("widest", "unet");
  if (options.block != usual.block) return refused("block", "unet");
  return std::nullopt;
}

}  // namespace

void describe(Schema& schema, EncoderOptions& options) {
  schema.choice("kind", options.kind, choices_of(encoders),
                "unet: residual blocks on levels that pool (the reference's); fourier: Fourier layers, which "
                "mix the lowest "
                "wavenumbers of a block (the Fourier neural operator of Li et al. 2021)");
  schema.integer("layers", options.layers, "fourier: number of layers").at_least(1).at_most(1000);
  schema
      .integers(
          "modes", options.modes,
          "fourier: wavenumbers that a layer mixes along each axis, time first; at most half the nodes that "
          "it sees, those of `padding` included")
      .length(3, 3)
      .at_least(1)
      .at_most(widest_layer);
  schema.integer("width", options.width, "Features of the first level; each further level doubles them")
      .at_least(1)
      .at_most(widest_layer);
  schema.integer("widest", options.widest, "Most features of a level").at_least(1).at_most(widest_layer);
  schema.integers("widths", options.widths, "Features of each level, in place of `width` and `widest`")
      .at_least(1)
      .at_most(widest_layer);
  schema.integer("levels", options.levels, "How often to pool; 0: until one node of a block is left")
      .at_least(0)
      .at_most(30);
  schema
      .texts("padding", options.padding,
             "What convolutions find beyond the ends of a block: zeros, circular (the other end: for an axis "
             "that is "
             "periodic and whole in every block) or replicate; one for all axes, or one each, time first")
      .length(1, 3);
  schema.choice(
      "block", options.block, choices_of(middles),
      "What stands between the pointwise convolutions of a residual block: convolution (3 x 3 x 3 "
      "nodes, the reference's) or pointwise (five times fewer parameters, and nodes are mixed by pooling "
      "alone)");
  schema.section("masks", options.masks, "perturb: the masks; absent: defaults");
  schema.flag(
      "differences", options.differences,
      "Whether the encoder also sees differences between neighbouring nodes, of each field along each "
      "axis: second ones along space, first ones along time. Interpolation is corrected by them, and "
      "they are small beside the fields: training needs fewer steps");
  schema.check(Expert{"block", {"perturb"}, "perturb: masks of noise are added, then as pointwise"});
  schema.check(Expert{"masks"});
  schema.check([&options] { return foreign_key(options); });
  schema.check([&options]() -> std::optional<std::string> {
    if (options.masks && options.block != ResidualMiddle::perturb)
      return fmt::format("masks: blocks of kind {} have none; expected block: perturb, or no masks",
                         row_of(middles, options.block).name);
    if (options.padding.size() == 2) return "padding: 2 values; expected 1, or 3 (time, then two of space)";
    const auto known = names_of(paddings);
    for (const auto& name : options.padding)
      if (std::find(known.begin(), known.end(), name) == known.end())
        return fmt::format("padding: unknown value '{}'; expected one of {}{}", name, name_list(known),
                           did_you_mean(name, known));
    return std::nullopt;
  });
}

void describe(Schema& schema, ContinuousOptions& options) {
  schema.choice(
      "kind", options.kind, choices_of(kinds),
      "continuous: a dense network of place and latents, which gives fields and their derivatives at any "
      "point; convolutional: more stages of the U-Net up to the fine grid, and linear interpolation (the "
      "usual baseline; it has no equations)");
  schema.integers("widths", options.widths, "Neurons of the continuous decoder's hidden layers")
      .length(1, 64)
      .at_least(1)
      .at_most(widest_layer);
  schema.choice("activation", options.activation, choices_of(networks::activation_rows),
                "Of the hidden layers; second derivatives of relu's are 0");
  schema.flag("repeat_input", options.repeat_input,
              "Whether hidden layers after the first read place and latents as well");
  schema.choice(
      "blend", options.blend, choices_of(blends),
      "Weights of the nodes around a point: linear (the reference; fields have kinks at nodes), cubic "
      "(first derivatives are continuous), quintic (second ones, too)");
  schema.choice(
      "base", options.base, choices_of(bases),
      "What the network corrects: none (it gives the fields themselves, as the reference's does), or "
      "interpolation (linear, of the coarse fields: training starts from its error, and needs far fewer "
      "steps)");
}

void describe(Schema& schema, FlowModelOptions& options) {
  schema.integer("latents", options.latents, "Latent features of a node").at_least(1).at_most(widest_layer);
  schema.section("encoder", options.encoder, "The U-Net");
  schema.section("decoder", options.decoder, "From latents to fields");
  schema.texts(
      "conditioning", options.conditioning,
      "Parameters of the flow that the encoder sees beside the fields, by their logarithm: [Ra, Pr]");
}

UnetOptions unet_options(const FlowModelOptions& options, int n_fields, const GridShape& block,
                         const GridShape& refinement) {
  UnetOptions made;
  made.n_output = options.latents;
  made.width = options.encoder.width;
  made.widest = options.encoder.widest;
  made.widths = as_ints(options.encoder.widths);
  made.levels = options.encoder.levels;
  made.kind = options.encoder.kind;
  made.layers = options.encoder.layers;
  for (std::size_t axis = 0; axis < 3; ++axis)
    made.modes[axis] = static_cast<int>(options.encoder.modes[axis]);
  made.block = block;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const auto& padding = options.encoder.padding;
    made.padding[axis] = row_given(paddings, padding[padding.size() == 1 ? 0 : axis], "padding").value;
  }
  made.n_input = n_fields * (options.encoder.differences ? 4 : 1) + std::ssize(options.conditioning);
  made.middle = options.encoder.block;
  const MaskOptions masks = options.encoder.masks.value_or(MaskOptions{});
  made.masks.level = masks.level;
  made.masks.seed = masks.seed;
  for (std::size_t axis = 0; axis < 3; ++axis)
    made.masks.period[axis] = period_of(masks.period[masks.period.size() == 1 ? 0 : axis]).value_or(0);
  if (options.decoder.kind == DecoderKind::convolutional) {
    made.refinement = refinement;
    made.n_refined = n_fields;
    made.adds_input = options.decoder.base == DecoderBase::interpolation;
  }
  return made;
}

std::string residual_words(const UnetOptions& options) {
  if (options.kind == EncoderKind::fourier)
    return fmt::format("{} of {} modes", counted(options.layers, "Fourier layer"),
                       fmt::join(options.modes, " x "));
  const std::string kind = fmt::format("blocks of kind {}", row_of(middles, options.middle).name);
  const auto periods = mask_periods(options);
  if (!periods) return kind;
  return fmt::format("{} with masks of level {}, period {} and seed {}", kind, options.masks.level,
                     fmt::join(periods->period, " x "), options.masks.seed);
}

DecoderOptions decoder_options(const FlowModelOptions& options, int n_fields) {
  DecoderOptions made;
  made.n_latent = options.latents;
  made.n_fields = n_fields;
  made.widths = as_ints(options.decoder.widths);
  made.activation = options.decoder.activation;
  made.repeat_input = options.decoder.repeat_input;
  made.blend = options.decoder.blend;
  made.adds_known_fields = options.decoder.base == DecoderBase::interpolation;
  if (made.adds_known_fields) made.n_latent += n_fields;
  return made;
}

}  // namespace quintet::flow
