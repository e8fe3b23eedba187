#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/runtime/runtime.hpp"
#include "tests/fuzz/mutate.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/support/address_sanitizer.hpp"

/// main() of a harness that needs no fuzzer: FUZZ_ROOM READER CORPUS replays the seeds and the corpus of a
/// reader, then gives it damaged copies of them for QUINTET_FUZZ_SECONDS (default 0.5), the same at every
/// call.

namespace quintet::fuzz {
namespace {

namespace fs = std::filesystem;

/// No more than 1 GB beyond what the libraries have reserved; under the address sanitizer its option in
/// reader.cpp does this.
void limit_memory() {
#if !QUINTET_ADDRESS_SANITIZER
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t most = pages * sysconf(_SC_PAGESIZE) + (rlim_t{1} << 30);
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

std::vector<std::string> corpus_of(const Reader& reader, const std::string& folder) {
  auto corpus = reader.seeds();
  std::vector<std::string> paths;
  if (fs::is_directory(folder + "/" + reader.name))
    for (const auto& entry : fs::directory_iterator(folder + "/" + reader.name))
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const auto& path : paths) corpus.push_back(bytes_of(path));
  return corpus;
}

/// The whole life of a test, in a process of its own: what it tried last is left in `scratch` if it dies.
int attack(int argc, char** argv, const Reader& reader, const std::string& corpus_folder,
           const std::string& scratch) {
  const Runtime runtime(argc, argv, 1, {});
  const auto corpus = corpus_of(reader, corpus_folder);
  limit_memory();
  for (std::size_t i = 0; i < corpus.size(); ++i) give(reader, scratch, corpus[i]);
  const char* seconds = std::getenv("QUINTET_FUZZ_SECONDS");
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds ? std::atof(seconds) : 0.5);
  std::mt19937_64 random(20260101);
  long n = 0;
  for (; Clock::now() < end; ++n) give(reader, scratch, mutated(corpus, random));
  std::printf("%s: %zu files of the corpus and %ld damaged copies read or refused\n", reader.name.c_str(),
              corpus.size(), n);
  return 0;
}

int run(int argc, char** argv) {
  const auto all = readers();
  const std::string name = argc > 1 ? argv[1] : "";
  const auto reader = std::find_if(all.begin(), all.end(), [&](const Reader& r) { return r.name == name; });
  if (reader == all.end()) {
    std::fprintf(stderr, "usage: %s READER CORPUS [FILE], with one of these readers:", argv[0]);
    for (const auto& known : all) std::fprintf(stderr, " %s", known.name.c_str());
    std::fputs("\n", stderr);
    return 1;
  }
  const fs::path scratch =
      fs::temp_directory_path() / ("quintet_fuzz_" + name + "_" + std::to_string(getpid()));
  fs::create_directories(scratch);
  const pid_t child = fork();
  if (child == 0) {
    std::fflush(nullptr);
    const int code = attack(argc, argv, *reader, argc > 2 ? argv[2] : "corpus", scratch.string());
    std::exit(code);
  }
  int status = 0;
  waitpid(child, &status, 0);
  const bool good = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!good) {
    const std::string kept = "failing_" + name;
    std::error_code absent;  // it died before its first input
    fs::copy_file(scratch / reader->file, kept, fs::copy_options::overwrite_existing, absent);
    std::fprintf(stderr, "%s: ended with %s %d; its last input is kept as %s\n", name.c_str(),
                 WIFSIGNALED(status) ? "signal" : "exit code",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), fs::absolute(kept).c_str());
  }
  fs::remove_all(scratch);
  return good ? 0 : 1;
}

}  // namespace
}  // namespace quintet::fuzz

int main(int argc, char** argv) { return quintet::fuzz::run(argc, argv); }
