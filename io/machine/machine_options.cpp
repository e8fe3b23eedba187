#include <regex>

#include "io/config/schema.hpp"
#include "io/config/suggest.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/machine/machine.hpp"

namespace quintet {
namespace {

struct KindRow {
  SchedulerKind value;
  const char* name;
};
constexpr KindRow kinds[] = {
    {SchedulerKind::none, "none"}, {SchedulerKind::slurm, "slurm"}, {SchedulerKind::pbs, "pbs"}};

struct LevelRow {
  LinkLevel value;
  const char* name;
};
constexpr LevelRow levels[] = {
    {LinkLevel::node, "node"}, {LinkLevel::network, "network"}, {LinkLevel::gpus, "gpus"}};

/// Error in a regular expression, or nothing.
std::optional<std::string> pattern_problem(const std::string& pattern) {
  try {
    const std::regex compiled(pattern);
    return std::nullopt;
  } catch (const std::regex_error& error) {
    return fmt::format("'{}' is no regular expression: {}", pattern, error.what());
  }
}

/// Error in the placeholders of a launch line, or nothing.
std::optional<std::string> template_problem(const std::string& command) {
  const std::vector<std::string> known = {"nodes",   "ranks",         "ranks_per_node",
                                          "threads", "gpus_per_node", "variables"};
  for (std::size_t at = command.find('{'); at != std::string::npos; at = command.find('{', at + 1)) {
    if (at > 0 && command[at - 1] == '$') continue;  // ${VARIABLE} of the shell
    const auto end = command.find('}', at);
    if (end == std::string::npos) return "a '{' without its '}'";
    const std::string word = command.substr(at + 1, end - at - 1);
    if (std::find(known.begin(), known.end(), word) == known.end())
      return fmt::format("unknown placeholder {{{}}}{}; there are: {}", word, did_you_mean(word, known),
                         name_list(known));
  }
  return std::nullopt;
}

std::optional<std::string> variable_problem(const std::vector<std::string>& variables) {
  static const std::regex assignment("[A-Za-z_][A-Za-z_0-9]*=[^\n]*");
  for (const auto& variable : variables)
    if (!std::regex_match(variable, assignment))
      return fmt::format("'{}' is no variable; expected NAME=value", variable);
  return std::nullopt;
}

std::optional<std::string> queue_names_problem(const std::vector<MachineQueue>& queues) {
  for (std::size_t i = 0; i < queues.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (queues[i].name == queues[j].name) return fmt::format("two queues are called '{}'", queues[i].name);
  return std::nullopt;
}

}  // namespace

void describe(Schema& schema, MachineScheduler& scheduler) {
  schema.choice("kind", scheduler.kind, choices_of(kinds), "Who takes jobs: none, slurm, or pbs (PBS Pro)");
  schema.flag("account_required", scheduler.account_required,
              "Whether a job must name an account (group, project)");
  schema.text("account_flag", scheduler.account_flag,
              "Flag that names the account; '': the scheduler's usual one");
  schema.text("submit", scheduler.submit, "Command that takes a job; '': the scheduler's usual one");
  schema.text("status", scheduler.status, "Command that lists jobs; '': the scheduler's usual one");
  schema.text("cancel", scheduler.cancel, "Command that removes a job; '': the scheduler's usual one");
  schema.text("id_pattern", scheduler.id_pattern,
              "Regular expression of the id that the submit command prints; '': the scheduler's usual one");
  schema.flag("memory_request", scheduler.memory_request,
              "Whether jobs ask for memory; false: a node of a queue comes with all it has");
  schema.flag(
      "kill_on_invalid_dependency", scheduler.kill_on_invalid_dependency,
      "Whether tasks that wait for one that failed are taken from the queue; false: as the site does");
  schema.quantity("patience", scheduler.patience, "s", "How long its commands may take to answer").above(0);
  schema
      .quantity("history", scheduler.history, "s",
                "How long the scheduler knows of a job that has ended; null: unknown")
      .at_least(0);
  schema.check([&scheduler] { return pattern_problem(scheduler.id_pattern); });
}

void describe(Schema& schema, MachineQueue& queue) {
  schema.text("name", queue.name, "Name of the queue (Slurm: partition)").required();
  schema.flag("whole_node", queue.whole_node,
              "Whether a job gets whole nodes; else what is called a node below is a share of one");
  schema.integer("nodes_min", queue.nodes_min, "Fewest nodes of a job").at_least(1);
  schema.integer("nodes_max", queue.nodes_max, "Most nodes of a job; null: unknown").at_least(1);
  schema.integer("cores", queue.cores, "Physical cores of a node; null: unknown").at_least(1);
  schema.integer("threads", queue.threads, "Hardware threads of a node; null: unknown").at_least(1);
  schema.integer("gpus", queue.gpus, "GPUs of a node").at_least(0);
  schema.quantity("memory", queue.memory, "B", "Main memory of a node; null: unknown").above(0);
  schema.quantity("disk", queue.disk, "B", "Local disk of a node; null: unknown").at_least(0);
  schema.quantity("walltime_max", queue.walltime_max, "s", "Longest walltime; null: unknown").above(0);
  schema.quantity("walltime_default", queue.walltime_default, "s", "Walltime of a job that asks for none")
      .above(0);
  schema.number("node_hours_max", queue.node_hours_max, "Most nodes x hours of a job; null: unknown")
      .above(0);
  schema.integer("running_max", queue.running_max, "Nodes that run at once, of all users; null: unknown")
      .at_least(1);
  schema
      .integer("user_jobs", queue.user_jobs,
               "Most jobs of a user that wait or run, an array being one; null: unknown")
      .at_least(1);
  schema.integer("user_nodes", queue.user_nodes, "Most nodes of a user's running jobs; null: unknown")
      .at_least(1);
  schema.integer("user_gpus", queue.user_gpus, "Most GPUs of a user's running jobs; null: unknown")
      .at_least(0);
  schema.number("points_per_hour", queue.points_per_hour, "Price of a node for an hour; null: unknown")
      .at_least(0);
  schema.flag("reserved", queue.reserved,
              "Whether it is that of a reservation, whose name submit --reservation gives");
  schema.texts("options", queue.options, "Further options for the head of a job script, one a line");
  schema.check([&queue]() -> std::optional<std::string> {
    if (queue.nodes_max && *queue.nodes_max < queue.nodes_min)
      return fmt::format("nodes_max = {} is less than nodes_min = {}", *queue.nodes_max, queue.nodes_min);
    if (queue.cores && queue.threads && *queue.threads < *queue.cores)
      return fmt::format("{} threads on {} cores", *queue.threads, *queue.cores);
    return std::nullopt;
  });
}

void describe(Schema& schema, MachineLimits& limits) {
  schema.integer("array_tasks", limits.array_tasks, "Most tasks of a job array; null: unknown").at_least(1);
  schema
      .integer("unfinished_jobs", limits.unfinished_jobs,
               "Most jobs of a user that wait or run, an array being one; null: unknown")
      .at_least(1);
  schema.integer("running_jobs", limits.running_jobs, "Most running jobs of a user; null: unknown")
      .at_least(1);
}

void describe(Schema& schema, MachineGpus& gpus) {
  schema.integer("count", gpus.count, "GPUs of a node").at_least(1);
  schema.text("model", gpus.model, "Model");
  schema.quantity("memory", gpus.memory, "B", "Memory of one; null: unknown").above(0);
  schema.quantity("bandwidth", gpus.bandwidth, "B/s", "Bandwidth of its memory; null: unknown").above(0);
  schema.quantity("peak_fp64", gpus.peak_fp64, "flop/s", "Peak in double precision; null: unknown").above(0);
  schema.quantity("peak_fp32", gpus.peak_fp32, "flop/s", "Peak in single precision; null: unknown").above(0);
  schema.quantity("peak_bf16", gpus.peak_bf16, "flop/s", "Peak in bfloat16, dense; null: unknown").above(0);
}

void describe(Schema& schema, MachineNics& nics) {
  schema.integer("count", nics.count, "Network adapters of a node").at_least(1);
  schema.quantity("bandwidth", nics.bandwidth, "B/s", "Of one, one way; null: unknown").above(0);
  schema
      .integer("rails_large", nics.rails_large,
               "That one process uses at once for large messages; null: unknown")
      .at_least(1);
  schema
      .integer("rails_small", nics.rails_small,
               "That one process uses at once for small messages; null: unknown")
      .at_least(1);
}

void describe(Schema& schema, MachineNode& node) {
  schema.text("processor", node.processor, "Model of the processor");
  schema.integer("sockets", node.sockets, "Processors; null: unknown").at_least(1);
  schema.integer("cores", node.cores, "Physical cores of all; null: unknown").at_least(1);
  schema.integer("threads", node.threads, "Hardware threads of all; null: unknown").at_least(1);
  schema.quantity("memory", node.memory, "B", "Main memory; null: unknown").above(0);
  schema.section("gpus", node.gpus, "Its GPUs; null: none known");
  schema.section("nics", node.nics, "Its network adapters; null: none known");
  schema.text("scratch", node.scratch, "Folder on the node's own disk, as a job's script names it");
  schema.quantity("scratch_size", node.scratch_size, "B", "Size of that disk; null: unknown").above(0);
}

void describe(Schema& schema, MachineLink& link) {
  schema.choice("level", link.level, choices_of(levels),
                "Between ranks of one node, ranks of two nodes (network), or GPUs of one node");
  schema.integer("ranks_max", link.ranks_max, "Holds for jobs of at most so many ranks; null: any")
      .at_least(1);
  schema.quantity("alpha", link.alpha, "s", "Latency of a message; null: unknown").at_least(0);
  schema.quantity("beta", link.beta, "s/B", "Time for each byte of a message; null: unknown").at_least(0);
  schema.number("sharing", link.sharing, "Messages at once that share the bandwidth").at_least(1);
  schema.flag("measured", link.measured, "Whether alpha and beta were measured here");
  schema.number("alpha_spread", link.alpha_spread, "(max - min)/min over the repeats").at_least(0);
  schema.number("beta_spread", link.beta_spread, "(max - min)/min over the repeats").at_least(0);
}

void describe(Schema& schema, MachineAllReduce& all_reduce) {
  schema.integer("ranks", all_reduce.ranks, "Ranks").at_least(1);
  schema.quantity("bytes", all_reduce.bytes, "B", "Size of what is summed up").required().above(0);
  schema.quantity("seconds", all_reduce.seconds, "s", "Time it takes").required().above(0);
  schema.number("spread", all_reduce.spread, "(max - min)/min over the repeats").at_least(0);
}

void describe(Schema& schema, MachineRates& rates) {
  schema.quantity("copy", rates.copy, "B/s", "Copying in main memory, bytes read and written, of one core")
      .above(0);
  schema.quantity("gemm_fp64", rates.gemm_fp64, "flop/s", "Matrix products in double, of one core").above(0);
  schema.quantity("gemm_fp32", rates.gemm_fp32, "flop/s", "Matrix products in float, of one core").above(0);
  schema.quantity("gemm_bf16", rates.gemm_bf16, "flop/s", "Matrix products in bfloat16, of one core")
      .above(0);
  schema.quantity("disk_write", rates.disk_write, "B/s", "Writing files, flushed").above(0);
  schema.quantity("disk_read", rates.disk_read, "B/s", "Reading files that are not in memory").above(0);
  schema.quantity("gpu_copy", rates.gpu_copy, "B/s", "Copying in the memory of a GPU").above(0);
  schema.quantity("gpu_gemm_fp64", rates.gpu_gemm_fp64, "flop/s", "Matrix products in double, of a GPU")
      .above(0);
  schema.quantity("gpu_gemm_fp32", rates.gpu_gemm_fp32, "flop/s", "Matrix products in float, of a GPU")
      .above(0);
  schema.quantity("gpu_gemm_bf16", rates.gpu_gemm_bf16, "flop/s", "Matrix products in bfloat16, of a GPU")
      .above(0);
  schema.sections("all_reduce", rates.all_reduce, "Sums over ranks, by size");
  schema.named_quantities("spread", rates.spread, "1",
                          "(max - min)/min over the repeats, by the name of the rate");
  schema.integer("ranks", rates.ranks, "Ranks that measured at once").at_least(1);
  schema.text("host", rates.host, "Where it was measured");
  schema.text("date", rates.date, "When");
  schema.text("remark", rates.remark, "Why not to rely on these numbers; '': nothing is known");
}

void describe(Schema& schema, MachineEnvironment& environment) {
  schema.text("init", environment.init, "Line of shell before modules are loaded");
  schema.texts("modules", environment.modules, "Modules to load, in this order");
  schema.texts("variables", environment.variables, "Variables to set, each NAME=value");
  schema.check([&environment] { return variable_problem(environment.variables); });
}

void describe(Schema& schema, MachineLaunch& launch) {
  schema.text("command", launch.command,
              "Words before the program; {nodes} {ranks} {ranks_per_node} {threads} {gpus_per_node} are "
              "replaced, and {variables} by -x NAME for each variable that other nodes need (Open MPI)");
  schema.check([&launch] { return template_problem(launch.command); });
}

void describe(Schema& schema, MachineStop& stop) {
  schema
      .quantity("warning", stop.warning, "s",
                "How long before the limit the scheduler is asked to signal the script; null: it cannot")
      .above(0);
  schema.quantity("grace", stop.grace, "s", "From SIGTERM to SIGKILL; null: unknown").at_least(0);
  schema
      .quantity("margin", stop.margin, "s",
                "How long before the limit the program stops by itself with a checkpoint")
      .above(0);
}

void describe(Schema& schema, MachineRetry& retry) {
  schema
      .number("memory", retry.memory,
              "Times as much memory for the next job of a chain after one that had too little; 1: no more")
      .at_least(1);
  schema
      .number("walltime", retry.walltime,
              "Times as much walltime for it after one that its limit ended without a checkpoint of its own; "
              "1: no more")
      .at_least(1);
  schema.flag("exclude", retry.exclude, "Whether nodes that failed are left out (Slurm)");
}

void describe(Schema& schema, MachineSource& source) {
  schema.text("of", source.of, "Which numbers").required();
  schema.text("source", source.source, "Document they are taken from").required();
  schema.text("date", source.date, "Its date: limits change");
}

void describe(Schema& schema, Machine& machine) {
  schema.text("name", machine.name, "Name of the machine").required();
  schema.text("about", machine.about, "What it is, in a line");
  schema.flag("detect", machine.detect,
              "Whether what is unknown below is asked of the machine that reads this file");
  schema.section("scheduler", machine.scheduler, "How jobs are handed over");
  schema.sections("queues", machine.queues, "Queues, the usual one first, and the limits of a job in each");
  schema.section("limits", machine.limits, "Limits of a user over all queues");
  schema.section("node", machine.node, "One node");
  schema.sections("links", machine.links, "Latency and bandwidth of messages");
  schema.section("rates", machine.rates, "Measured rates; null: unknown until quintet machine --calibrate");
  schema.section("environment", machine.environment, "What a job's script does before the program");
  schema.section("launch", machine.launch, "How the ranks are started");
  schema.section("stop", machine.stop, "How a job ends that runs out of time");
  schema.section("retry", machine.retry, "What a chain asks for after a job that had too little");
  schema.texts("remarks", machine.remarks, "What whoever submits should know; told with each submission");
  schema.sections("provenance", machine.provenance, "Where the numbers come from");
  schema.check([&machine] { return queue_names_problem(machine.queues); });
}

}  // namespace quintet
