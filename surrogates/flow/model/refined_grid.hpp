#pragma once

#include "surrogates/flow/decoder/node_grid.hpp"
#include "surrogates/flow/encoder/unet_blocks.hpp"

namespace quintet::flow {

/// The fine grid of a convolutional decoder: the cell of each node (up to halfway to its neighbours, or to an
/// end of the domain) parted into `factor` equal ones, whose centres are the fine nodes. On a periodic axis
/// the domain begins where the first cell does.
[[nodiscard]] NodeAxis refined_axis(const NodeAxis& axis, int factor);
[[nodiscard]] NodeGrid refined_grid(const NodeGrid& grid, const GridShape& factors);

}  // namespace quintet::flow
