#pragma once

#include <vector>

#include "surrogates/flow/encoder/unet_blocks.hpp"

namespace quintet::flow {

/// How an encoder that was trained on blocks is applied to a larger grid.
enum class EncoderCover {
  /// Blocks of the training's size, each half over the next; where they overlap their latents are averaged,
  /// with
  /// weights that fall towards a block's ends. The encoder sees blocks of the size that it was trained on.
  blocks,
  /// All nodes at once (along time: at once with the others of a part). Faster, but deep levels see more
  /// nodes than
  /// in training, with weights that were never trained.
  whole
};

/// Windows that cover an axis.
struct AxisWindows {
  int n = 0;                ///< nodes of the axis
  int length = 0;           ///< nodes of a window
  std::vector<int> starts;  ///< on a periodic axis a window may pass the end

  /// Weight of a window's value at its node i, not normalised.
  [[nodiscard]] static double weight(int i, int length) { return i < length - 1 - i ? i + 1 : length - i; }
};

/// @param seamless a window of the whole period has no seam (circular padding)
[[nodiscard]] AxisWindows cover_axis(int n, int block, bool periodic, bool seamless);

}  // namespace quintet::flow
