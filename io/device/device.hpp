#pragma once

#include <memory>
#include <string>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Device that computes the hot path of a run.
enum class Device {
  cpu,        ///< the SIMD engines, on the cores of the ranks
  gpu,        ///< the device engines, on a GPU
  automatic,  ///< gpu where one can be used, else cpu
  portable,   ///< the device engines on the host's cores: slow, to compare with
};
/// Key `device`.
void describe_device(Schema& schema, Device& device);

/// Device for which a run with LibTorch's networks may ask a DeviceSession: `wanted`, or, if this LibTorch
/// does not compute on GPUs, the cpu for automatic, which is logged. Errors: ResourceError for gpu then.
[[nodiscard]] Device device_with_torch(Device wanted, bool torch_has_gpus);

/// The device of this rank's run, from the key to its engines.
///
/// Engines are written once, in files *_device.cpp, as templates on Kokkos's execution space, and compiled
/// twice: into the program for the host's space, and into libquintet_device.so by the GPU's compiler, against
/// a Kokkos of its own. The library is loaded at run time, so that one program serves machines with and
/// without a GPU and its SIMD engines are compiled by the compiler that is best at them. It is looked for in
/// the variable QUINTET_DEVICE_LIBRARY, then in ../lib beside the program.
///
/// Ranks of a node take its GPUs in turn; where there are more ranks than GPUs, they share them. Copies
/// are one session, which ends with the last of them: whoever holds engines holds a copy, declared before
/// them. Where all have ended none can begin, since a Kokkos starts once a process.
class DeviceSession {
 public:
  /// The cpu.
  DeviceSession();
  /// Collective. Errors: ResourceError where a GPU is asked for and cannot be used: no library, none of this
  /// version, no driver, no GPU, compiled for another architecture.
  DeviceSession(Device wanted, const Comm& comm);

  /// cpu, gpu or portable.
  [[nodiscard]] Device device() const;
  [[nodiscard]] bool is_cpu() const { return device() == Device::cpu; }
  /// Whether engines may hand memory of the device to MPI; else they send through the host.
  [[nodiscard]] bool sends_directly() const;
  /// The GPU's number among those that this process sees.
  [[nodiscard]] int number() const;
  /// How many there are.
  [[nodiscard]] int count() const;
  /// Stream of the device in which the engines compute, a cudaStream_t; null without a GPU.
  [[nodiscard]] void* stream() const;
  /// One line for log and summary: "NVIDIA H100 80GB HBM3 (GPU 0 of 1, ...)", or "cpu", and why where that
  /// was chosen. On several ranks also whether MPI reads its memory.
  [[nodiscard]] const std::string& description() const;
  /// The factory of an engine for this device: `here` is the program's own, of the same name.
  template <class Function>
  [[nodiscard]] Function* factory(const char* name, Function* here) const {
    return reinterpret_cast<Function*>(find(name, reinterpret_cast<void*>(here)));
  }
  /// Before `bytes` of the device's memory are taken for `what` ("192 atoms"). Ranks that share a device need
  /// the sum of theirs. Collective: a rank that takes nothing asks for 0. Errors: ResourceError on all ranks
  /// where a device has less free.
  void require_bytes(double bytes, const std::string& what) const;
  /// A rank's share of what is free: of each device's memory an equal part for the ranks that share it, the
  /// least of all; infinity without a GPU. Collective.
  [[nodiscard]] double memory_of_a_rank() const;

 private:
  [[nodiscard]] void* find(const char* name, void* here) const;
  struct Implementation;
  std::shared_ptr<Implementation> implementation_;
};

}  // namespace quintet
