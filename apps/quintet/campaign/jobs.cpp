#include "apps/quintet/campaign/jobs.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>

#include <fmt/ranges.h>

#include "apps/campaign/frozen.hpp"
#include "apps/campaign/resources.hpp"
#include "apps/campaign/store.hpp"
#include "apps/quintet/campaign/job_script.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/user_limits.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/machine.hpp"
#include "surrogates/planning/buckets.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

/// Items of one stage (of one round) that are queued as one array.
struct Group {
  std::string
      name;  ///< "training", "training.1" of a round, with bucket and part behind it if there are several
  std::size_t stage = 0;
  std::vector<std::vector<std::size_t>> tasks;  ///< items of each
  std::map<std::size_t, bool> after{};          ///< groups, and whether each task waits for its own of it
  const MachineQueue* queue = nullptr;
  JobShape shape{};
};

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
  if (memory) shape.memory = *memory / static_cast<double>(shape.nodes);
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

  /// `warns`: of what is damaged.
  std::vector<Group> run(bool warns) {
    const auto& items = graph_.items();
    for (std::size_t i = 0; i < items.size();) {
      const auto& first = items[i];
      std::vector<std::size_t> left;
      for (; i < items.size() && items[i].stage == first.stage && items[i].round == first.round; ++i)
        if (const auto done = Store::find(order_.directory, items[i], false); !done)
          left.push_back(i);
        else if (warns && !done->damage.empty())
          log::warning("{}: {}", items[i].label, done->damage);
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
    const auto edges = planning::bucket_edges(costs, static_cast<std::size_t>(stage.buckets));
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

  /// What items ask for, at most what a node of a queue that takes them has.
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
    const auto batch = static_cast<std::size_t>(graph_.stage_of(graph_.items()[items.front()]).batch);
    std::vector<std::vector<std::size_t>> tasks;
    for (std::size_t n = 0; n < items.size(); ++n) {
      if (n % batch == 0) tasks.emplace_back();
      tasks.back().push_back(items[n]);
    }
    constexpr std::int64_t any = 1000000;
    const auto most =
        static_cast<std::size_t>(std::clamp<std::int64_t>(machine_.limits.array_tasks.value_or(any), 1, any));
    const std::size_t n_parts = (tasks.size() + most - 1) / most;
    const auto at = [&](std::size_t part) {
      return tasks.begin() + static_cast<std::ptrdiff_t>(part * tasks.size() / n_parts);
    };
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
                  "stage {}: an item of {} ranks takes {} nodes of {}, but its command does not begin with "
                  "{{launch}}, which starts ranks on all of them",
                  stage.name, stage.ranks, group.shape.nodes, group.queue->name);
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

/// What the first link of a group waits for, by the ids of all links of those before it. A task may follow
/// that of any link, which the scheduler knows where it is the only thing to wait for; else that of the last.
JobOrder order_of(const Group& group, const std::vector<std::vector<std::string>>& links) {
  JobOrder order;
  for (const auto& [g, by_task] : group.after) {
    if (!by_task || !order.tasks.empty())
      order.ended.push_back(links[g].back());
    else if (group.after.size() == 1)
      order.tasks = links[g];
    else
      order.tasks = {links[g].back()};
  }
  return order;
}

std::string script_of(const Graph& graph, const Machine& machine, const JobsOrder& order, const Group& group,
                      const std::vector<Group>& groups) {
  const Job job{.name = job_name(group.name),
                .directory = order.directory + "/jobs/" + group.name,
                .input = order.file,
                .executable = fs::read_symlink("/proc/self/exe").string(),
                .command = "campaign",
                .queue = group.queue->name,
                .shape = group.shape};
  std::vector<std::string> before;
  for (const auto& [g, by_task] : group.after)
    before.push_back(groups[g].name + (by_task ? " with the same number" : ""));
  std::size_t n_items = 0;
  for (const auto& items : group.tasks) n_items += items.size();
  const std::string about =
      fmt::format("{} items of stage {}{}", n_items, graph.stages()[group.stage].name,
                  before.empty() ? "" : fmt::format(", after those of {}", fmt::join(before, ", ")));
  return task_script(machine, job, {order.file, order.directory, order.machine, order.path, about});
}

std::string items_of(const Graph& graph, const Group& group) {
  std::string text;
  for (const auto& task : group.tasks) {
    for (std::size_t n = 0; n < task.size(); ++n) text += (n > 0 ? " " : "") + graph.items()[task[n]].key;
    text += "\n";
  }
  return text;
}

void check_users_room(const Machine& machine, const Scheduler& scheduler, const std::vector<Group>& groups,
                      const JobsOrder& order) {
  auto jobs = scheduler.jobs_of_user();
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    if (counts_user(machine, *group.queue))
      for (const auto& remark : check_user_limits(machine, *group.queue, group.shape, jobs))
        log::warning("{}: {}", group.name, remark);
    for (std::int64_t link = 0; link < order.chain; ++link)
      jobs.push_back({.id = fmt::format("{} of {}", link, group.name), .queue = group.queue->name});
  }
}

}  // namespace

