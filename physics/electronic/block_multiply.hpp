#pragma once

#include "physics/electronic/block_matrix.hpp"

namespace quintet::electronic {

/// The blocks of A B that `pattern` has; nothing else is computed. Collective: each needed block travels
/// once.
[[nodiscard]] BlockMatrix multiply_on(const BlockMatrix& pattern, const BlockMatrix& a, const BlockMatrix& b);

}  // namespace quintet::electronic
