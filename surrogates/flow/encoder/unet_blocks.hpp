#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "surrogates/networks/description.hpp"
#include "surrogates/networks/noise_mask.hpp"

namespace quintet::flow {

/// Numbers along the three axes of a block: time, then two of space.
using GridShape = std::array<int, 3>;

/// Padding of a convolution beyond an end of an axis.
enum class Padding {
  zeros,     ///< 0 (the reference)
  circular,  ///< the other end: for an axis that is periodic and whole in every block
  replicate  ///< the last value
};

/// Operation of a residual block between its two pointwise convolutions.
enum class ResidualMiddle {
  convolution,  ///< over 3 x 3 x 3 nodes (the reference)
  perturb,      ///< pointwise, of its input plus masks of noise: V (x + N); pooling alone mixes nodes
  pointwise     ///< pointwise, without them
};

/// Network that makes latents of coarse fields.
enum class EncoderKind {
  unet,     ///< residual blocks on levels that pool (the reference)
  fourier,  ///< Fourier layers on one level: the Fourier neural operator, Li et al. 2021 (ICLR, 2010.08895)
};

/// Masks of noise that perturbation blocks add, see networks::NoiseMask.
struct UnetMasks {
  double level = 0.1;
  GridShape period = {0, 0, 0};  ///< nodes of the finest grid after which masks repeat; 0: the block
  std::uint64_t seed = 1;
};

/// The encoder, a U-Net if nothing else is said; the defaults are the reference's, with 1,458,400 parameters.
struct UnetOptions {
  int n_input = 4, n_output = 32;  ///< features
  int width = 16, widest = 256;    ///< features of level l: min(width 2^l, widest)
  std::vector<int> widths;         ///< [level] in place of those
  GridShape block = {4, 16, 16};   ///< nodes of the block that decides levels and pooling
  int levels = 0;                  ///< how often to pool; 0: until one node is left
  std::array<Padding, 3> padding = {Padding::zeros, Padding::zeros, Padding::zeros};
  ResidualMiddle middle = ResidualMiddle::convolution;
  EncoderKind kind = EncoderKind::unet;
  int layers = 4;               ///< Fourier layers
  GridShape modes = {2, 4, 8};  ///< wavenumbers of each axis that a Fourier layer mixes, and their negatives
  UnetMasks masks;              ///< where it perturbs
  double epsilon = 1e-5, momentum = 0.1;  ///< of batch normalisation
  /// Stages after the U-Net that make n_refined fields on a grid finer by these factors (a convolutional
  /// decoder), with half the features from stage to stage, 2 n_refined at least; n_refined 0: none.
  GridShape refinement = {1, 1, 1};
  int n_refined = 0;
  /// Refined fields are a correction, 0 at first, to the first n_refined features of the input, interpolated
  /// linearly by index (held beyond the first and the last node).
  bool adds_input = false;
};

enum class UnetBlockKind {
  fourier,      ///< y = [gelu](W x + b + K x), fourier_part(); without modes K x is left out
  interpolate,  ///< linear by index to `factor` points a node, held beyond the first and the last one
  residual,     ///< y = [relu](bn(conv1(relu(bn(middle(relu(bn(conv1 x))))))) + conv1 x), ResidualMiddle
  pool,         ///< largest value of `factor` nodes; what is left over at an end makes one more
  upsample,     ///< each node repeated `factor` times, cut to the shape of a second input
  concatenate,  ///< features of both inputs
};

/// One block of the chain. The tensor it makes bears its name.
struct UnetBlock {
  std::string name;
  UnetBlockKind kind = UnetBlockKind::residual;
  std::vector<std::string> inputs;
  int n_in = 0, n_neck = 0, n_out = 0;
  GridShape factor = {1, 1, 1};
  bool ends_in_relu = true;
  bool ends_in_gelu = false;    ///< a Fourier block
  GridShape modes = {0, 0, 0};  ///< of a Fourier block
  int kernel = 3;               ///< nodes that the middle of a residual block sees, each axis
  std::optional<networks::NoiseMask> mask = {};  ///< what is added to the middle's input
  std::size_t first_parameter = 0, n_parameters = 0;
  std::size_t first_statistic = 0, n_statistics = 0;  ///< running mean and variance of its normalisations
};

/// The tensor that the chain starts from.
inline constexpr const char* unet_input = "input";

/// The chain:
///
///     enter; down_l, pool_l for l = 1 .. L; up_L, middle; join_l, merge_l, up_l for l = L-1 .. 1; join_0,
///     leave.
///
/// At each level the axes that have most nodes are halved. Of Fourier layers it is
///
///     enter; layer_1 .. layer_n; project, leave,
///
/// all pointwise but the layers; where fields are refined, what enters is interpolated to the finer grid,
/// which is the same as entering what was interpolated. Throws InputError for widths, levels or blocks that
/// make no network, for masks that pooling leaves no whole period of, and for more modes than a block has.
[[nodiscard]] std::vector<UnetBlock> unet_blocks(const UnetOptions& options);

/// Whether a block is trained.
[[nodiscard]] bool has_parameters(const UnetBlock& block);
/// Nodes of an axis that a Fourier layer sees: where it is not circular, a quarter more beyond each end, so
/// that its ends are no neighbours.
[[nodiscard]] int fourier_nodes(int n, Padding padding);

/// The first block of each segment: blocks that are best run again together. A segment has one residual
/// block, before it what widens its input and behind it what narrows its output, so that the tensors between
/// segments are small: skips, and inputs of finer levels on the coarser one.
[[nodiscard]] std::vector<std::size_t> unet_segments(const std::vector<UnetBlock>& blocks);

/// [block] Shapes of what the blocks make of an input of this shape.
[[nodiscard]] std::vector<GridShape> unet_shapes(const std::vector<UnetBlock>& blocks,
                                                 const GridShape& shape);

/// The period of the masks on the finest grid, none where nothing is perturbed; `whole[axis]`: periods of
/// coarser levels are that of the finest, so that masks fit a grid of any size.
struct MaskPeriods {
  GridShape period{};
  std::array<bool, 3> whole{};
};
[[nodiscard]] std::optional<MaskPeriods> mask_periods(const UnetOptions& options);

/// Describe the blocks and their costs for one sample of this shape, in numbers of `bytes` bytes.
[[nodiscard]] networks::ChainDescription describe_unet(const std::vector<UnetBlock>& blocks,
                                                       const GridShape& shape, std::size_t bytes);

}  // namespace quintet::flow
