#include "apps/quintet/submit/user_limits.hpp"

#include <set>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace {

/// Jobs, an array being one, of a queue ("": all).
std::int64_t unfinished(const std::vector<QueuedJob>& jobs, const std::string& queue) {
  std::set<std::string> ids;
  for (const auto& job : jobs)
    if (queue.empty() || job.is_in(queue)) ids.insert(job.id);
  return ids.size();
}

void require_room(const std::optional<std::int64_t>& most, std::int64_t n, std::int64_t chain,
                  const std::string& key, const Machine& machine) {
  QUINTET_CHECK(
      !most || n + chain <= *most,
      "Nothing was queued: {} of your jobs wait or run, {} more were asked for, and the most are {} "
      "({} of {})",
      n, chain, *most, key, machine.name);
}

}  // namespace

bool counts_user(const Machine& machine, const MachineQueue& queue) {
  const auto& limits = machine.limits;
  return limits.unfinished_jobs || limits.running_jobs || queue.user_jobs || queue.user_nodes ||
         queue.user_gpus;
}

std::vector<std::string> check_user_limits(const Machine& machine, const MachineQueue& queue,
                                           const JobShape& job, const std::vector<QueuedJob>& others) {
  const std::string section = fmt::format("queues.{}", queue.name);
  require_room(machine.limits.unfinished_jobs, unfinished(others, ""), job.chain, "limits.unfinished_jobs",
               machine);
  require_room(queue.user_jobs, unfinished(others, queue.name), job.chain, section + ".user_jobs", machine);
  std::int64_t running = 0, nodes = 0, gpus = 0;
  for (const auto& other : others) {
    if (other.kind != JobState::Kind::running) continue;
    ++running;
    if (!other.is_in(queue.name)) continue;
    nodes += other.nodes;
    gpus += other.gpus.value_or(other.nodes * queue.gpus);
  }
  std::vector<std::string> remarks;
  const auto compare = [&](const std::optional<std::int64_t>& most, std::int64_t used, std::int64_t wanted,
                           const char* what, const std::string& key) {
    if (!most || used + wanted <= *most) return;
    remarks.push_back(fmt::format(
        "{} {} of your running jobs and {} of this one are more than {} ({} of {}): it waits until "
        "some have ended",
        used, what, wanted, *most, key, machine.name));
  };
  compare(machine.limits.running_jobs, running, 1, "jobs", "limits.running_jobs");
  compare(queue.user_nodes, nodes, job.nodes, "nodes", section + ".user_nodes");
  compare(queue.user_gpus, gpus, job.nodes * job.gpus_per_node, "GPUs", section + ".user_gpus");
  return remarks;
}

}  // namespace quintet
