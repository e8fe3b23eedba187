#include "apps/quintet/campaign/pilot.hpp"

#include <filesystem>
#include <map>
#include <optional>

#include "apps/campaign/frozen.hpp"
#include "apps/campaign/store.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/script.hpp"
#include "apps/quintet/submit/user_limits.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/launch_line.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr const char* name = "pilot";

JobShape whole_nodes(const MachineQueue& queue, const Machine& machine, const JobsOrder& order,
                     const PilotOrder& pilots) {
  JobShape shape{.account = order.account,
                 .nodes = pilots.nodes,
                 .ranks_per_node = queue.cores.value_or(queue.threads.value_or(1)),
                 .gpus_per_node = queue.gpus,
                 .margin = machine.stop.margin,
                 .chain = order.chain};
  if (machine.scheduler.memory_request) shape.memory = queue.memory;
  shape.walltime = pilots.walltime > 0 ? pilots.walltime
                                       : queue.walltime_default.value_or(queue.walltime_max.value_or(3600));
  return shape;
}

/// Slots of a node of a queue: all cores, all GPUs, and classes that only the file has. Throws InputError for
/// a stage that takes more.
std::string slots_of(const Graph& graph, const MachineQueue& queue, const JobShape& shape) {
  std::map<std::string, std::int64_t> slots = graph.options().slots;
  slots["cpu"] = shape.ranks_per_node;
  slots.erase("gpu");
  if (queue.gpus > 0) slots["gpu"] = queue.gpus;
  for (const auto& stage : graph.stages()) {
    const auto own = slots.find(stage.slot);
    const std::int64_t n = own == slots.end() ? 0 : own->second;
    QUINTET_CHECK(stage.slots() <= n,
                  "stage {}: an item takes {} of class '{}', a node of queue {} has {}; without --pilot it "
                  "is a job of its own",
                  stage.name, counted(stage.slots(), "slot"), stage.slot, queue.name, n);
    QUINTET_CHECK(!stage.memory || !queue.memory || *stage.memory <= *queue.memory,
                  "stage {}: an item needs {:.4g} GB, a node of queue {} has {:.4g} GB", stage.name,
                  stage.memory.value_or(0) / 1e9, queue.name, queue.memory.value_or(0) / 1e9);
  }
  std::string text;
  for (const auto& [slot, n] : slots) text += fmt::format("{}{}={}", text.empty() ? "" : ",", slot, n);
  return text;
}

std::int64_t n_left(const Graph& graph, const std::string& directory) {
  std::int64_t n = 0;
  for (const auto& item : graph.items()) {
    const auto done = Store::find(directory, item, false);
    if (done && !done->damage.empty()) log::warning("{}: {}", item.label, done->damage);
    n += done ? 0 : 1;
  }
  return n;
}

}  // namespace

std::string pilot_script(const Machine& machine, const Job& job, const JobsOrder& order,
                         const std::string& slots) {
  std::string text = script_head(machine, job);
  text += "# takes items from the store until its time is nearly over\n";
  text += fmt::format("cd {} || exit 1\n", shell_word(job.directory));
  text += "exec >> \"pilot_${SLURM_JOB_ID:-${PBS_JOBID:-here}}.log\" 2>&1\n";
  text += environment_lines(machine) + patience_lines(machine, job.shape.margin);
  std::string command;
  if (job.shape.nodes > 1) {
    JobShape one_a_node = job.shape;
    one_a_node.threads = job.shape.ranks_per_node, one_a_node.ranks_per_node = 1;
    command = launch_line(machine.launch.command, one_a_node) + " ";
  }
  command += fmt::format("{} campaign {} --output {} \\\n  --path {} --pilot --slots {} --walltime {}",
                         shell_word(job.executable), shell_word(order.file), shell_word(order.directory),
                         shell_word(order.path), slots, hours_text(job.shape.walltime - job.shape.margin));
  return text + waiting_lines(command) + "exit $code\n";
}

void queue_pilots(const Graph& graph, const JobsOrder& asked, const PilotOrder& pilots) {
  const Machine machine = read_machine(asked.machine);
  require_head(machine, asked.directory, asked.account);
  JobsOrder order = asked;
  const Frozen copy = frozen(graph, asked.file, asked.directory);
  order.file = copy.copy;
  const auto& queue = queue_for(machine, order.queue, [&](const MachineQueue& each) {
    return whole_nodes(each, machine, order, pilots);
  });
  if (!queue.whole_node)
    log::warning("a node of queue {} is a share of one: a pilot has that alone", queue.name);
  const JobShape shape = whole_nodes(queue, machine, order, pilots);
  const std::string slots = slots_of(graph, queue, shape), folder = order.directory + "/jobs/" + name;
  const Job job{.name = job_name(name),
                .directory = folder,
                .input = order.file,
                .executable = fs::read_symlink("/proc/self/exe").string(),
                .command = "campaign",
                .queue = queue.name,
                .shape = shape};
  const std::string script = pilot_script(machine, job, order, slots);
  const std::int64_t n_jobs = pilots.jobs * order.chain;
  if (order.dry_run) {
    std::printf("%s\n", script.c_str());
    return log::info("{} needed: nothing was queued", counted(n_jobs, "job is", "jobs are"));
  }
  const Scheduler scheduler(machine);
  const auto lock = lock_directory(order.directory, "quintet submit");
  require_nothing_queued(order.directory, scheduler);
  const auto n_items = n_left(graph, order.directory);
  if (n_items == 0) return log::info("0 jobs are queued: all {} items are done", graph.items().size());
  if (counts_user(machine, queue))
    for (const auto& remark : check_user_limits(machine, queue, shape, scheduler.jobs_of_user()))
      log::warning("{}", remark);
  write_frozen(copy);
  fs::create_directories(folder);
  write_text_file(folder + "/job.sh", script);
  JobRecord record{.machine = order.machine,
                   .name = fs::path(order.file).stem().string(),
                   .queue = queue.name,
                   .application = "quintet",
                   .command = "campaign",
                   .input = asked.file,
                   .date = date_text(),
                   .walltime = shape.walltime,
                   .chain = order.chain};
  for (std::int64_t j = 0; j < pilots.jobs; ++j) {
    JobOrder before;
    for (std::int64_t link = 0; link < order.chain; ++link) {
      queue_job(scheduler, order.directory, record, folder + "/job.sh", before, n_jobs);
      before = {.ended = {record.ids.back()}};
    }
  }
  log::info("{} of {} of {} for {} h {} queued, {} left; quintet campaign status {}",
            counted(record.ids.size(), "pilot"), counted(shape.nodes, "node"), queue.name,
            hours_text(shape.walltime), record.ids.size() == 1 ? "is" : "are",
            counted(n_items, "item is", "items are"), asked.file);
}

}  // namespace quintet::campaign
