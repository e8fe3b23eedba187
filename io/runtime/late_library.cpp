#include "io/runtime/late_library.hpp"

#include <string>
#include <system_error>

#include <dlfcn.h>

#include <fmt/format.h>

#include "io/log/error.hpp"

namespace quintet {

void* late_function(const std::filesystem::path& built, const char* name) {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto prefix = program.parent_path().parent_path();
  const auto installed = prefix / "lib" / "quintet" / built.filename();
  const auto beside = prefix / "lib" / built.filename();
  const auto path = (std::filesystem::exists(installed, error) ? installed
                     : std::filesystem::exists(beside, error)  ? beside
                                                               : built)
                        .string();
  // LAZY: to look up each of LibTorch's functions at once takes 0.1 s.
  void* const library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string why = dlerror();
    const bool lacks_torch =
        why.find("libtorch") != std::string::npos || why.find("libc10") != std::string::npos;
    const auto remedy = fmt::format(
        "; LibTorch is not where it was when this was installed: name its folder lib in "
        "LD_LIBRARY_PATH, or link the folder above that to {}/torch",
        std::filesystem::path(path).parent_path().string());
    throw ResourceError(fmt::format("{} cannot be loaded: {}{}", path, why, lacks_torch ? remedy : ""));
  }
  void* const function = dlsym(library, name);
  if (function == nullptr)
    throw ResourceError(fmt::format("{} has no {}: was it built with this program?", path, name));
  return function;
}

}  // namespace quintet
