#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "io/runtime/runtime.hpp"
#include "tests/fuzz/reader.hpp"

/// The harness as libFuzzer calls it: QUINTET_FUZZ_READER names the reader. Built where the compiler is
/// clang.
namespace {

using quintet::fuzz::Reader;

const Reader& chosen() {
  static const Reader reader = [] {
    const char* name = std::getenv("QUINTET_FUZZ_READER");
    for (auto& known : quintet::fuzz::readers())
      if (name != nullptr && known.name == name) return known;
    std::fputs("QUINTET_FUZZ_READER names none of these readers:", stderr);
    for (const auto& known : quintet::fuzz::readers()) std::fprintf(stderr, " %s", known.name.c_str());
    std::exit(1);
  }();
  return reader;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static const quintet::Runtime runtime(*argc, *argv, 1, {});
  (void)chosen();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string folder = [] {
    const auto path = std::filesystem::temp_directory_path() / ("quintet_fuzz_" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    return path.string();
  }();
  quintet::fuzz::give(chosen(), folder, {reinterpret_cast<const char*>(data), size});
  return 0;
}
