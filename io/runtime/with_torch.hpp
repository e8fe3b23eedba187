#pragma once

namespace quintet {

/// LibTorch, and how to get a build that has it: for messages of a program that was built without.
inline constexpr const char* with_torch = "LibTorch (./quickstart --torch, or cmake -DQUINTET_WITH_TORCH=ON)";

}  // namespace quintet
