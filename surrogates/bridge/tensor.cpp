#include "surrogates/bridge/tensor.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"

namespace quintet::bridge {
namespace {

/// "[4, 3]"; what may have any value is "n".
std::string shape_text(std::span<const std::int64_t> extents) {
  std::vector<std::string> texts;
  for (const auto extent : extents) texts.push_back(extent < 0 ? "n" : std::to_string(extent));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string text(const MemoryLayout& side) {
  return fmt::format("{} {} on the host", c10::toString(side.type), shape_text(side.extents));
}

bool matches(at::IntArrayRef sizes, std::span<const std::int64_t> expected) {
  return std::equal(sizes.begin(), sizes.end(), expected.begin(), expected.end(),
                    [](std::int64_t size, std::int64_t extent) { return extent < 0 || size == extent; });
}

}  // namespace

void check(const at::Tensor& tensor, const MemoryLayout& expected) {
  if (!tensor.defined()) {
    throw InternalError(
        fmt::format("The tensor \"{}\" is undefined: {} was expected.", expected.name, text(expected)));
  }
  const auto sizes = tensor.sizes();
  if (tensor.scalar_type() != expected.type || !tensor.is_cpu() || !matches(sizes, expected.extents)) {
    throw InternalError(fmt::format("The tensor \"{}\" is {} {} on {}: {} was expected.", expected.name,
                                    c10::toString(tensor.scalar_type()),
                                    shape_text({sizes.data(), sizes.size()}),
                                    tensor.is_cpu() ? "the host" : "the device", text(expected)));
  }
  if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) {
    throw InternalError(fmt::format(
        "The tensor \"{}\" of {} is not contiguous in row-major order: call .contiguous() before.",
        expected.name, text(expected)));
  }
}

}  // namespace quintet::bridge
