#include "io/machine/rules.hpp"

#include <cmath>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

using Answer = std::optional<std::string>;  ///< what is wrong, or nothing

/// A limit: the key it stands under, and what it says of a job.
struct Rule {
  const char* key;
  bool of_queue;
  Answer (*check)(const Machine&, const MachineQueue&, const JobShape&);
};

std::string gigabytes(double bytes) { return fmt::format("{:.6g} GB", bytes / 1e9); }

Answer check_account(const Machine& machine, const MachineQueue& /*queue*/, const JobShape& job) {
  if (!machine.scheduler.account_required || !job.account.empty()) return {};
  return "every job names an account here: give --account NAME";
}

Answer check_reserved(const Machine& machine, const MachineQueue& queue, const JobShape& job) {
  if (queue.reserved && !job.reserved)
    return "it takes jobs of a reservation: give its name with --reservation";
  if (!queue.reserved && job.reserved && machine.scheduler.kind == SchedulerKind::pbs)
    return "a reservation was named, and this queue is none";
  return {};
}

Answer check_nodes_min(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (job.nodes >= queue.nodes_min) return {};
  return fmt::format("{} nodes were asked for, the fewest are {}", job.nodes, queue.nodes_min);
}

Answer check_nodes_max(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.nodes_max || job.nodes <= *queue.nodes_max) return {};
  return fmt::format("{} nodes were asked for, the most are {}", job.nodes, *queue.nodes_max);
}

Answer check_running(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.running_max || job.nodes <= *queue.running_max) return {};
  return fmt::format("{} nodes were asked for, and {} run at once of all users' together", job.nodes,
                     *queue.running_max);
}

Answer check_user_jobs(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.user_jobs || job.chain <= *queue.user_jobs) return {};
  return fmt::format("a chain of {} jobs was asked for, the most of a user are {}", job.chain,
                     *queue.user_jobs);
}

Answer check_user_nodes(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.user_nodes || job.nodes <= *queue.user_nodes) return {};
  return fmt::format("{} nodes were asked for, the most of a user are {}", job.nodes, *queue.user_nodes);
}

Answer check_user_gpus(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.user_gpus || job.gpus_per_node == 0 || job.nodes <= *queue.user_gpus / job.gpus_per_node)
    return {};
  return fmt::format("{} of {} were asked for, the most GPUs of a user are {}", counted(job.nodes, "node"),
                     counted(job.gpus_per_node, "GPU"), *queue.user_gpus);
}

Answer check_cores(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  const auto most = queue.cores ? queue.cores : queue.threads;
  // no product that could overflow: a request is somebody's typing
  if (!most || (job.ranks_per_node <= *most && job.threads <= *most / job.ranks_per_node)) return {};
  return fmt::format("{} ranks x {} threads were asked for on a node of {} cores", job.ranks_per_node,
                     job.threads, *most);
}

Answer check_gpus(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (job.gpus_per_node <= queue.gpus) return {};
  if (queue.gpus == 0)
    return fmt::format("{} asked for, the queue has none",
                       counted(job.gpus_per_node, "GPU was", "GPUs were"));
  return fmt::format("{} asked for, a node has {}", counted(job.gpus_per_node, "GPU was", "GPUs were"),
                     queue.gpus);
}

Answer check_gpu_ranks(const Machine& /*machine*/, const MachineQueue& /*queue*/, const JobShape& job) {
  if (job.gpus_per_node == 0 || job.ranks_per_node % job.gpus_per_node == 0) return {};
  return fmt::format("{} ranks of a node cannot share {} GPUs evenly", job.ranks_per_node, job.gpus_per_node);
}

Answer check_memory(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.memory || !job.memory || *job.memory <= *queue.memory) return {};
  return fmt::format("{} a node are needed ({} a rank), a node has {}", gigabytes(*job.memory),
                     gigabytes(*job.memory / job.ranks_per_node), gigabytes(*queue.memory));
}

Answer check_walltime(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.walltime_max || job.walltime <= *queue.walltime_max) return {};
  return fmt::format("a walltime of {} was asked for, the longest is {}", hours_text(job.walltime),
                     hours_text(*queue.walltime_max));
}

Answer check_node_hours(const Machine& /*machine*/, const MachineQueue& queue, const JobShape& job) {
  if (!queue.node_hours_max || job.node_hours() <= *queue.node_hours_max) return {};
  return fmt::format("{} nodes for {} are {:.6g} node-hours, the most are {:.6g}", job.nodes,
                     hours_text(job.walltime), job.node_hours(), *queue.node_hours_max);
}

Answer check_array(const Machine& machine, const MachineQueue& /*queue*/, const JobShape& job) {
  const auto most = machine.limits.array_tasks;
  if (!most || job.array_tasks <= *most) return {};
  return fmt::format("an array of {} tasks was asked for, the most are {}", job.array_tasks, *most);
}

Answer check_chain(const Machine& machine, const MachineQueue& /*queue*/, const JobShape& job) {
  const auto most = machine.limits.unfinished_jobs;
  if (!most || job.chain <= *most) return {};
  return fmt::format("a chain of {} jobs was asked for, the most that may wait and run are {}", job.chain,
                     *most);
}

Answer check_margin(const Machine& /*machine*/, const MachineQueue& /*queue*/, const JobShape& job) {
  if (job.walltime > job.margin) return {};
  return fmt::format(
      "a walltime of {} leaves nothing to compute in: {} of it are kept for the last checkpoint; ask for "
      "more, or give a smaller --margin",
      hours_text(job.walltime), hours_text(job.margin));
}

