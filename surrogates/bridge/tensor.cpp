#include "surrogates/bridge/tensor.hpp"

#include <algorithm>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"

namespace quintet::bridge {
namespace {

/// "[4, 3]"; what may have any value is "n".
std::string shape_text(std::span<const std::int64_t> extents) {
  std::vector<std::string> texts;
  for (const auto extent : extents) texts.push_back(extent < 0 ? "n" : std::to_string(extent));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string text(const MemoryLayout& side) {
  return fmt::format("{} {} on {}", c10::toString(side.type), shape_text(side.extents),
                     side.is_on_host ? "the host" : "the device");
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> extents) {
  std::vector<std::int64_t> strides(extents.size(), 1);
  for (std::size_t i = extents.size(); i-- > 1;) strides[i - 1] = strides[i] * extents[i];
  return strides;
}

/// Strides of extents 0 and 1 are never used: they may have any value.
bool is_row_major(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return true;
  const auto expected = row_major_strides(extents);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] > 1 && strides[i] != expected[i]) return false;
  }
  return true;
}

bool matches(at::IntArrayRef sizes, std::span<const std::int64_t> expected) {
  return std::equal(sizes.begin(), sizes.end(), expected.begin(), expected.end(),
                    [](std::int64_t size, std::int64_t extent) { return extent < 0 || size == extent; });
}

}  // namespace

at::Tensor wrap(void* data, const MemoryLayout& view, std::span<const std::int64_t> strides,
                std::function<void(void*)> release) {
  if (!is_row_major(view.extents, strides)) {
    throw InternalError(
        fmt::format("The View \"{}\" {} with strides {} cannot be a tensor: row-major strides {} were "
                    "expected. Copy it into a LayoutRight View first.",
                    view.name, shape_text(view.extents), shape_text(strides),
                    shape_text(row_major_strides(view.extents))));
  }
  return translate_torch_errors(fmt::format("Making a tensor of the View \"{}\"", view.name), [&] {
    const auto device = view.is_on_host ? at::kCPU : at::kCUDA;
    const auto options = at::TensorOptions().dtype(view.type).device(device);
    return at::from_blob(data, at::IntArrayRef(view.extents.data(), view.extents.size()), std::move(release),
                         options);
  });
}

void check(const at::Tensor& tensor, const MemoryLayout& expected, bool is_written) {
  if (!tensor.defined()) {
    throw InternalError(
        fmt::format("The tensor \"{}\" is undefined: {} was expected.", expected.name, text(expected)));
  }
  const auto sizes = tensor.sizes();
  const MemoryLayout found{
      expected.name, tensor.scalar_type(), tensor.is_cpu(), {sizes.data(), sizes.size()}};
  if (found.type != expected.type || found.is_on_host != expected.is_on_host ||
      !matches(sizes, expected.extents)) {
    throw InternalError(
        fmt::format("The tensor \"{}\" is {}: {} was expected.", expected.name, text(found), text(expected)));
  }
  if (tensor.layout() != at::kStrided || !tensor.is_contiguous()) {
    throw InternalError(
        fmt::format("The tensor \"{}\" {} is not contiguous in row-major order: call .contiguous() "
                    "before it becomes a View {}.",
                    expected.name, text(found), text(expected)));
  }
  if (is_written && tensor.requires_grad()) {
    throw InternalError(
        fmt::format("The tensor \"{}\" {} requires gradients, and autograd does not see writes through "
                    "a View: ask for a View of const elements, or detach() it.",
                    expected.name, text(found)));
  }
}

}  // namespace quintet::bridge
