#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "physics/kernels/dense_multiply.hpp"

/// Launches that repeat: small systems wait for the host to launch kernels, not for the kernels.
namespace quintet::device {

/// Does some work on a space, again and again: where the space is a GPU, as one recorded graph.
template <class Space>
class Replay {
 public:
  /// @param key all that the launches depend on: sizes and addresses. The work is recorded the second time
  /// that a key is seen.
  template <class Body>
  void operator()(const Space&, const std::vector<std::uintptr_t>&, const Body& body) {
    body();
  }
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Replay<Kokkos::Cuda> {
 public:
  Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { forget(); }

  template <class Body>
  void operator()(const Kokkos::Cuda& space, const std::vector<std::uintptr_t>& key, const Body& body) {
    if (key != key_) {
      forget();
      key_ = key;
      body();
      return;
    }
    if (!graph_) record(space, body);
    check(cudaGraphLaunch(graph_, space.cuda_stream()));
  }

 private:
  template <class Body>
  void record(const Kokkos::Cuda& space, const Body& body) {
    cudaGraph_t plan{};
    check(cudaStreamBeginCapture(space.cuda_stream(), cudaStreamCaptureModeThreadLocal));
    body();
    check(cudaStreamEndCapture(space.cuda_stream(), &plan));
    check(cudaGraphInstantiate(&graph_, plan, 0));
    check(cudaGraphDestroy(plan));
  }
  void forget() {
    if (graph_) cudaGraphExecDestroy(graph_);
    graph_ = nullptr;
  }
  static void check(cudaError_t status) {
    if (status != cudaSuccess)
      throw std::runtime_error(std::string("CUDA graph: ") + cudaGetErrorString(status));
  }
  std::vector<std::uintptr_t> key_;
  cudaGraphExec_t graph_{};
};
#endif

/// Work of several parts that need nothing of each other: on a GPU side by side, else one after the other.
template <class Space>
class Branches {
 public:
  Branches(int, const Space& main, const DenseMultiplier<Space>& multiplier)
      : main_(main), multiplier_(multiplier) {}
  /// The parts begin after what the main space has been given so far.
  void fork() {}
  /// The main space goes on after all parts.
  void join() {}
  [[nodiscard]] const Space& space(int) const { return main_; }
  [[nodiscard]] const DenseMultiplier<Space>& multiplier(int) const { return multiplier_; }

 private:
  Space main_;
  const DenseMultiplier<Space>& multiplier_;
};

#ifdef KOKKOS_ENABLE_CUDA
template <>
class Branches<Kokkos::Cuda> {
 public:
  Branches(int n, const Kokkos::Cuda& main, const DenseMultiplier<Kokkos::Cuda>& multiplier)
      : main_(main), multiplier_(multiplier) {
    cudaEventCreateWithFlags(&begin_, cudaEventDisableTiming);
    for (int b = 1; b < n; ++b) others_.push_back(std::make_unique<Branch>());
  }
  ~Branches() { cudaEventDestroy(begin_); }
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;

  void fork() {
    cudaEventRecord(begin_, main_.cuda_stream());
    for (auto& branch : others_) cudaStreamWaitEvent(branch->stream.value, begin_, 0);
  }
  void join() {
    for (auto& branch : others_) {
      cudaEventRecord(branch->end, branch->stream.value);
      cudaStreamWaitEvent(main_.cuda_stream(), branch->end, 0);
    }
  }
  [[nodiscard]] const Kokkos::Cuda& space(int b) const { return b == 0 ? main_ : others_[b - 1]->space; }
  [[nodiscard]] const DenseMultiplier<Kokkos::Cuda>& multiplier(int b) const {
    return b == 0 ? multiplier_ : others_[b - 1]->multiplier;
  }

 private:
  struct Stream {
    Stream() { cudaStreamCreateWithFlags(&value, cudaStreamNonBlocking); }
    ~Stream() { cudaStreamDestroy(value); }
    cudaStream_t value{};
  };
  struct Branch {
    Branch() : space(stream.value), multiplier(space) {
      cudaEventCreateWithFlags(&end, cudaEventDisableTiming);
    }
    ~Branch() { cudaEventDestroy(end); }
    Stream stream;
    cudaEvent_t end{};
    Kokkos::Cuda space;
    DenseMultiplier<Kokkos::Cuda> multiplier;
  };
  Kokkos::Cuda main_;
  const DenseMultiplier<Kokkos::Cuda>& multiplier_;
  cudaEvent_t begin_{};
  std::vector<std::unique_ptr<Branch>> others_;
};
#endif

}  // namespace quintet::device
