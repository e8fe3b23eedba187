#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "io/device/device.hpp"
#include "io/device/device_space.hpp"

namespace quintet {

/// What `device` may be.
struct DeviceRow {
  Device value;
  const char* name;
};
inline constexpr DeviceRow device_names[] = {
    {Device::cpu, "cpu"}, {Device::gpu, "gpu"}, {Device::automatic, "auto"}, {Device::portable, "portable"}};

/// libquintet_device.so in this process. Knows no MPI, so that the libraries in bridges can have it, too.
class DeviceLibrary {
 public:
  /// Load the file that the variable QUINTET_DEVICE_LIBRARY names, or libquintet_device.so in `folder`.
  /// Errors: ResourceError where it is not there, cannot be loaded or was built from other sources.
  explicit DeviceLibrary(const std::filesystem::path& folder);
  /// A function of it. Errors: ResourceError where it has none of this name.
  [[nodiscard]] void* find(const char* name) const;
  /// The same, of the type of `like`.
  template <class Function>
  [[nodiscard]] Function* find(const char* name, Function* /*like*/) const {
    return reinterpret_cast<Function*>(find(name));
  }
  /// Start its Kokkos, as quintet_device_start() does. Errors: ResourceError.
  [[nodiscard]] DeviceProperties start(int number) const;
  void stop() const;
  /// GPUs that this process sees.
  [[nodiscard]] int count() const;
  [[nodiscard]] double free_bytes() const;

 private:
  struct Closer {
    void operator()(void* library) const;
  };
  std::unique_ptr<void, Closer> library_;
};

/// Start a device of this program's own engines, or of a library's: `begin` is its quintet_device_start().
/// Errors: ResourceError.
[[nodiscard]] DeviceProperties start_device(decltype(quintet_device_start)* begin, int number);

}  // namespace quintet
