#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

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

}  // namespace quintet::device
