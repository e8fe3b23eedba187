#include "apps/quintet/submit/retry.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include <fmt/ranges.h>

#include "io/config/scalar.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

fs::path ask_file(const std::string& directory) { return fs::path(directory) / ".quintet" / "ask.yaml"; }

double factor_in(const std::string& setting, const std::string& value) {
  const auto factor = to_number(value);
  if (!factor || !(*factor >= 1 && *factor < 1000))
    throw UsageError(
        fmt::format("quintet submit: --retry {}: expected a factor from 1, such as 1.5", setting));
  return *factor;
}

std::string gigabytes_text(double bytes) { return fmt::format("{:.4g} GB", bytes / 1e9); }

/// More memory, as far as a node of the queue has it.
void grow_memory(const Machine& machine, const JobAsk& ask, NextAsk& next) {
  const auto& queue = queue_named(machine, ask.job.queue);
  if (!machine.scheduler.memory_request) {
    next.remark = fmt::format(
        "had too little memory; jobs of {} ask for none, a node comes with all it has: more nodes, or fewer "
        "ranks on a node, would help",
        machine.name);
    return;
  }
  const auto& memory = ask.job.shape.memory;
  if (ask.retry.memory <= 1) {
    next.remark = "had too little memory (retry.memory is 1: no more is asked for)";
    return;
  }
  if (!memory && !queue.memory) {
    next.remark = "had too little memory; how much it had is not known: give --memory";
    return;
  }
  const double most = queue.memory.value_or(std::numeric_limits<double>::infinity());
  const double grown = memory ? std::min(*memory * ask.retry.memory, most) : most;
  if (memory && grown <= *memory) {
    next.remark =
        fmt::format("had too little memory, and a node of {} has no more than {} (queues.{}.memory)",
                    queue.name, gigabytes_text(*memory), queue.name);
    return;
  }
  next.job.shape.memory = grown;
  next.asks_otherwise = next.needs_new_job = true;
  next.remark = fmt::format("had too little memory: {} a node are asked for{}", gigabytes_text(grown),
                            memory ? fmt::format(" in place of {}", gigabytes_text(*memory)) : "");
}

void grow_walltime(const Machine& machine, const JobAsk& ask, NextAsk& next) {
  const auto& queue = queue_named(machine, ask.job.queue);
  const auto& shape = ask.job.shape;
  double most = queue.walltime_max.value_or(std::numeric_limits<double>::infinity());
  if (queue.node_hours_max) most = std::min(most, *queue.node_hours_max * 3600 / shape.nodes);
  const double grown = std::floor(std::min(shape.walltime * ask.retry.walltime, most));
  if (grown <= shape.walltime) {
    next.remark = fmt::format("ran out of time before a checkpoint{}",
                              ask.retry.walltime <= 1 ? " (retry.walltime is 1: no more is asked for)"
                                                      : fmt::format(", and {} takes no more than {}",
                                                                    queue.name, hours_text(most)));
    return;
  }
  next.job.shape.walltime = grown;
  next.asks_otherwise = next.needs_new_job = true;
  next.remark = fmt::format("ran out of time before a checkpoint: {} is asked for in place of {}",
                            hours_text(grown), hours_text(shape.walltime));
}

void leave_out(const JobAsk& ask, const std::vector<std::string>& failed, const std::string& what,
               NextAsk& next) {
  auto& exclude = next.job.exclude;
  std::vector<std::string> added;
  for (const auto& node : failed)
    if (ask.retry.exclude && std::find(exclude.begin(), exclude.end(), node) == exclude.end())
      added.push_back(node);
  exclude.insert(exclude.end(), added.begin(), added.end());
  next.asks_otherwise = !added.empty();
  next.remark = added.empty() ? what : fmt::format("{}: {} is left out", what, fmt::join(added, ", "));
}

}  // namespace

bool is_on(const MachineRetry& retry) { return retry.memory > 1 || retry.walltime > 1 || retry.exclude; }

