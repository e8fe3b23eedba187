#include "surrogates/bridge/torch_recording.hpp"

#include <limits>
#include <utility>

#include <ATen/record_function.h>

#ifdef QUINTET_TORCH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace quintet {

namespace {

class CalledAgain final : public TorchRecording {
 public:
  explicit CalledAgain(std::function<void()> operators) : operators_(std::move(operators)) {}
  void replay() override {
    RECORD_USER_SCOPE(replay_scope);
    operators_();
  }

 private:
  std::function<void()> operators_;
};

}  // namespace

#ifdef QUINTET_TORCH_CUDA

namespace {

/// Memory pool that recordings share. LibTorch takes the handle of a pool again only as long as a graph has
/// it.
using Pool = decltype(at::cuda::graph_pool_handle());

}  // namespace

struct TorchRecorder::Place {
  c10::cuda::CUDAStream stream;
  mutable std::weak_ptr<const Pool> pool;  ///< of the recordings that are there
};

namespace {

class CudaGraph final : public TorchRecording {
 public:
  CudaGraph(const c10::cuda::CUDAStream& stream, std::shared_ptr<const Pool> pool,
            const std::function<void()>& operators)
      : pool_(std::move(pool)), graph_(std::make_unique<at::cuda::CUDAGraph>()) {
    c10::cuda::getCurrentCUDAStream(stream.device_index()).synchronize();
    // The caller's stream may be the default one, which cannot record.
    const c10::cuda::CUDAStreamGuard guard(stream);
    try {
      // Calls of other threads, such as MPI's, do not affect the capture.
      graph_->capture_begin(*pool_, cudaStreamCaptureModeThreadLocal);
      operators();
      graph_->capture_end();
    } catch (...) {
      abandon(stream);
      throw;
    }
  }
  ~CudaGraph() override {  // what may still run uses its memory
    try {
      c10::cuda::device_synchronize();
    } catch (const c10::Error&) {  // the next operator says it, too
    }
  }
  void replay() override { graph_->replay(); }

 private:
  /// End what is being recorded, so that the stream and the allocator are as before.
  void abandon(const c10::cuda::CUDAStream& stream) noexcept {
    auto* const graph =
        graph_.release();  // not deleted unless it ends: LibTorch's allocators may ask it again
    try {
      cudaStreamCaptureStatus status{};
      if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive) {
        graph->capture_end();
        graph_.reset(graph);
        return;
      }
      cudaGraph_t none = nullptr;
      if (status == cudaStreamCaptureStatusInvalidated)
        static_cast<void>(cudaStreamEndCapture(stream, &none));
      static_cast<void>(cudaGetLastError());  // of the recording, not of what comes next
      c10::cuda::CUDACachingAllocator::endAllocateToPool(stream.device_index(), *pool_);
    } catch (const c10::Error&) {  // it had ended
    }
  }

  std::shared_ptr<const Pool> pool_;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

}  // namespace

TorchRecorder::TorchRecorder(c10::Device device) {
  if (device.is_cuda()) place_.reset(new Place{c10::cuda::getStreamFromPool(false, device.index()), {}});
}

std::unique_ptr<TorchRecording> TorchRecorder::record(std::function<void()> operators) const {
  if (!place_) return std::make_unique<CalledAgain>(std::move(operators));
  auto pool = place_->pool.lock();
  if (!pool) place_->pool = pool = std::make_shared<const Pool>(at::cuda::graph_pool_handle());
  return std::make_unique<CudaGraph>(place_->stream, std::move(pool), operators);
}

void TorchRecorder::give_back_memory() const {
  if (place_) c10::cuda::CUDACachingAllocator::emptyCache();
}

std::int64_t TorchRecorder::free_bytes() const {
  if (!place_) return std::numeric_limits<std::int64_t>::max();
  const c10::cuda::CUDAGuard there(place_->stream.device_index());
  std::size_t free = 0, all = 0;
  C10_CUDA_CHECK(cudaMemGetInfo(&free, &all));
  return free;
}

#else

struct TorchRecorder::Place {};

TorchRecorder::TorchRecorder(c10::Device /*device*/) {}

std::unique_ptr<TorchRecording> TorchRecorder::record(std::function<void()> operators) const {
  return std::make_unique<CalledAgain>(std::move(operators));
}

void TorchRecorder::give_back_memory() const {}

std::int64_t TorchRecorder::free_bytes() const { return std::numeric_limits<std::int64_t>::max(); }

#endif

TorchRecorder::~TorchRecorder() = default;

}  // namespace quintet
