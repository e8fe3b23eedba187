#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "io/runtime/runtime.hpp"
#include "tests/fuzz/reader.hpp"

/// The harness as libFuzzer calls it: QUINTET_FUZZ_READER names the reader. Built where the compiler is
/// clang.
namespace {

namespace fs = std::filesystem;
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

/// A folder of this process.
std::string scratch(const std::string& what) {
  const auto path = fs::temp_directory_path() / ("quintet_fuzz_" + what + "_" + std::to_string(getpid()));
  fs::create_directories(path);
  return path.string();
}

/// A folder with the seeds of the reader.
std::string seeds() {
  const std::string folder = scratch("seeds");
  int n = 0;
  for (const auto& seed : chosen().seeds())
    std::ofstream(folder + "/" + std::to_string(n++), std::ios::binary) << seed;
  return folder;
}

}  // namespace

/// Adds the seeds to the folders of inputs on the command line; single files are to be read alone.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  static const quintet::Runtime runtime(*argc, *argv, 1, {});
  static std::string folder = seeds();
  static std::vector<char*> words(*argv, *argv + *argc);
  if (std::none_of(words.begin() + 1, words.end(), [](char* word) { return fs::is_regular_file(word); }))
    words.push_back(folder.data());
  *argc = words.size();
  words.push_back(nullptr);
  *argv = words.data();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string folder = scratch(chosen().name);
  quintet::fuzz::give(chosen(), folder, {reinterpret_cast<const char*>(data), size});
  return 0;
}
