#include <cstdio>
#include <cstring>
#include <exception>

#include <unistd.h>

#include <Kokkos_Core.hpp>

#include "io/device/device_space.hpp"

#ifndef QUINTET_DEVICE_VERSION
#define QUINTET_DEVICE_VERSION "unknown"
#endif

namespace {

using quintet::DeviceProperties;

int n_starts = 0;  ///< that have not been stopped
bool started_here = false, ended_here = false;

template <std::size_t N, class... Values>
void print(char (&to)[N], const char* format, Values... values) {
  std::snprintf(to, N, format, values...);
}

#ifdef KOKKOS_ENABLE_CUDA

__global__ void probe() {}

int count_now() {
  int n = 0;
  return cudaGetDeviceCount(&n) == cudaSuccess ? n : 0;
}

/// Choose the device and see that it can run what was compiled.
bool choose(int number, DeviceProperties& p) {
  if (const auto code = cudaGetDeviceCount(&p.n_devices); code != cudaSuccess || p.n_devices == 0) {
    print(p.error, "no GPU is seen here (%s)", code == cudaSuccess ? "none" : cudaGetErrorString(code));
    return false;
  }
  const int device = p.number = number % p.n_devices;
  cudaDeviceProp properties{};
  cudaFuncAttributes attributes{};
  if (cudaSetDevice(device) != cudaSuccess || cudaGetDeviceProperties(&properties, device) != cudaSuccess) {
    print(p.error, "GPU %d cannot be used (%s)", device, cudaGetErrorString(cudaGetLastError()));
    return false;
  }
  print(p.name, "%s (GPU %d of %d, compute capability %d.%d), CUDA %d.%d, Kokkos %d.%d.%d", properties.name,
        device, p.n_devices, properties.major, properties.minor, CUDART_VERSION / 1000,
        CUDART_VERSION / 10 % 100, KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100, KOKKOS_VERSION % 100);
  if (cudaFuncGetAttributes(&attributes, probe) != cudaSuccess) {
    print(p.error, "libquintet_device.so was compiled for another architecture than that of %s (%d.%d): %s",
          properties.name, properties.major, properties.minor, cudaGetErrorString(cudaGetLastError()));
    return false;
  }
  p.total_bytes = properties.totalGlobalMem;
  for (int i = 0; i < 16; ++i)
    std::snprintf(p.id + 2 * i, 3, "%02x", static_cast<unsigned>(properties.uuid.bytes[i]) & 0xffU);
  return true;
}

std::size_t free_now() {
  std::size_t free = 0, total = 0;
  return cudaMemGetInfo(&free, &total) == cudaSuccess ? free : 0;
}

void start_kokkos(const DeviceProperties& p) {
  Kokkos::initialize(Kokkos::InitializationSettings().set_device_id(p.number).set_disable_warnings(true));
}
void* stream_now() { return Kokkos::Cuda().cuda_stream(); }

#else

#ifdef QUINTET_DEVICE_STAND_IN  // cmake/device: in a library that is taken for a GPU's
constexpr const char* what = "no GPU but a stand-in for tests, compute capability none, on the host's cores";
std::size_t free_now() { return std::int64_t{sysconf(_SC_AVPHYS_PAGES)} * sysconf(_SC_PAGESIZE); }
#else
constexpr const char* what = "the device engines on the host's cores";
std::size_t free_now() { return 0; }
#endif

int count_now() { return 1; }
bool choose(int, DeviceProperties& p) {
  p.n_devices = 1;
  print(p.name, "%s, Kokkos %d.%d.%d %s", what, KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
        KOKKOS_VERSION % 100, Kokkos::DefaultExecutionSpace::name());
  return true;
}
void start_kokkos(const DeviceProperties&) { Kokkos::initialize(); }
void* stream_now() { return nullptr; }

#endif

}  // namespace

const char* quintet_device_version() { return QUINTET_DEVICE_VERSION; }

void quintet_device_start(int number, quintet::DeviceProperties* properties) {
  *properties = {};
  try {
    if (!choose(number, *properties)) return;
    if (ended_here) {
      print(properties->error, "%s", "its Kokkos has ended in this process, and starts but once");
      return;
    }
    if (!Kokkos::is_initialized()) {
      start_kokkos(*properties);
      started_here = true;
    }
    properties->free_bytes = free_now();
    properties->stream = stream_now();
    ++n_starts;
  } catch (const std::exception& error) {
    print(properties->error, "%s", error.what());
  }
}

int quintet_device_count() { return count_now(); }
std::size_t quintet_device_free_bytes() { return free_now(); }

void quintet_device_stop() {
  if (n_starts == 0 || --n_starts > 0 || !started_here) return;
  if (Kokkos::is_initialized()) Kokkos::finalize();
  started_here = false;
  ended_here = true;
}
