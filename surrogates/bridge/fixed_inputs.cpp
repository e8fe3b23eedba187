#include "surrogates/bridge/fixed_inputs.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"

namespace quintet {

FixedInputs::FixedInputs(c10::Device device, const std::vector<at::Tensor>& like) {
  constexpr std::int64_t alignment = 256;  // that of LibTorch's allocators on GPUs, and more
  std::int64_t n = 0;
  for (const auto& tensor : like) {
    first_.push_back(n);
    n += (static_cast<std::int64_t>(tensor.nbytes()) + alignment - 1) / alignment * alignment;
  }
  const auto bytes = at::TensorOptions(at::kByte);
  bytes_ = at::zeros({n}, bytes.device(device));
  staged_ = device.is_cpu() ? bytes_ : at::zeros({n}, bytes.pinned_memory(device.is_cuda()));
  for (std::size_t i = 0; i < like.size(); ++i)
    there_.push_back(
        bytes_.narrow(0, first_[i], like[i].nbytes()).view(like[i].scalar_type()).view(like[i].sizes()));
}

void FixedInputs::fill(const std::vector<at::Tensor>& values) {
  if (values.size() != there_.size())
    throw InternalError(fmt::format("{} tensors for {} places", values.size(), there_.size()));
  auto* const to = staged_.data_ptr<std::uint8_t>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const at::Tensor from = values[i].contiguous();
    if (!from.is_cpu() || from.scalar_type() != there_[i].scalar_type() || from.sizes() != there_[i].sizes())
      throw InternalError(fmt::format("input {} is not of the type and shape of its place", i));
    if (from.numel() > 0) std::memcpy(to + first_[i], from.const_data_ptr(), from.nbytes());
  }
  // Waits, so that the staged bytes may be written anew.
  if (!bytes_.is_same(staged_)) bytes_.copy_(staged_);
}

}  // namespace quintet
