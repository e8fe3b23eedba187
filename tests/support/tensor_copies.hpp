#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

namespace quintet::test {

/// Counts LibTorch's copies of tensors of `numbers` numbers, in all libraries of the program, while it lives.
/// One at a time.
class TensorCopies {
 public:
  explicit TensorCopies(std::int64_t numbers) {
    wanted() = numbers;
    count() = 0;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback(&seen).needsInputs(true).scopes({at::RecordScope::FUNCTION}));
  }
  ~TensorCopies() { at::removeCallback(handle_); }
  TensorCopies(const TensorCopies&) = delete;
  TensorCopies& operator=(const TensorCopies&) = delete;
  [[nodiscard]] int so_far() const { return count(); }

 private:
  static std::atomic<std::int64_t>& wanted() {
    static std::atomic<std::int64_t> numbers{0};
    return numbers;
  }
  static std::atomic<int>& count() {
    static std::atomic<int> copies{0};
    return copies;
  }
  static std::unique_ptr<at::ObserverContext> seen(const at::RecordFunction& function) {
    const auto inputs = function.inputs();
    if (function.name() == std::string_view("aten::copy_") && !inputs.empty() && inputs[0].isTensor() &&
        inputs[0].toTensor().numel() == wanted())
      ++count();
    return nullptr;
  }
  at::CallbackHandle handle_ = 0;
};

}  // namespace quintet::test
