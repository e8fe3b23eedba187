#pragma once

#include "io/device/device.hpp"

/// The device that tests of devices run on: the host's cores, or with QUINTET_TEST_DEVICE=gpu in the
/// environment this machine's GPU. What a test is given by an engine there may lie in memory that the host
/// cannot read.
namespace quintet::test {

/// Device::portable or gpu. Errors: InputError for another word in the variable.
[[nodiscard]] Device device();
[[nodiscard]] inline bool on_gpu() { return device() == Device::gpu; }

/// The session of all tests of this process, of all ranks, since a Kokkos starts once a process: begun by the
/// first that asks (collective), ended after the last test. Errors: ResourceError where the GPU that was
/// asked for cannot be used, which fails the test: a GPU that is not there is no reason to pass.
[[nodiscard]] const DeviceSession& device_session();

/// A function of the library of the GPU, or `here`, the program's own of that name.
template <class Function>
[[nodiscard]] Function* device_function(const char* name, Function* here) {
  return device_session().factory(name, here);
}
#define QUINTET_DEVICE_FUNCTION(name) ::quintet::test::device_function(#name, &(name))

/// Whether engines may be told to hand their memory to MPI, `directly` or not: an MPI that reads none of a
/// GPU would crash.
[[nodiscard]] inline bool may_send(bool directly) {
  return directly && (!on_gpu() || device_session().sends_directly());
}

/// A bound on round-off. A GPU's compiler contracts other products with sums than the host's, its threads add
/// in another order, and its libraries take other algorithms for other numbers of matrices.
[[nodiscard]] inline double bound(double of_host, double of_gpu) { return on_gpu() ? of_gpu : of_host; }

/// Why a test that counts by the hooks of Kokkos's profiling is of the host alone. Engines are the same
/// there.
inline constexpr const char* hooks_see_the_host =
    "the library of the GPU has a Kokkos of its own, whose launches, copies and memory this program does not "
    "see";

}  // namespace quintet::test
