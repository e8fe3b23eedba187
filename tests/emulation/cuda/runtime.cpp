// The device and its memory in the CUDA runtime, as far as Kokkos and the
// engines call it, on the emulated GPU. EMULATION_MEMORY_MIB,
// EMULATION_MULTIPROCESSORS: of the GPU [8192, 132].
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/emulation/cuda/stream.hpp"
#include "tests/emulation/cuda/symbols.hpp"
#include "tests/emulation/run/memory.hpp"

using namespace quintet::emulation;

extern "C" {

cudaError_t cudaMalloc(void **p, std::size_t bytes) {
  if (bytes > 0 && recording())
    return complain(cudaErrorStreamCaptureUnsupported, "memory is allocated while a stream is recorded");
  *p = bytes == 0 ? nullptr : allocate(bytes);
  return bytes == 0 || *p ? cudaSuccess
                          : complain(cudaErrorMemoryAllocation, "no memory for %zu bytes", bytes);
}
cudaError_t cudaMallocAsync(void **p, std::size_t bytes, cudaStream_t) { return cudaMalloc(p, bytes); }
cudaError_t cudaMallocManaged(void **p, std::size_t bytes, unsigned) {
  *p = allocate_pinned(bytes);
  return cudaSuccess;
}
cudaError_t cudaHostAlloc(void **p, std::size_t bytes, unsigned) {
  *p = allocate_pinned(bytes);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void **p, std::size_t bytes) { return cudaHostAlloc(p, bytes, 0); }
cudaError_t cudaFree(void *p) {
  if (p != nullptr && recording())
    return complain(cudaErrorStreamCaptureUnsupported, "memory is freed while a stream is recorded");
  finish_all();
  return p == nullptr || release(p)
             ? cudaSuccess
             : complain(cudaErrorInvalidValue, "free of %p, which was not allocated", p);
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t) { return cudaFree(p); }
cudaError_t cudaFreeHost(void *p) {
  return on_device(p) ? complain(cudaErrorInvalidValue, "the device's memory is freed as the host's")
                      : cudaFree(p);
}
cudaError_t cudaMemGetInfo(std::size_t *free, std::size_t *total) {
  *free = memory_free();
  *total = memory_total();
  return cudaSuccess;
}
cudaError_t cudaMemPrefetchAsync(const void *, std::size_t, cudaMemLocation, unsigned, cudaStream_t) {
  return cudaSuccess;
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *p) {
  *a = {};
  const Allocation *found = find(reinterpret_cast<std::uint64_t>(p));
  a->type = !found ? cudaMemoryTypeUnregistered : found->alias ? cudaMemoryTypeDevice : cudaMemoryTypeHost;
  if (found) {
    a->devicePointer = const_cast<void *>(p);
    if (!found->alias) a->hostPointer = const_cast<void *>(p);
  }
  return cudaSuccess;
}

namespace {
/// Of the device's memory, all bytes must be there.
bool valid(const void *p, std::size_t bytes, const char *what) {
  if (!on_device(p) || bytes == 0) return true;
  const Allocation *a = find(reinterpret_cast<std::uint64_t>(p));
  if (a && reinterpret_cast<std::uint64_t>(p) + bytes <= a->end) return true;
  std::fprintf(stderr, "emulation: %s %zu bytes at %p, beyond an allocation of the device\n", what, bytes, p);
  return false;
}
/// The bytes for a copy or fill that is done now.
void *there(const void *p, std::size_t bytes) {
  if (!valid(p, bytes, "memory is gone:")) std::abort();
  return bytes_of(p);
}
bool pageable(const void *p) { return !on_device(p) && find(reinterpret_cast<std::uint64_t>(p)) == nullptr; }
}  // namespace

cudaError_t cudaMemcpyAsync(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const bool wants_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool wants_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if (kind != cudaMemcpyDefault && bytes > 0 &&
      ((pageable(to) && wants_to) || (pageable(from) && wants_from) || (on_device(to) && !wants_to) ||
       (on_device(from) && !wants_from)))
    return complain(cudaErrorInvalidMemcpyDirection, "a copy of another direction than its memory");
  if (!valid(to, bytes, "a copy to") || !valid(from, bytes, "a copy of"))
    return complain(cudaErrorInvalidValue, "a copy or fill that is not done");
  if (recording(stream) && (pageable(from) || pageable(to)))
    return complain(cudaErrorStreamCaptureUnsupported,
                    "a copy of pageable memory while a stream is recorded");
  if (pageable(from)) {
    auto copy = std::make_shared<std::vector<char>>(static_cast<const char *>(from),
                                                    static_cast<const char *>(from) + bytes);
    enqueue(stream, [=] { std::memcpy(there(to, bytes), copy->data(), bytes); });
  } else {
    enqueue(stream, [=] { std::memmove(there(to, bytes), there(from, bytes), bytes); });
  }
  if (pageable(to)) finish(stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void *to, const void *from, std::size_t bytes, cudaMemcpyKind kind) {
  if (recording()) return complain(cudaErrorStreamCaptureImplicit, "cudaMemcpy while a stream is recorded");
  if (const auto e = cudaMemcpyAsync(to, from, bytes, kind, nullptr); e != cudaSuccess) return e;
  finish(nullptr);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *to, int value, std::size_t bytes, cudaStream_t stream) {
  if (!valid(to, bytes, "a fill of"))
    return complain(cudaErrorInvalidValue, "a copy or fill that is not done");
  enqueue(stream, [=] { std::memset(there(to, bytes), value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemset(void *to, int value, std::size_t bytes) {
  return cudaMemsetAsync(to, value, bytes, nullptr);
}
cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  const std::uint64_t at = address_of(symbol);
  if (at == 0) return complain(cudaErrorInvalidSymbol, "a symbol that was not registered");
  return cudaMemcpyAsync(reinterpret_cast<void *>(at + offset), from, bytes, kind, stream);
}
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, std::size_t bytes, std::size_t offset,
                               cudaMemcpyKind kind) {
  const std::uint64_t at = address_of(symbol);
  if (at == 0) return complain(cudaErrorInvalidSymbol, "a symbol that was not registered");
  return cudaMemcpy(reinterpret_cast<void *>(at + offset), from, bytes, kind);
}

cudaError_t cudaGetDeviceCount(int *n) {
  *n = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int d) {
  return d == 0 ? cudaSuccess : complain(cudaErrorInvalidDevice, "device %d is not there", d);
}
cudaError_t cudaGetDevice(int *d) {
  *d = 0;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
  std::memset(p, 0, sizeof *p);
  std::strcpy(p->name, "emulation of an NVIDIA H200");
  p->totalGlobalMem = memory_total();
  p->sharedMemPerBlock = 49152;
  p->regsPerBlock = 65536;
  p->warpSize = 32;
  p->maxThreadsPerBlock = 1024;
  p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
  p->maxThreadsDim[2] = 64;
  p->maxGridSize[0] = 2147483647;
  p->maxGridSize[1] = p->maxGridSize[2] = 65535;
  p->totalConstMem = 65536;
  p->major = 9;
  p->minor = 0;
  const char *n = std::getenv("EMULATION_MULTIPROCESSORS");
  p->multiProcessorCount = n ? std::atoi(n) : 132;
  p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = p->managedMemory =
      p->concurrentManagedAccess = 1;
  p->memoryBusWidth = 6144;
  p->l2CacheSize = 60 << 20;
  p->maxThreadsPerMultiProcessor = 2048;
  p->sharedMemPerMultiprocessor = 233472;
  p->regsPerMultiprocessor = 65536;
  p->sharedMemPerBlockOptin = 232448;
  p->reservedSharedMemPerBlock = 1024;
  p->maxBlocksPerMultiProcessor = 32;
  p->asyncEngineCount = 3;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int) {
  cudaDeviceProp p;
  cudaGetDeviceProperties(&p, 0);
  switch (a) {
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *v = 233472;
      return cudaSuccess;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      *v = 1024;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *v = 232448;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *v = p.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *v = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *v = 0;
      return cudaSuccess;
    case cudaDevAttrConcurrentManagedAccess:
      *v = 1;
      return cudaSuccess;
    default:
      return complain(cudaErrorInvalidValue, "attribute %d is not known", static_cast<int>(a));
  }
}
cudaError_t cudaGetLastError() { return error_so_far(true); }
cudaError_t cudaPeekAtLastError() { return error_so_far(false); }
const char *cudaGetErrorString(cudaError_t e) {
  return e == cudaSuccess                 ? "no error"
         : e == cudaErrorMemoryAllocation ? "out of memory"
         : e == cudaErrorInvalidValue     ? "invalid argument"
                                          : "an error of CUDA";
}
const char *cudaGetErrorName(cudaError_t e) { return cudaGetErrorString(e); }
cudaError_t cudaDriverGetVersion(int *v) {
  *v = 13000;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int *v) {
  *v = 13000;
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit, std::size_t) { return cudaSuccess; }
cudaError_t cudaDeviceGetLimit(std::size_t *v, cudaLimit) {
  *v = 1 << 20;
  return cudaSuccess;
}

CUresult cuCtxGetDevice(CUdevice *d) {
  *d = 0;
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent_v2(CUcontext) { return CUDA_SUCCESS; }
CUresult cuCtxPopCurrent_v2(CUcontext *) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx(CUstream, CUcontext *) { return CUDA_SUCCESS; }
CUresult cuStreamGetCtx_v2(CUstream, CUcontext *, CUgreenCtx *) { return CUDA_SUCCESS; }
CUresult cuGetErrorString(CUresult, const char **s) {
  *s = "an error of CUDA";
  return CUDA_SUCCESS;
}

}  // extern "C"
