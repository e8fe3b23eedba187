#include "apps/quintet/campaign/job_groups.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/campaign/resources.hpp"
#include "apps/campaign/store.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "surrogates/planning/buckets.hpp"

namespace quintet::campaign {
namespace {

/// Ranks and threads of a stage on nodes of a queue: as few nodes as share the ranks evenly.
JobShape shape_in(const MachineQueue& queue, const Machine& machine, const StageOptions& stage,
                  const JobsOrder& order, std::int64_t n_tasks, const std::optional<double>& memory) {
  JobShape shape{.account = order.account,
                 .threads = stage.threads,
                 .margin = machine.stop.margin,
                 .array_tasks = n_tasks > 1 ? n_tasks : 0,
                 .chain = order.chain};
  const auto cores = queue.cores ? queue.cores : queue.threads;
  std::int64_t of_node = cores ? std::max<std::int64_t>(1, *cores / stage.threads) : stage.ranks;
  if (stage.on_gpus()) of_node = std::max<std::int64_t>(1, std::min(of_node, queue.gpus));
  while (stage.ranks % shape.nodes != 0 || stage.ranks / shape.nodes > of_node) ++shape.nodes;
  shape.ranks_per_node = stage.ranks / shape.nodes;
  shape.gpus_per_node = stage.on_gpus() ? shape.ranks_per_node : 0;
  if (memory) shape.memory = *memory / shape.nodes;
  return shape;
}

/// The queue that takes the job and keeps the least of a machine from others: GPUs, then cores.
const MachineQueue& fitting_queue(const Machine& machine, const std::string& name,
                                  const std::function<JobShape(const MachineQueue&)>& shape) {
  const MachineQueue* best = &queue_for(machine, name, shape);  // which throws where none does
  const auto kept = [&](const MachineQueue& queue) {
    const std::int64_t nodes = shape(queue).nodes;
    return std::pair{nodes * queue.gpus, nodes * queue.cores.value_or(queue.threads.value_or(1))};
  };
  for (const auto& queue : machine.queues)
    if (name.empty() && broken_rules(machine, queue, shape(queue)).empty() && kept(queue) < kept(*best))
      best = &queue;
  return *best;
}

/// Makes arrays of what is left to do, each behind those it waits for.
class Grouping {
 public:
  Grouping(const Graph& graph, const Machine& machine, const JobsOrder& order)
      : graph_(graph),
        machine_(machine),
        order_(order),
        grown_(Store::memory(order.directory)),
        place_(graph.items().size()) {}

  std::vector<Group> run() {
    const auto& items = graph_.items();
    for (std::size_t i = 0; i < items.size();) {
      const auto& first = items[i];
      std::vector<std::size_t> left;
      for (; i < items.size() && items[i].stage == first.stage && items[i].round == first.round; ++i)
        if (!Store::find(order_.directory, items[i], false)) left.push_back(i);
      if (!left.empty()) add_stage(first, left);
    }
    return std::move(groups_);
  }

 private:
  void add_stage(const Item& first, const std::vector<std::size_t>& items) {
    const auto& stage = graph_.stage_of(first);
    QUINTET_CHECK(stage.walltime, "stage {}: walltime is missing: a job has one", stage.name);
    const std::string name = first.round < 0 ? stage.name : fmt::format("{}.{}", stage.name, first.round);
    std::vector<double> costs;
    for (const std::size_t i : items) costs.push_back(graph_.items()[i].cost);
    const auto edges = planning::bucket_edges(costs, stage.buckets);
    double costliest = 0;
    for (const std::size_t i : graph_.items_of(first.stage))
      costliest = std::max(costliest, graph_.items()[i].cost);
    for (std::size_t b = 0; b < edges.size(); ++b) {
      std::vector<std::size_t> bucket;
      for (const std::size_t i : items)
        if (graph_.items()[i].cost <= edges[b] && (b == 0 || graph_.items()[i].cost > edges[b - 1]))
          bucket.push_back(i);
      const double margin = machine_.stop.margin,
                   walltime = stage.buckets == 1 ? *stage.walltime
                                                 : margin + (*stage.walltime - margin) * edges[b] / costliest;
      const std::string own = edges.size() > 1 ? fmt::format("{}.bucket_{}", name, b) : name;
      const auto more =
          std::stable_partition(bucket.begin(), bucket.end(), [&](auto i) { return !has_grown(i); });
      if (more != bucket.begin()) add_bucket(own, {bucket.begin(), more}, walltime);
      if (more != bucket.end()) add_bucket(own + ".memory", {more, bucket.end()}, walltime);
    }
  }

  /// Whether an item was killed for memory: it asks for more than its stage.
  [[nodiscard]] bool has_grown(std::size_t item) const { return grown_.contains(graph_.items()[item].label); }

