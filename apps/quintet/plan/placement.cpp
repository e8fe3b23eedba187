#include "apps/quintet/plan/placement.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/machine/rules.hpp"

namespace quintet {
namespace {

/// Cores of a node of a queue, or of the machine's node without queues.
std::optional<std::int64_t> cores_of(const Machine& machine, const MachineQueue* queue) {
  if (queue != nullptr && queue->cores) return queue->cores;
  return machine.node.cores;
}

std::int64_t part(std::int64_t whole, std::int64_t size) { return (whole + size - 1) / size; }

/// Ranks to nodes, as full as they get.
Placement spread(const Machine& machine, const MachineQueue* queue, std::int64_t ranks,
                 std::int64_t threads) {
  Placement placement;
  const auto cores = cores_of(machine, queue);
  placement.ranks_per_node = cores ? std::clamp<std::int64_t>(*cores / threads, 1, ranks) : ranks;
  placement.nodes = part(ranks, placement.ranks_per_node);
  return placement;
}

/// One computer without queues.
Placement place_here(const Machine& machine, std::int64_t ranks, std::int64_t threads, double memory,
                     std::optional<double> seconds) {
  Placement placement{.ranks_per_node = ranks};
  if (seconds) placement.node_hours = *seconds / 3600;
  // Without a scheduler hardware threads do for cores.
  const auto cores = machine.node.threads ? machine.node.threads : machine.node.cores;
  if (cores && ranks * threads > *cores)
    placement.impossible = fmt::format("needs {}, this computer has {} (node.threads)",
                                       counted(ranks * threads, "core"), *cores);
  else if (machine.node.memory && memory * double(ranks) > *machine.node.memory)
    placement.impossible = fmt::format("needs {:.3g} GB of memory, this computer has {:.3g} (node.memory)",
                                       memory * double(ranks) / 1e9, *machine.node.memory / 1e9);
  return placement;
}

Placement place_in_queue(const Machine& machine, const MachineQueue& queue, std::int64_t ranks,
                         std::int64_t threads, double memory, std::optional<double> seconds) {
  Placement placement = spread(machine, &queue, ranks, threads);
  const double longest = queue.walltime_max.value_or(std::numeric_limits<double>::infinity());
  const double margin = machine.stop.margin;
  double walltime = seconds.value_or(60) + margin;
  if (walltime > longest && longest > margin) {
    placement.jobs = std::ceil(seconds.value_or(0) / (longest - margin));
    walltime = longest;
  }
  const JobShape job{.account = "any",
                     .nodes = placement.nodes,
                     .ranks_per_node = placement.ranks_per_node,
                     .threads = threads,
                     .memory = std::max(least_job_memory, memory * double(placement.ranks_per_node)),
                     .walltime = walltime,
                     .margin = margin,
                     .chain = placement.jobs};
  const auto broken = broken_rules(machine, queue, job);
  placement.queue = queue.name;
  if (seconds) placement.node_hours = double(placement.nodes) * *seconds / 3600;
  if (!broken.empty()) placement.impossible = broken.front().message;
  return placement;
}

}  // namespace

Placement place(const Machine& machine, std::int64_t ranks, std::int64_t threads, double memory,
                std::optional<double> seconds) {
  if (machine.queues.empty()) return place_here(machine, ranks, threads, memory, seconds);
  std::vector<const MachineQueue*> queues;
  for (const auto& queue : machine.queues)
    if (!queue.reserved) queues.push_back(&queue);
  // A run on cores is not to hold GPUs.
  std::stable_sort(queues.begin(), queues.end(),
                   [](const auto* a, const auto* b) { return a->gpus < b->gpus; });
  // The queue that takes it in the fewest jobs; else what the last one says against it.
  std::optional<Placement> best;
  Placement last;
  for (const auto* queue : queues) {
    last = place_in_queue(machine, *queue, ranks, threads, memory, seconds);
    if (last.impossible.empty() && (!best || last.jobs < best->jobs)) best = last;
  }
  return best.value_or(last);
}

planning::Links links_among(const Machine& machine, std::int64_t ranks, std::int64_t ranks_per_node) {
  const LinkLevel level = ranks > ranks_per_node ? LinkLevel::network : LinkLevel::node;
  const MachineLink* link = find_link(machine, level, ranks);
  if (link == nullptr || !link->alpha || !link->beta) return {};
  return planning::Links(std::vector<planning::Links::Tier>{
      {std::numeric_limits<double>::infinity(), {*link->alpha, *link->beta * link->sharing}}});
}

planning::Links links_of(const Machine& machine, std::int64_t ranks_per_node) {
  constexpr double any = std::numeric_limits<double>::infinity();
  std::vector<planning::Links::Tier> tiers;
  const auto add = [&](LinkLevel level, std::int64_t ranks, double reach) {
    const MachineLink* link = find_link(machine, level, ranks);
    if (link == nullptr || !link->alpha || !link->beta) return;
    tiers.push_back({reach, {*link->alpha, *link->beta * link->sharing}});
  };
  add(LinkLevel::node, ranks_per_node, ranks_per_node);
  add(LinkLevel::network, ranks_per_node + 1, any);
  return planning::Links(std::move(tiers));
}

std::optional<double> slowness(const Machine& machine, const Machine& here) {
  if (!machine.rates.gemm_fp64 || !here.rates.gemm_fp64) return std::nullopt;
  return *here.rates.gemm_fp64 / *machine.rates.gemm_fp64;
}

}  // namespace quintet
