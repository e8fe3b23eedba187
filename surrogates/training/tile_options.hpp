#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quintet {

/// Section `tile` of a training: layers that compute in so many tiles, whole numbers, by name.
using LayerTiles = std::vector<std::pair<std::string, double>>;

}  // namespace quintet
