#include "physics/kinetics/files/whole_frames.hpp"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "io/hdf5/file.hpp"

namespace quintet::kinetics {
namespace {

/// Members of a group that have a row a frame.
void add_series(const hdf5::Group& root, const std::string& path, std::vector<std::string>& paths) {
  if (!root.has(path)) return;
  const auto group = root.open_group(path);
  for (const auto& name : group.names()) {
    if (group.is_group(name) || !group.has_member_attribute(name, "axes")) continue;
    const auto axes = group.member_texts_attribute(name, "axes");
    if (!axes.empty() && axes.front() == "frame") paths.push_back(path + "/" + name);
  }
}

std::vector<std::string> species_of(const hdf5::Group& root) {
  return root.has("species") ? root.open_group("species").names() : std::vector<std::string>{};
}

/// Frames from the first on that have f of a species; `n` if it is not kept.
std::uint64_t least_distributions(const hdf5::Group& root, const std::string& path, std::uint64_t n) {
  if (!root.has(path)) return n;
  const auto group = root.open_group(path);
  const auto is_there = [&](std::uint64_t i) {
    const auto name = fmt::format("frame_{}", i);
    return group.has(name) && group.shape(name).at(0) > 0;
  };
  if (!is_there(0)) return n;
  for (std::uint64_t i = 0; i < n; ++i)
    if (!is_there(i)) return i;
  return n;
}

}  // namespace

std::vector<std::string> frame_series(const hdf5::Group& root) {
  std::vector<std::string> paths;
  for (const char* path : {"coefficients", "fields", "pictures"}) add_series(root, path, paths);
  for (const auto& name : species_of(root)) add_series(root, fmt::format("species/{}/moments", name), paths);
  return paths;
}

FrameIndex whole_frames(const hdf5::Group& root) {
  const auto index = root.open_group("frames");
  std::uint64_t n = std::min(index.whole_rows("step"), index.whole_rows("time"));
  for (const auto& path : frame_series(root)) n = std::min(n, root.whole_rows(path));
  for (const auto& name : species_of(root))
    n = least_distributions(root, fmt::format("species/{}/f", name), n);
  FrameIndex frames{index.read_rows<std::int64_t>("step", 0, n), index.read_rows<double>("time", 0, n)};
  for (std::uint64_t i = 1; i < n; ++i)
    if (!(frames.steps[i] > frames.steps[i - 1] && frames.times[i] > frames.times[i - 1])) n = i;
  frames.steps.resize(n);
  frames.times.resize(n);
  return frames;
}

}  // namespace quintet::kinetics
