#include "io/device/device_library.hpp"

#include <cstdlib>

#include <dlfcn.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

constexpr const char* library_name = "libquintet_device.so";

std::filesystem::path path_in(const std::filesystem::path& folder) {
  const char* const path = std::getenv("QUINTET_DEVICE_LIBRARY");
  return path != nullptr && *path != '\0' ? std::filesystem::path(path) : folder / library_name;
}

}  // namespace

void DeviceLibrary::Closer::operator()(void* library) const { dlclose(library); }

DeviceLibrary::DeviceLibrary(const std::filesystem::path& folder) {
  const std::string path = path_in(folder).string();
  if (!std::filesystem::exists(path))
    throw ResourceError(fmt::format(
        "device: gpu needs {}, which is not at {}: the preset cuda-release builds it (README, GPUs)",
        library_name, path));
  library_.reset(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (library_ == nullptr) {
    const std::string why = dlerror();
    const bool no_driver = why.find("libcuda.so") != std::string::npos;
    throw ResourceError(fmt::format("{} cannot be loaded: {}{}", path, why,
                                    no_driver ? " (the GPU's driver is not installed on this machine)" : ""));
  }
  auto* const version =
      reinterpret_cast<decltype(&quintet_device_version)>(dlsym(library_.get(), "quintet_device_version"));
  const std::string theirs = version == nullptr ? "nothing" : version(), ours = quintet_device_version();
  if (theirs != ours)
    throw ResourceError(fmt::format(
        "{} was built from {}, this program from {}: build both from the same sources", path, theirs, ours));
}

void* DeviceLibrary::find(const char* name) const {
  void* const function = dlsym(library_.get(), name);
  if (function == nullptr)
    throw ResourceError(fmt::format("{} has no {}: it was built without that engine", library_name, name));
  return function;
}

DeviceProperties start_device(decltype(quintet_device_start)* begin, int number) {
  DeviceProperties properties;
  begin(number, &properties);
  if (properties.error[0] != '\0') throw ResourceError(std::string("device: gpu: ") + properties.error);
  return properties;
}

DeviceProperties DeviceLibrary::start(int number) const {
  return start_device(find("quintet_device_start", &quintet_device_start), number);
}
void DeviceLibrary::stop() const { find("quintet_device_stop", &quintet_device_stop)(); }
int DeviceLibrary::count() const { return find("quintet_device_count", &quintet_device_count)(); }
double DeviceLibrary::free_bytes() const {
  return find("quintet_device_free_bytes", &quintet_device_free_bytes)();
}

}  // namespace quintet
