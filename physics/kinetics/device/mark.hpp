#pragma once

#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "physics/kinetics/device/vlasov_launch.hpp"

namespace quintet::kinetics::device {

/// A place in the order of what the device was asked for: the host may wait for it without waiting for what
/// was asked for later. Other spaces than CUDA's wait for all.
class Mark {
 public:
  Mark() = default;
  Mark(const Mark&) = delete;
  Mark& operator=(const Mark&) = delete;
#ifdef KOKKOS_ENABLE_CUDA
  ~Mark() {
    if (event_ != nullptr) static_cast<void>(cudaEventDestroy(event_));
  }
  /// Behind all that was asked for so far.
  void set() {
    if (event_ == nullptr) check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming));
    check(cudaEventRecord(event_, Space().cuda_stream()));
  }
  /// Until the device has come there; at once where nothing was set.
  void wait() const {
    if (event_ != nullptr) check(cudaEventSynchronize(event_));
  }

 private:
  static void check(cudaError_t error) {
    if (error != cudaSuccess)
      throw std::runtime_error(std::string("CUDA, at an event: ") + cudaGetErrorString(error));
  }
  cudaEvent_t event_ = nullptr;
#else
  void set() {}
  void wait() const { Space().fence(); }
#endif
};

/// Its first n numbers.
template <class View>
auto first_of(const View& view, std::size_t n) {
  return Kokkos::subview(view, std::pair<std::size_t, std::size_t>(0, n));
}

/// Numbers on their way between the host and an array of the device, by memory that the device copies by
/// itself.
class Passage {
 public:
  /// At most n numbers.
  void reserve(std::size_t n) {
    staged_ = StagedArray(Kokkos::view_alloc(std::string("passage"), Kokkos::WithoutInitializing), n);
  }

  /// to[i] = from[i], i < n. `from` has been read when this returns; the device goes on when it is there.
  void send(const DeviceArray& to, const double* from, std::size_t n) {
    mark_.wait();  // what was sent before has left
    std::memcpy(staged_.data(), from, n * sizeof(double));
    Kokkos::deep_copy(Space(), first_of(to, n), first_of(staged_, n));
    mark_.set();
  }
  /// Begin to bring the first n numbers.
  void fetch(const DeviceArray& from, std::size_t n) {
    n_ = n;
    Kokkos::deep_copy(Space(), first_of(staged_, n), first_of(from, n));
    mark_.set();
  }
  /// What was fetched last, until the next fetch(). Waits for it.
  [[nodiscard]] std::span<const double> fetched() const {
    mark_.wait();
    return {staged_.data(), n_};
  }

 private:
  StagedArray staged_;
  std::size_t n_ = 0;
  Mark mark_;
};

}  // namespace quintet::kinetics::device
