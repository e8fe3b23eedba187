#include "apps/quintet/campaign/jobs.hpp"

#include <cstdio>
#include <filesystem>
#include <map>

#include <fmt/ranges.h>

#include "apps/campaign/frozen.hpp"
#include "apps/campaign/store.hpp"
#include "apps/quintet/campaign/job_groups.hpp"
#include "apps/quintet/campaign/job_script.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/user_limits.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

/// Jobs that the first link of a group waits for, by the ids of all links of the groups before it. A task may
/// follow that of any link, which the scheduler knows where it is the only thing to wait for; else that of
/// the last.
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
      fmt::format("{} of stage {}{}", counted(n_items, "item"), graph.stages()[group.stage].name,
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

void tell_of_damaged(const Graph& graph, const std::string& directory) {
  for (const auto& item : graph.items())
    if (const auto done = Store::find(directory, item, false); done && !done->damage.empty())
      log::warning("{}: {}", item.label, done->damage);
}

}  // namespace

void queue_campaign(const Graph& graph, const JobsOrder& asked) {
  const Machine machine = read_machine(asked.machine);
  require_head(machine, asked.directory, asked.account);
  const Frozen copy = frozen(graph, asked.file, asked.directory);
  JobsOrder order = asked;
  order.file = copy.copy;
  tell_of_damaged(graph, order.directory);
  auto groups = grouped(graph, machine, order);
  auto n_jobs = std::ssize(groups) * order.chain;
  if (const auto most = machine.limits.unfinished_jobs)
    QUINTET_CHECK(n_jobs <= *most,
                  "{} jobs are needed, the most that may wait and run are {} "
                  "(limits.unfinished_jobs of {})",
                  n_jobs, *most, machine.name);
  if (order.dry_run) {
    for (const auto& group : groups)
      std::printf("%s\n", script_of(graph, machine, order, group, groups).c_str());
    log::info("{} needed: nothing was queued", counted(n_jobs, "job is", "jobs are"));
    return;
  }
  const Scheduler scheduler(machine);
  const auto lock = lock_directory(order.directory, "quintet submit");
  require_nothing_queued(order.directory, scheduler);
  groups = grouped(graph, machine, order);  // a job may have ended since
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
    log::info("{}: {} in {}, {}", group.name, links[g].back(), group.queue->name,
              counted(group.tasks.size(), "task"));
  }
  log::info("{} queued; quintet campaign status {}", counted(record.ids.size(), "job is", "jobs are"),
            asked.file);
}

}  // namespace quintet::campaign
