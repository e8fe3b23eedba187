#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace quintet {

/// Something that ends the memory of this process: the node itself, or one of the control groups it is in.
struct MemoryBound {
  std::string group{};       ///< folder of the control group; "": the node
  std::uint64_t device = 0;  ///< with `number`: the same for all processes of a group; 0 for the node
  std::uint64_t number = 0;
  double limit = 0;  ///< bytes that all processes under it may hold together
  double free = 0;  ///< bytes of them that can still be had: what is held, less files that are kept for speed
};

/// Bounds of this process's memory now: the node, then its control groups with a limit, innermost first.
///
/// Groups are those of /proc/self/cgroup, version 1 or 2, and their parents up to the root, where
/// /proc/self/mountinfo says that they are. "max", and a limit that no machine has, bound nothing. Nothing
/// where the system tells nothing. @param root where /proc and the mounted folders are looked for, for tests
[[nodiscard]] std::vector<MemoryBound> memory_bounds(const std::filesystem::path& root = "/");

/// The least limit of them (bytes), whatever is held; none where the system tells none.
[[nodiscard]] std::optional<double> memory_limit(const std::vector<MemoryBound>& bounds);
/// The least that is free under any of them (bytes).
[[nodiscard]] std::optional<double> free_memory(const std::vector<MemoryBound>& bounds);

}  // namespace quintet