void set_retry(MachineRetry& retry, const std::string& text) {
  if (text.empty()) return;
  if (text == "off") {
    retry = {.memory = 1, .walltime = 1, .exclude = false};
    return;
  }
  for (std::string rest = text; !rest.empty();) {
    const std::string setting = rest.substr(0, rest.find(','));
    rest = setting.size() == rest.size() ? "" : rest.substr(setting.size() + 1);
    const auto equals = std::min(setting.find('='), setting.size());
    const std::string key = setting.substr(0, equals),
                      value = setting.substr(std::min(equals + 1, setting.size()));
    if (key == "memory")
      retry.memory = factor_in(setting, value);
    else if (key == "walltime")
      retry.walltime = factor_in(setting, value);
    else if (key == "exclude" && (value == "yes" || value == "no"))
      retry.exclude = value == "yes";
    else
      throw UsageError(fmt::format(
          "quintet submit: --retry {}: expected memory=FACTOR, walltime=FACTOR, exclude=yes|no, or off",
          text));
  }
}

void describe(Schema& schema, JobAsk& ask) {
  auto& job = ask.job;
  auto& shape = job.shape;
  schema.text("name", job.name, "Name of the jobs").required();
  schema.text("directory", job.directory, "Their directory").required();
  schema.text("input", job.input, "Name of the staged input in each folder").required();
  schema.text("executable", job.executable, "The program").required();
  schema.text("command", job.command, "Its command").required();
  schema.text("queue", job.queue, "Queue").required();
  schema.text("account", shape.account, "Who pays");
  schema.text("reservation", job.reservation, "Reservation");
  schema.text("retry_program", job.retry_program, "quintet");
  schema.integer("nodes", shape.nodes, "Nodes").at_least(1);
  schema.integer("ranks_per_node", shape.ranks_per_node, "Ranks of a node").at_least(1);
  schema.integer("threads", shape.threads, "Threads of a rank").at_least(1);
  schema.integer("gpus_per_node", shape.gpus_per_node, "GPUs of a node").at_least(0);
  schema.quantity("memory", shape.memory, "B", "Memory of a node; null: none is asked for").above(0);
  schema.quantity("walltime", shape.walltime, "s", "Walltime").above(0);
  schema.quantity("margin", shape.margin, "s", "Of it, kept for the end of the program").at_least(0);
  schema.integer("array_tasks", shape.array_tasks, "Tasks of the array; 0: none").at_least(0);
  schema.integer("chain", shape.chain, "Jobs one after another").at_least(1);
  schema.flag("reserved", shape.reserved, "Whether on nodes of a reservation");
  schema.texts("exclude", job.exclude, "Nodes that are left out");
  schema.section("retry", ask.retry, "What is asked for after a job that had too little");
  schema.texts("dealt_with", ask.dealt_with, "Jobs whose end has led to another ask");
  schema.texts("replaced", ask.replaced, "Jobs in whose place others were queued");
  schema.texts("remarks", ask.remarks, "What was asked for anew, and why");
}

void write_ask(const Machine& machine, const Job& job) { keep_ask({.job = job, .retry = machine.retry}); }

void keep_ask(const JobAsk& ask) {
  JobAsk copy = ask;
  const auto file = ask_file(ask.job.directory);
  fs::create_directories(file.parent_path());
  write_text_file(file.string(), print_options(described(copy)));
}

std::optional<JobAsk> read_ask(const std::string& directory) {
  const auto file = ask_file(directory);
  if (!fs::exists(file)) return std::nullopt;
  JobAsk ask;
  parse_options(read_yaml(file.string()), described(ask));
  return ask;
}

NextAsk next_ask(const Machine& machine, const JobAsk& ask, const JobState& ended,
                 const std::vector<std::string>& failed_nodes, bool came_further) {
  NextAsk next{.job = ask.job};
  if (ended.end == JobEnd::out_of_memory)
    grow_memory(machine, ask, next);
  else if (ended.end == JobEnd::time_limit && !came_further)
    grow_walltime(machine, ask, next);
  else if (ended.end == JobEnd::node_failure)
    leave_out(ask, failed_nodes, "lost a node", next);
  return next;
}

}  // namespace quintet
