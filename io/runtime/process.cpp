#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <dlfcn.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

#include "io/runtime/killed.hpp"
#include "io/runtime/runtime.hpp"

namespace quintet {
namespace {

using Clock = std::chrono::steady_clock;

/// Fields 3 to 22 of /proc/PROCESS/stat: state ... start time; empty if the process does not exist.
std::vector<std::string> stat_fields(const std::string& process) {
  std::ifstream file("/proc/" + process + "/stat");
  std::string text;
  std::getline(file, text, '\0');         // no exception if the process ends meanwhile
  const auto name_end = text.rfind(')');  // the second field, the program's name, may hold anything
  if (name_end == std::string::npos) return {};
  std::istringstream rest(text.substr(name_end + 1));
  std::vector<std::string> fields(20);
  for (auto& field : fields) rest >> field;
  return rest ? fields : std::vector<std::string>();
}

/// Age of this process (s) from the kernel's records, to 10 ms; 0 where they are missing or unreliable.
double age_by_kernel() {
  const auto fields = stat_fields("self");
  timespec now{};
  if (fields.empty() || clock_gettime(CLOCK_BOOTTIME, &now) != 0) return 0.0;
  const double started = std::strtod(fields.back().c_str(), nullptr) / sysconf(_SC_CLK_TCK);
  const double age = now.tv_sec + 1e-9 * now.tv_nsec - started;
  return age < 3600.0 ? std::max(age, 0.0) : 0.0;  // containers with a clock of their own
}

/// When this library was loaded and how old the process was then.
struct Birth {
  Clock::time_point loaded = Clock::now();
  double age_when_loaded = age_by_kernel();
};
Birth birth;

std::string openblas_version() {
  void* function = dlsym(RTLD_DEFAULT, "openblas_get_config");
  if (function == nullptr) return {};
  std::istringstream words(
      reinterpret_cast<const char* (*)()>(function)());  // "OpenBLAS 0.3.21 NO_LAPACKE ..."
  std::string name, version;
  words >> name >> version;
  return version;
}

}  // namespace

double seconds_since_start() {
  return birth.age_when_loaded + std::chrono::duration<double>(Clock::now() - birth.loaded).count();
}

void count_time_from_here() { birth = {.loaded = Clock::now(), .age_when_loaded = 0.0}; }

std::optional<std::string> process_start(int process) {
  const auto fields = stat_fields(std::to_string(process));
  if (fields.empty()) return std::nullopt;
  return fields.front() == "Z" || fields.front() == "X" ? "" : fields.back();
}

bool is_being_killed(int process) {
  constexpr std::uint64_t kill_bit = 1ULL << (SIGKILL - 1), exiting = 0x4;  // PF_EXITING of <linux/sched.h>
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string word, mask; status >> word;)
    if ((word == "SigPnd:" || word == "ShdPnd:") && status >> mask &&
        (std::strtoull(mask.c_str(), nullptr, 16) & kill_bit) != 0)
      return true;
  const auto fields = stat_fields(std::to_string(process));
  constexpr std::size_t flags = 6;  // after the name
  return fields.size() > flags && (std::strtoull(fields[flags].c_str(), nullptr, 10) & exiting) != 0;
}

double peak_memory_mb() {
  // getrusage() goes on with what the process that started this program held.
  std::ifstream status("/proc/self/status");
  double kilobytes = 0;
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> kilobytes) return kilobytes * 1024.0 / 1e6;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024.0 / 1e6;
}

double resident_memory_mb() {
  std::ifstream file("/proc/self/statm");
  double size = 0, resident = 0;
  return file >> size >> resident ? 1e-6 * resident * sysconf(_SC_PAGESIZE) : 0;
}

std::string blas_in_use() {
  Dl_info info{};
  void* function = dlsym(RTLD_DEFAULT, "dgemm_");
  if (function == nullptr || dladdr(function, &info) == 0 || info.dli_fname == nullptr) return "none";
  const auto file = std::filesystem::path(info.dli_fname).filename().string();
  if (file.starts_with("libtorch")) return fmt::format("torch's MKL ({})", file);
  // Debian's libblas.so.3 may be OpenBLAS by another name.
  const auto real = std::filesystem::weakly_canonical(info.dli_fname).string();
  if (real.find("openblas") != std::string::npos)
    return fmt::format("OpenBLAS {} ({})", openblas_version(), file);
  return file;
}

}  // namespace quintet
