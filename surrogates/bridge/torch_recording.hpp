#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include <c10/core/Device.h>

namespace quintet {

/// Operators of LibTorch that are asked for once and computed as often as wanted, with what then lies in the
/// memory of their inputs: a CUDA graph, which a GPU is given by one call; elsewhere they are called again.
class TorchRecording {
 public:
  virtual ~TorchRecording() = default;
  /// Compute; the operators' results lie where they lay.
  virtual void replay() = 0;
};

/// Scope in which LibTorch's observers see operators that are replayed.
inline constexpr const char* replay_scope = "quintet::replay";

/// Records on a device. What recordings keep for each other lies in one pool of memory: they are to be
/// replayed one after the other, and what one leaves for another holds until a third is replayed.
class TorchRecorder {
 public:
  explicit TorchRecorder(c10::Device device);
  ~TorchRecorder();
  TorchRecorder(const TorchRecorder&) = delete;
  TorchRecorder& operator=(const TorchRecorder&) = delete;

  /// Computes nothing yet. Operators must not wait for the device, nor copy from or to the host.
  /// Errors: c10::Error where they cannot be recorded; the device can be used as before.
  [[nodiscard]] std::unique_ptr<TorchRecording> record(std::function<void()> operators) const;
  /// Give back the device's memory of recordings that are gone, and what LibTorch keeps for future tensors.
  void give_back_memory() const;
  /// Bytes of the device that nobody has, LibTorch's allocator included; on the host any number.
  [[nodiscard]] std::int64_t free_bytes() const;

 private:
  struct Place;  ///< of CUDA: a stream to record on, and the pool
  std::unique_ptr<const Place> place_;
};

}  // namespace quintet
