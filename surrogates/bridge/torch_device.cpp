#include "surrogates/bridge/torch_device.hpp"

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
        // Autograd's threads take the stream of the operator whose gradient they form.
        c10::cuda::setCurrentCUDAStream(
            c10::cuda::getStreamFromExternal(static_cast<cudaStream_t>(session.stream()), number));
        at::globalContext().setAllowTF32CuBLAS(false);
        at::globalContext().setAllowTF32CuDNN(false);
        return c10::Device(c10::DeviceType::CUDA, number);
      },
      ExitCode::resource);
}

}  // namespace

#else

namespace {

c10::Device on_gpu(const DeviceSession&) {
  throw InternalError("a LibTorch without CUDA on a GPU: device_with_torch() was not asked");
}

}  // namespace

#endif

TorchDevice::TorchDevice(const DeviceSession& session) : session_(session) {
  if (session.device() == Device::gpu) place_ = on_gpu(session);
}

}  // namespace quintet
