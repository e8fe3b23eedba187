#include "apps/quintet/machine/machine.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/detect.hpp"
#include "io/machine/rules.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::commands {
namespace {

std::string number(const std::optional<std::int64_t>& value, const char* noun) {
  if (!value) return fmt::format("{}s unknown", noun);
  return counted(*value, noun);
}

std::string gigabytes(const std::optional<double>& bytes) {
  return bytes ? fmt::format("{:.4g} GB", *bytes / 1e9) : "unknown";
}

std::string rate(const std::optional<double>& value, const char* unit) {
  return value ? fmt::format("{:.4g} {}", *value / 1e9, unit) : "unknown";
}

void line(const char* what, const std::string& text) { std::printf("%-12s %s\n", what, text.c_str()); }

void show_node(const MachineNode& node) {
  line("processor", fmt::format("{}: {}, {}, {}", node.processor.empty() ? "unknown" : node.processor,
                                number(node.sockets, "socket"), number(node.cores, "core"),
                                number(node.threads, "hardware thread")));
  line("memory", gigabytes(node.memory));
  if (node.gpus)
    line("GPUs",
         fmt::format("{} x {}, {} each", node.gpus->count, node.gpus->model, gigabytes(node.gpus->memory)));
  else
    line("GPUs", "none known");
  if (node.nics)
    line("network",
         fmt::format("{} x {}, {} of them at once for a large message of a process, {} for a small one",
                     node.nics->count, rate(node.nics->bandwidth, "GB/s"),
                     node.nics->rails_large ? fmt::format("{}", *node.nics->rails_large) : "?",
                     node.nics->rails_small ? fmt::format("{}", *node.nics->rails_small) : "?"));
  if (!node.scratch.empty())
    line("scratch", fmt::format("{}, {}", node.scratch, gigabytes(node.scratch_size)));
}

void show_queues(const Machine& machine) {
  static constexpr const char* kinds[] = {"none", "slurm", "pbs"};
  line("scheduler", kinds[static_cast<int>(machine.scheduler.kind)]);
  for (const auto& queue : machine.queues) {
    line("queue",
         fmt::format("{}: {} to {}, {}, {}, {}, {} at most", queue.name, queue.nodes_min,
                     number(queue.nodes_max, "node"), number(queue.cores, "core"), counted(queue.gpus, "GPU"),
                     gigabytes(queue.memory), queue.walltime_max ? hours_text(*queue.walltime_max) : "?"));
  }
}

void show_rates(const Machine& machine) {
  const auto& rates = machine.rates;
  const bool measured = rates.copy || rates.gemm_fp64 || rates.gpu_copy || !machine.links.empty();
  if (!measured) return line("rates", "unknown; quintet machine --calibrate --output FILE measures them");
  line("rates", fmt::format("copy {}, products fp64 {}, fp32 {}, bf16 {} (one core of {} busy)",
                            rate(rates.copy, "GB/s"), rate(rates.gemm_fp64, "Gflop/s"),
                            rate(rates.gemm_fp32, "Gflop/s"), rate(rates.gemm_bf16, "Gflop/s"),
                            rates.ranks.value_or(1)));
  line("disk",
       fmt::format("write {}, read {}", rate(rates.disk_write, "GB/s"), rate(rates.disk_read, "GB/s")));
  static constexpr const char* levels[] = {"node", "network", "GPUs"};
  for (const auto& link : machine.links)
    line("link",
         fmt::format("{}: alpha {}, beta {}", levels[static_cast<int>(link.level)],
                     link.alpha ? fmt::format("{:.3g} us", *link.alpha * 1e6) : "unknown",
                     link.beta ? fmt::format("{:.3g} ns/B ({:.3g} GB/s)", *link.beta * 1e9, 1e-9 / *link.beta)
                               : "unknown"));
  if (!rates.remark.empty()) line("remark", rates.remark);
}

void show(const Machine& machine) {
  line("machine", machine.name + (machine.about.empty() ? "" : ": " + machine.about));
  show_node(machine.node);
  show_queues(machine);
  show_rates(machine);
  for (const auto& remark : machine.remarks) line("remark", remark);
}

/// Become `quintet measure` on two ranks, or on those that a launcher started.
[[noreturn]] void calibrate(const std::string& name, const std::string& output) {
  std::vector<std::string> words;
  const bool launched = launched_in_parallel();
  if (!launched && !program_on_path("mpirun").empty()) words = {"mpirun", "-np", "2"};
  if (!launched && words.empty()) log::warning("There is no mpirun on the PATH: messages are not measured");
  // A rank more than there are cores still measures messages; the file says that it was so.
  setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
  // Nor does mpirun ask X servers for graphics cards: five seconds where no file says who localhost is.
  setenv("HWLOC_COMPONENTS", "-gl", 0);
  for (const auto& word :
       {std::filesystem::read_symlink("/proc/self/exe").string(), std::string("measure"), name})
    words.push_back(word);
  if (!output.empty()) words.insert(words.end(), {"--output", output});
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers[0], pointers.data());
  throw InputError(fmt::format("{} cannot be started: {}", words[0], std::strerror(errno)));
}

}  // namespace

void describe(Schema& schema, MachineFlags& flags) {
  schema.text("name", flags.name, "name of a machine (configs/machines/NAME.yaml) or a file");
  schema.flag("print_config", flags.print_config, "print the file with every value, unit and meaning");
  schema.flag("calibrate", flags.calibrate,
              "measure this machine's rates and links (on two ranks, some ten seconds)");
  schema.text("output", flags.output,
              "with --calibrate: the file to write, the machine's with what was measured");
}

void machine(const MachineFlags& flags) {
  if (flags.calibrate) calibrate(flags.name, flags.output.value_or(""));
  if (flags.output) throw UsageError("quintet machine: --output goes with --calibrate");
  const Machine found = read_machine(flags.name);
  if (flags.print_config)
    std::fputs(machine_text(found).c_str(), stdout);
  else
    show(found);
}

}  // namespace quintet::commands
