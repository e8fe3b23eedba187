#include "tests/fuzz/reader.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "io/config/tree.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "tests/support/address_sanitizer.hpp"

#if QUINTET_ADDRESS_SANITIZER
/// More than 1 GB is refused: HDF5's malloc returns null, as it does where memory ends; ours ends the
/// program.
extern "C" const char* __asan_default_options() {  // NOLINT: the sanitizer's name
  return "max_allocation_size_mb=1024:allocator_may_return_null=1:detect_leaks=0:"
         "suppressions=" QUINTET_SUPPRESSIONS;
}
/// Modules that MPI loads stay, so that leaks in them can be told from ours (tests/support/leaks.supp).
extern "C" int dlclose(void*) { return 0; }
#endif

namespace quintet::fuzz {

namespace fs = std::filesystem;

namespace {

/// 10, times QUINTET_TEST_PATIENCE
unsigned most_seconds() {
  const char* patience = std::getenv("QUINTET_TEST_PATIENCE");
  return 10 * (patience ? std::max(std::atof(patience), 1.0) : 1.0);
}

void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), bytes.size());
}

}  // namespace

void give(const Reader& reader, const std::string& folder, std::string_view bytes) {
  const std::string path = folder + "/" + reader.file;
  write_bytes(path, bytes);
  alarm(most_seconds());  // SIGALRM ends the process
  try {
    reader.read(path);
  } catch (const Error& error) {
    if (error.code() == ExitCode::internal || error.code() == ExitCode::resource) throw;
  }
  alarm(0);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string written(const std::string& name, const std::function<void(const std::string& path)>& make) {
  const fs::path folder = fs::temp_directory_path() / ("quintet_fuzz_seed_" + std::to_string(getpid()));
  fs::create_directories(folder);
  make((folder / name).string());
  std::string bytes = bytes_of((folder / name).string());
  fs::remove_all(folder);
  return bytes;
}

void leave_seal(const std::string& path) { fs::resize_file(path, fs::file_size(path) - hdf5::seal_bytes); }

std::string packed(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string text;
  for (const auto& [name, content] : files) text += "=== " + name + "\n" + content + "\n";
  return text;
}

std::string unpack(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path() / "unpacked";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string text = bytes_of(path);
  for (auto begin = text.find("=== "); begin != std::string::npos;) {
    const auto line_end = text.find('\n', begin);
    if (line_end == std::string::npos) break;
    const auto next = text.find("\n=== ", line_end);
    const std::string name = text.substr(begin + 4, line_end - begin - 4);
    const bool plain = !name.empty() && name.front() != '/' && name.find("..") == std::string::npos &&
                       name.find('\0') == std::string::npos && name.size() < 100;
    std::error_code refused;
    if (plain) fs::create_directories((folder / name).parent_path(), refused);
    if (plain && !refused)
      write_bytes((folder / name).string(),
                  std::string_view(text).substr(line_end + 1,
                                                next == std::string::npos ? next : next - line_end - 1));
    begin = next == std::string::npos ? next : next + 1;
  }
  return folder.string();
}

}  // namespace quintet::fuzz
