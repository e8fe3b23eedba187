#include "surrogates/bridge/device_torch.hpp"

#include <c10/core/AutogradState.h>

#include "io/log/error.hpp"

#ifdef QUINTET_TORCH_CUDA
#include <ATen/Context.h>
#include <c10/cuda/CUDAStream.h>

#include "surrogates/bridge/errors.hpp"
#endif

namespace quintet {

#ifdef QUINTET_TORCH_CUDA

namespace {

c10::Device on_gpu(const DeviceSession& session) {
  return translate_torch_errors(
      "LibTorch on a GPU",
      [&] {
        const auto number = static_cast<c10::DeviceIndex>(session.number());
        c10::cuda::set_device(number);
        c10::cuda::setCurrentCUDAStream(
            c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(session.stream()), number));
        at::globalContext().setAllowTF32CuBLAS(false);
        at::globalContext().setAllowTF32CuDNN(false);
        return c10::Device(c10::DeviceType::CUDA, number);
      },
      ExitCode::resource);
}

void wait_for(c10::Device gpu) { c10::cuda::getCurrentCUDAStream(gpu.index()).synchronize(); }

}  // namespace

#else

namespace {

c10::Device on_gpu(const DeviceSession&) {
  throw InternalError("a LibTorch without CUDA on a GPU: device_with_torch() was not asked");
}

void wait_for(c10::Device) {}

}  // namespace

#endif

TorchDevice::TorchDevice(const DeviceSession& session) : session_(session) {
  if (!is_used()) return;
  // Gradients of what is on a GPU would be formed by a thread of autograd's own, but backward passes here
  // send messages, which MPI takes from the thread alone that started it.
  c10::AutogradState::get_tls_state().set_multithreading_enabled(false);
  if (session.device() == Device::gpu) place_ = on_gpu(session);
}

void TorchDevice::fence() const {
  if (place_.is_cuda()) wait_for(place_);
}

}  // namespace quintet
