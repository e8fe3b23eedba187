#include "surrogates/potential/training/torch/library/torch_recording.hpp"

#include <utility>

#ifdef QUINTET_TORCH_CUDA
#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

namespace quintet::potential {

namespace {

class CalledAgain final : public TorchRecording {
 public:
  explicit CalledAgain(std::function<void()> operators) : operators_(std::move(operators)) {}
  void replay() override { operators_(); }

 private:
  std::function<void()> operators_;
};

}  // namespace

#ifdef QUINTET_TORCH_CUDA

struct TorchRecorder::Place {
  c10::cuda::CUDAStream stream;
  c10::MempoolId_t pool;
};

namespace {

class CudaGraph final : public TorchRecording {
 public:
  CudaGraph(const c10::cuda::CUDAStream& stream, c10::MempoolId_t pool,
            const std::function<void()>& operators)
      : graph_(std::make_unique<at::cuda::CUDAGraph>()) {
    c10::cuda::getCurrentCUDAStream(stream.device_index()).synchronize();
    // The caller's stream may be the default one, which cannot record.
    const c10::cuda::CUDAStreamGuard guard(stream);
    try {
      // Calls of other threads, such as MPI's, are none of its business.
      graph_->capture_begin(pool, cudaStreamCaptureModeThreadLocal);
      operators();
      graph_->capture_end();
    } catch (...) {
      abandon(stream, pool);
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
  void abandon(const c10::cuda::CUDAStream& stream, c10::MempoolId_t pool) noexcept {
    auto* const graph = graph_.release();  // never deleted: LibTorch's allocators may ask it again
    try {
      cudaStreamCaptureStatus status{};
      if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusActive) {
        graph->capture_end();
        return;
      }
      cudaGraph_t none = nullptr;
      if (status == cudaStreamCaptureStatusInvalidated)
        static_cast<void>(cudaStreamEndCapture(stream, &none));
      static_cast<void>(cudaGetLastError());  // of the recording, not of what comes next
      c10::cuda::CUDACachingAllocator::endAllocateToPool(stream.device_index(), pool);
    } catch (const c10::Error&) {  // it had ended
    }
  }

  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

}  // namespace

TorchRecorder::TorchRecorder(c10::Device device) {
  if (device.is_cuda())
    place_.reset(
        new Place{c10::cuda::getStreamFromPool(false, device.index()), at::cuda::graph_pool_handle()});
}

std::unique_ptr<TorchRecording> TorchRecorder::record(std::function<void()> operators) const {
  if (place_) return std::make_unique<CudaGraph>(place_->stream, place_->pool, operators);
  return std::make_unique<CalledAgain>(std::move(operators));
}

#else

struct TorchRecorder::Place {};

TorchRecorder::TorchRecorder(c10::Device /*device*/) {}

std::unique_ptr<TorchRecording> TorchRecorder::record(std::function<void()> operators) const {
  return std::make_unique<CalledAgain>(std::move(operators));
}

#endif

TorchRecorder::~TorchRecorder() = default;

}  // namespace quintet::potential