Answer check_warning(const Machine& machine, const MachineQueue& /*queue*/, const JobShape& job) {
  if (!machine.stop.warning || job.walltime > *machine.stop.warning) return {};
  return fmt::format(
      "a job is told to end {} before its limit: one of {} would be told as it begins; ask for more",
      hours_text(*machine.stop.warning), hours_text(job.walltime));
}

constexpr Rule rules[] = {{"scheduler.account_required", false, check_account},
                          {"reserved", true, check_reserved},
                          {"nodes_min", true, check_nodes_min},
                          {"nodes_max", true, check_nodes_max},
                          {"running_max", true, check_running},
                          {"user_jobs", true, check_user_jobs},
                          {"user_nodes", true, check_user_nodes},
                          {"user_gpus", true, check_user_gpus},
                          {"cores", true, check_cores},
                          {"gpus", true, check_gpus},
                          {"gpus", true, check_gpu_ranks},
                          {"memory", true, check_memory},
                          {"walltime_max", true, check_walltime},
                          {"node_hours_max", true, check_node_hours},
                          {"limits.array_tasks", false, check_array},
                          {"limits.unfinished_jobs", false, check_chain},
                          {"stop.margin", false, check_margin},
                          {"stop.warning", false, check_warning}};

void require_sound(const JobShape& job) {
  const auto positive = [](const char* what, std::int64_t n) {
    QUINTET_CHECK(n >= 1, "{} {} were asked for; expected 1 or more", n, what);
  };
  positive("nodes", job.nodes);
  positive("ranks of a node", job.ranks_per_node);
  positive("threads of a rank", job.threads);
  positive("jobs in a chain", job.chain);
  QUINTET_CHECK(job.gpus_per_node >= 0, "{} GPUs of a node were asked for; expected 0 or more",
                job.gpus_per_node);
  QUINTET_CHECK(!job.memory || *job.memory >= least_job_memory,
                "{:.6g} B of memory a node were asked for; expected 1 MB or more",
                job.memory.value_or(0));  // to Slurm 0 is all of a node
  QUINTET_CHECK(std::isfinite(job.walltime) && job.walltime >= 1,
                "A walltime of {} s was asked for; expected 1 s or more", job.walltime);
}

}  // namespace

std::vector<BrokenRule> broken_rules(const Machine& machine, const MachineQueue& queue, const JobShape& job) {
  require_sound(job);
  std::vector<BrokenRule> broken;
  for (const auto& rule : rules)
    if (const auto wrong = rule.check(machine, queue, job)) {
      const std::string key = rule.of_queue ? fmt::format("queues.{}.{}", queue.name, rule.key) : rule.key;
      broken.push_back({key, fmt::format("{} ({} of {})", *wrong, key, machine.name)});
    }
  return broken;
}

const MachineQueue& queue_for(const Machine& machine, const std::string& name,
                              const std::function<JobShape(const MachineQueue&)>& shape) {
  QUINTET_CHECK(machine.scheduler.kind != SchedulerKind::none,
                "{} has no scheduler (scheduler.kind): run the program itself, without quintet submit",
                machine.name);
  QUINTET_CHECK(!machine.queues.empty(), "{} has no queues (queues): its file must say what jobs it takes",
                machine.name);
  std::vector<std::string> refusals;
  for (const auto& queue : machine.queues) {
    if (!name.empty() && queue.name != name) continue;
    const JobShape job = shape(queue);
    if (name.empty() && queue.reserved && !job.reserved) continue;  // others are meant
    const auto broken = broken_rules(machine, queue, job);
    if (broken.empty()) return queue;
    for (const auto& rule : broken) {
      const std::string line = fmt::format("{}: {}", queue.name, rule.message);
      refusals.push_back(line);
    }
  }
  if (refusals.empty()) return queue_named(machine, name);  // which throws
  throw InputError(fmt::format("{} takes the job:\n{}", name.empty() ? "No queue" : "Not queue " + name,
                               fmt::join(refusals, "\n")));
}

std::optional<std::string> idle_remark(const Machine& machine, const MachineQueue& queue,
                                       const JobShape& job) {
  if (!queue.whole_node || queue.gpus <= job.gpus_per_node) return std::nullopt;
  JobShape elsewhere = job;
  elsewhere.reserved = false;
  const MachineQueue* instead = nullptr;
  for (const auto& other : machine.queues)
    if (other.gpus < (instead != nullptr ? instead->gpus : queue.gpus) &&
        broken_rules(machine, other, elsewhere).empty())
      instead = &other;
  std::string cure;
  if (instead != nullptr)
    cure = fmt::format("; {} has {}", instead->name,
                       instead->gpus == 0 ? "none" : fmt::format("{}", instead->gpus));
  return fmt::format("{} of the {} GPUs of each node of {} are idle, at full charge{}",
                     queue.gpus - job.gpus_per_node, queue.gpus, queue.name, cure);
}

std::optional<double> points(const MachineQueue& queue, const JobShape& job) {
  if (!queue.points_per_hour) return std::nullopt;
  const double tasks = std::max<std::int64_t>(job.array_tasks, 1) * job.chain;
  return *queue.points_per_hour * job.node_hours() * tasks;
}

std::string hours_text(double seconds) {
  const std::int64_t whole = std::min(seconds, 9e15);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace quintet
