#include "io/machine/detect.hpp"

#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"
#include "io/machine/job_variables.hpp"
#include "io/tiers/memory_bounds.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// Numbers of the processors (hardware threads) that this process may use; of a rank, which its launcher may
/// have bound to one core, those of the launcher.
std::vector<int> allowed_processors() {
  std::array<std::uint64_t, 128> mask{};
  std::vector<int> processors;
  const pid_t whose = launched_in_parallel() ? getppid() : 0;
  if (sched_getaffinity(whose, sizeof(mask), reinterpret_cast<cpu_set_t*>(mask.data())) < 0)
    return processors;
  for (std::size_t word = 0; word < mask.size(); ++word)
    for (int bit = 0; bit < 64; ++bit)
      if (mask[word] >> bit & 1U) processors.push_back(static_cast<int>(64 * word) + bit);
  return processors;
}

void detect_processors(MachineNode& node) {
  const auto processors = allowed_processors();
  if (processors.empty()) return;
  std::set<std::string> sockets, cores;
  for (const int processor : processors) {
    const fs::path topology = fmt::format("/sys/devices/system/cpu/cpu{}/topology", processor);
    const auto socket = first_line(topology / "physical_package_id");
    const auto core = first_line(topology / "core_id");
    if (socket.empty() || core.empty()) return void(node.threads = std::ssize(processors));
    sockets.insert(socket);
    cores.insert(socket + ":" + core);
  }
  node.processor = processor_name();
  node.sockets = std::ssize(sockets);
  node.cores = std::ssize(cores);
  node.threads = std::ssize(processors);
}

/// "NVIDIA H200, 143771" of nvidia-smi: model and memory in MiB, a line for each GPU.
void detect_gpus(MachineNode& node) {
  if (program_on_path("nvidia-smi").empty()) return;
  const auto answer =
      run_command({"nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits"}, 10);
  if (!answer.good()) return;
  std::istringstream lines(answer.out);
  MachineGpus gpus{.count = 0};
  for (std::string line; std::getline(lines, line);) {
    const auto comma = line.rfind(',');
    if (comma == std::string::npos) continue;
    ++gpus.count;
    gpus.model = trimmed(line.substr(0, comma));
    if (const auto mebibytes = to_number(trimmed(line.substr(comma + 1)))) gpus.memory = *mebibytes * 1048576;
  }
  if (gpus.count > 0) node.gpus = gpus;
}

void detect_scratch(MachineNode& node) {
  std::error_code ignored;
  const char* variable = std::getenv("TMPDIR");
  const std::string folder = variable != nullptr && *variable != '\0' ? variable : "/tmp";
  if (!fs::is_directory(folder, ignored)) return;
  node.scratch = folder;
  struct statvfs disk {};
  if (statvfs(folder.c_str(), &disk) == 0 && disk.f_blocks > 0)
    node.scratch_size = static_cast<double>(disk.f_blocks) * disk.f_frsize;
}

template <class T>
void fill(std::optional<T>& value, const std::optional<T>& detected) {
  if (!value) value = detected;
}
void fill(std::string& value, const std::string& detected) {
  if (value.empty()) value = detected;
}

}  // namespace

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return std::string(trimmed(line.substr(line.find(':') + 1)));
  return {};
}

bool launched_in_parallel() {
  // SLURM_PROCID says nothing: the script of a job has it too.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK"})
    if (std::getenv(name) != nullptr) return true;
  return false;
}

std::string program_on_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path program = fs::path(folder.empty() ? "." : folder) / name;
    std::error_code ignored;
    if (access(program.c_str(), X_OK) == 0 && !fs::is_directory(program, ignored)) return program.string();
  }
  return {};
}

Machine detected_machine() {
  Machine machine;
  detect_processors(machine.node);
  machine.node.memory = memory_limit(memory_bounds());
  detect_gpus(machine.node);
  detect_scratch(machine.node);
  // Installed is not configured: sinfo answers where there is a cluster.
  if (!program_on_path("sbatch").empty() && ask_scheduler({"sinfo", "--noheader"}, 10).good())
    machine.scheduler.kind = SchedulerKind::slurm;
  else if (!program_on_path("qsub").empty())
    machine.scheduler.kind = SchedulerKind::pbs;
  return machine;
}

void fill_in(Machine& machine, const Machine& detected) {
  auto& node = machine.node;
  if (machine.scheduler.kind == SchedulerKind::none) machine.scheduler.kind = detected.scheduler.kind;
  fill(node.processor, detected.node.processor);
  fill(node.sockets, detected.node.sockets);
  fill(node.cores, detected.node.cores);
  fill(node.threads, detected.node.threads);
  fill(node.memory, detected.node.memory);
  fill(node.gpus, detected.node.gpus);
  fill(node.scratch, detected.node.scratch);
  fill(node.scratch_size, detected.node.scratch_size);
}

}  // namespace quintet