void queue_campaign(const Graph& graph, const JobsOrder& asked) {
  const Machine machine = read_machine(asked.machine);
  require_head(machine, asked.directory, asked.account);
  const Frozen copy = frozen(graph, asked.file, asked.directory);
  JobsOrder order = asked;
  order.file = copy.copy;
  auto groups = Grouping(graph, machine, order).run(true);
  auto n_jobs = std::ssize(groups) * order.chain;
  if (const auto most = machine.limits.unfinished_jobs)
    QUINTET_CHECK(n_jobs <= *most,
                  "{} jobs are needed, the most that may wait and run are {} "
                  "(limits.unfinished_jobs of {})",
                  n_jobs, *most, machine.name);
  if (order.dry_run) {
    for (const auto& group : groups)
      std::printf("%s\n", script_of(graph, machine, order, group, groups).c_str());
    log::info("{} jobs are needed: nothing was queued", n_jobs);
    return;
  }
  const Scheduler scheduler(machine);
  const auto lock = lock_directory(order.directory, "quintet submit");
  require_nothing_queued(order.directory, scheduler);
  groups = Grouping(graph, machine, order).run(false);  // a job may have ended since
  n_jobs = std::ssize(groups) * order.chain;
  if (groups.empty()) return log::info("0 jobs are queued: all {} items are done", graph.items().size());
  check_users_room(machine, scheduler, groups, order);
  write_frozen(copy);
  JobRecord record{.machine = order.machine,
                   .name = fs::path(order.file).stem().string(),
                   .queue = order.queue.empty() ? "by stage" : order.queue,
                   .application = "quintet",
                   .command = "campaign",
                   .input = asked.file,
                   .date = date_text(),
                   .walltime = 0,
                   .chain = order.chain};
  std::vector<std::vector<std::string>> links(groups.size());  // ids of each group's jobs
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& group = groups[g];
    const std::string folder = order.directory + "/jobs/" + group.name;
    fs::create_directories(folder);
    for (const auto& task : group.tasks)
      for (const std::size_t i : task) fs::remove_all(order.directory + "/failed/" + graph.items()[i].key);
    write_text_file(folder + "/items", items_of(graph, group));
    write_text_file(folder + "/job.sh", script_of(graph, machine, order, group, groups));
    JobOrder before = order_of(group, links);
    for (std::int64_t link = 0; link < order.chain; ++link) {
      queue_job(scheduler, order.directory, record, folder + "/job.sh", before, n_jobs);
      links[g].push_back(record.ids.back());
      before = {.ended = {links[g].back()}};
    }
    log::info("{}: {} in {}, {} tasks", group.name, links[g].back(), group.queue->name, group.tasks.size());
  }
  log::info("{} jobs are queued; quintet campaign status {}", record.ids.size(), asked.file);
}

}  // namespace quintet::campaign