  /// Memory that items ask for, at most that of a node of a queue that takes them.
  [[nodiscard]] std::optional<double> memory_of(const MachineQueue& queue,
                                                const std::vector<std::vector<std::size_t>>& tasks) const {
    std::optional<double> most;
    bool is_more = false;
    for (const auto& task : tasks)
      for (const std::size_t i : task) {
        const auto own = asked_memory(graph_, graph_.items()[i], grown_);
        if (own) most = std::max(most.value_or(0), *own);
        is_more = is_more || has_grown(i);
      }
    const auto& declared = graph_.stage_of(graph_.items()[tasks.front().front()]).memory;
    if (most && is_more && queue.memory && declared.value_or(0) <= *queue.memory)
      most = std::min(*most, *queue.memory);
    return most;
  }

  /// Arrays of as many tasks as the machine takes.
  void add_bucket(const std::string& name, const std::vector<std::size_t>& items, double walltime) {
    const std::size_t batch = graph_.stage_of(graph_.items()[items.front()]).batch;
    std::vector<std::vector<std::size_t>> tasks;
    for (std::size_t n = 0; n < items.size(); ++n) {
      if (n % batch == 0) tasks.emplace_back();
      tasks.back().push_back(items[n]);
    }
    constexpr std::int64_t any = 1000000;
    const std::size_t most = std::clamp<std::int64_t>(machine_.limits.array_tasks.value_or(any), 1, any);
    const std::size_t n_parts = (tasks.size() + most - 1) / most;
    const auto at = [&](std::size_t part) { return tasks.begin() + part * tasks.size() / n_parts; };
    for (std::size_t part = 0; part < n_parts; ++part)
      add_group(n_parts > 1 ? fmt::format("{}.part_{}", name, part) : name, {at(part), at(part + 1)},
                walltime);
  }

  void add_group(const std::string& name, const std::vector<std::vector<std::size_t>>& tasks,
                 double walltime) {
    Group group{.name = name, .stage = graph_.items()[tasks.front().front()].stage, .tasks = tasks};
    const auto& stage = graph_.stages()[group.stage];
    std::map<std::size_t, std::size_t> n_own;  // by group: items that wait there for their task's number
    for (std::size_t t = 0; t < tasks.size(); ++t)
      for (const std::size_t item : tasks[t]) {
        place_[item] = Place{groups_.size(), t};
        for (const std::size_t before : graph_.items()[item].after)
          if (const auto& place = place_[before]) {
            auto& by_task =
                group.after.try_emplace(place->group, can_order_tasks(place->group, tasks)).first->second;
            by_task = by_task && place->task == t;
            if (by_task) ++n_own[place->group];
          }
      }
    for (auto& [other, by_task] : group.after) by_task = by_task && n_own[other] == tasks.size();
    const auto shape = [&](const MachineQueue& queue) {
      JobShape job = shape_in(queue, machine_, stage, order_, std::ssize(tasks), memory_of(queue, tasks));
      job.walltime = walltime;
      return job;
    };
    try {
      group.queue = &fitting_queue(machine_, order_.queue, shape);
    } catch (const InputError& error) {
      throw InputError(fmt::format("stage {}: {}", stage.name, error.what()));
    }
    group.shape = shape(*group.queue);
    QUINTET_CHECK(group.shape.nodes == 1 || Graph::is_launched(stage),
                  "stage {}: an item of {} takes {} of {}, but its command does not begin with {{launch}}, "
                  "which starts ranks on all of them",
                  stage.name, counted(stage.ranks, "rank"), counted(group.shape.nodes, "node"),
                  group.queue->name);
    if (!machine_.scheduler.memory_request) group.shape.memory.reset();
    groups_.push_back(std::move(group));
  }

  /// Whether both are arrays, of as many tasks of one item each, of a scheduler that orders these. With
  /// several items in a task, one that fails would take from the queue what waits for the others.
  [[nodiscard]] bool can_order_tasks(std::size_t group,
                                     const std::vector<std::vector<std::size_t>>& tasks) const {
    const auto& others = groups_[group].tasks;
    return scheduler_of(machine_).orders_tasks && tasks.size() > 1 && others.size() == tasks.size() &&
           tasks.front().size() == 1 && others.front().size() == 1;
  }

  struct Place {
    std::size_t group = 0, task = 0;
  };
  const Graph& graph_;
  const Machine& machine_;
  const JobsOrder& order_;
  std::map<std::string, double> grown_;  ///< (B) by labels
  std::vector<Group> groups_;
  std::vector<std::optional<Place>> place_;  ///< of each item
};

}  // namespace

std::vector<Group> grouped(const Graph& graph, const Machine& machine, const JobsOrder& order) {
  return Grouping(graph, machine, order).run();
}

}  // namespace quintet::campaign
