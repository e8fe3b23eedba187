#pragma once

#include <cstddef>

#include "io/device/factory.hpp"

namespace quintet {

/// Properties of the device of a Kokkos execution space.
struct DeviceProperties {
  char name[160] = {};          ///< "NVIDIA H100 80GB HBM3 (compute capability 9.0), CUDA 13.0, Kokkos 4.7.1"
  std::size_t total_bytes = 0;  ///< of its memory; 0: the host's
  std::size_t free_bytes = 0;   ///< now
  int n_devices = 0;            ///< that this process sees
  int number = 0;               ///< of the one chosen
  char id[40] = {};             ///< of it, the same for all processes of the node whatever each of them sees
  void* stream = nullptr;       ///< cudaStream_t in which Kokkos computes on it; null on the host
  char error[400] = {};         ///< why it cannot be used; empty: it can
};

}  // namespace quintet

/// Version of the sources of this copy of the interface. Those of program and library must be equal, since
/// they share classes.
QUINTET_DEVICE_FACTORY const char* quintet_device_version();
/// Choose device `number` modulo those that there are, start Kokkos on it where it is not up, and say what it
/// is.
QUINTET_DEVICE_FACTORY void quintet_device_start(int number, quintet::DeviceProperties* properties);
/// Devices that this process sees, none where there is no driver; starts nothing.
QUINTET_DEVICE_FACTORY int quintet_device_count();
/// Bytes that are free on the device now.
QUINTET_DEVICE_FACTORY std::size_t quintet_device_free_bytes();
/// Undo one start that reported no error; call it once for each. The last call stops Kokkos if the first
/// start started it; this process can then start no other. All engines must be gone.
QUINTET_DEVICE_FACTORY void quintet_device_stop();
