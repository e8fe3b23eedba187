#include "apps/quintet/submit/submit.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>

#include <fmt/ranges.h>

#include "apps/campaign/sweep.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "apps/quintet/plan/cost.hpp"
#include "apps/quintet/plan/placement.hpp"
#include "apps/quintet/submit/forecast.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/retry.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/script.hpp"
#include "apps/quintet/submit/user_limits.hpp"
#include "io/config/scalar.hpp"
#include "io/config/units.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
namespace {

/// Request of the command line.
struct Order {
  std::string file, machine, queue, account, output, application, command, reservation, retry;
  std::vector<std::string> settings;
  std::optional<std::int64_t> ranks_per_node, threads, gpus_per_node;
  std::optional<double> memory, margin;
  std::int64_t nodes = 1, chain = 1;
  double walltime = 0;
  bool restart = false, dry_run = false, no_plan = false;
};

std::optional<std::int64_t> count_given(const std::optional<std::string>& text, const char* flag,
                                        std::int64_t least = 1) {
  if (!text) return std::nullopt;
  const auto value = to_integer(*text);
  if (!value || *value < least)
    throw UsageError(
        fmt::format("quintet submit: {} {}: expected a whole number, {} or more", flag, *text, least));
  return value;
}

// Units are converted and counts checked here, before a machine or a queue is asked.
Order order_of(const SubmitFlags& flags) {
  Order order;
  order.file = flags.file;
  order.machine = flags.machine;
  order.nodes = count_given(flags.nodes, "--nodes").value_or(1);
  order.walltime = parse_walltime(flags.walltime);
  order.ranks_per_node = count_given(flags.ranks_per_node, "--ranks-per-node");
  order.threads = count_given(flags.threads, "--threads");
  order.gpus_per_node = count_given(flags.gpus_per_node, "--gpus-per-node", 0);
  if (flags.memory) order.memory = parse_quantity(*flags.memory, "B");
  order.queue = flags.queue.value_or("");
  order.account = flags.account.value_or("");
  order.chain = count_given(flags.chain, "--chain").value_or(1);
  if (flags.margin) order.margin = parse_walltime(*flags.margin);
  order.settings = flags.settings;
  order.output = flags.output.value_or("");
  if (flags.restart.value_or("auto") != "auto")
    throw UsageError(
        "quintet submit: --restart takes 'auto'; every job of a chain goes on from the newest checkpoint");
  order.restart = flags.restart.has_value();
  order.application = flags.application.value_or("");
  order.command = flags.command.value_or("");
  order.dry_run = flags.dry_run;
  order.no_plan = flags.no_plan;
  order.reservation = flags.reservation.value_or("");
  order.retry = flags.retry.value_or("");
  return order;
}

/// The value in force of a key that the command line may set.
std::string value_of(const Tree& document, const std::vector<std::string>& settings, const std::string& key) {
  std::string value;
  if (const Tree* found = document.find(key); found != nullptr && found->is_scalar())
    value = found->as_text();
  for (const auto& setting : settings)
    if (setting.starts_with(key + "=")) value = setting.substr(key.size() + 1);
  return value;
}

/// Ranks x threads x GPUs of a node of this queue: a rank a GPU, or a rank a core, unless told otherwise.
JobShape shape_for(const MachineQueue& queue, const Machine& machine, const Order& order, bool on_gpus,
                   std::int64_t n_points) {
  JobShape shape{.account = order.account,
                 .nodes = order.nodes,
                 .memory = order.memory,
                 .walltime = order.walltime,
                 .margin = order.margin.value_or(machine.stop.margin),
                 .array_tasks = n_points > 1 ? n_points : 0,
                 .chain = order.chain,
                 .reserved = !order.reservation.empty()};
  shape.gpus_per_node = order.gpus_per_node.value_or(on_gpus ? std::max<std::int64_t>(queue.gpus, 1) : 0);
  const auto cores = queue.cores ? queue.cores : queue.threads;
  if (order.ranks_per_node)
    shape.ranks_per_node = *order.ranks_per_node;
  else if (shape.gpus_per_node > 0)
    shape.ranks_per_node = shape.gpus_per_node;
  else {
    QUINTET_CHECK(cores,
                  "{} does not say how many cores a node of {} has (queues.{}.cores): give --ranks-per-node",
                  machine.name, queue.name, queue.name);
    shape.ranks_per_node = std::max<std::int64_t>(1, *cores / order.threads.value_or(1));
  }
  // Cores beside those of the ranks help threads; without GPUs a rank has one core unless more were asked
  // for.
  const bool shares_out = cores && (shape.gpus_per_node > 0 || order.ranks_per_node);
  shape.threads =
      order.threads.value_or(shares_out ? std::max<std::int64_t>(1, *cores / shape.ranks_per_node) : 1);
  return shape;
}

/// The application's own word on an input, and with `--print-config` the staged one.
std::string ask_application(const Owner& owner, const Order& order, const SweepPoint& point,
                            const std::vector<std::string>& flags, bool has_sweep) {
  constexpr double patience_s = 1800;
  std::vector<std::string> words = {owner.application.executable, owner.command, order.file};
  if (has_sweep) words.insert(words.end(), {"--without", "sweep"});
  for (const auto* settings : {&order.settings, &point})
    for (const auto& setting : *settings) words.insert(words.end(), {"--set", setting});
  words.insert(words.end(), flags.begin(), flags.end());
  const auto result = run_command(words, patience_s);
  const std::string who = fmt::format("{} {}", owner.application.name, owner.command);
  QUINTET_CHECK(!result.timed_out, "{} has not checked the input within {} s", who, patience_s);
  if (result.code == static_cast<int>(ExitCode::resource)) {
    std::string why = last_line(result.errors);
    if (why.starts_with("error: ")) why.erase(0, 7);
    log::warning("{} could not check all of it here, in one process: {}", who, why);
    return result.out;
  }
  const std::string where = point.empty() ? "" : fmt::format(" at {}", fmt::join(point, ", "));
  QUINTET_CHECK(result.good(), "{} does not accept the input{} (exit code {}):\n{}", who, where, result.code,
                std::string(trimmed(result.errors)));
  return result.out;
}

/// Forecast by the plan of the run for all these numbers of ranks; absent, with a line that says why, without
/// a plan.
std::optional<Forecast> forecast_of(const Owner& owner, const Order& order,
                                    const std::vector<SweepPoint>& points, bool has_sweep,
                                    const std::set<std::int64_t>& ranks) {
  constexpr std::size_t most_points = 16;
  const auto without = [](const std::string& why) {
    log::info("No memory is asked for, there is no plan of the run: {}", why);
    return std::nullopt;
  };
  if (points.size() > most_points) return without(fmt::format("{} points are too many", points.size()));
  std::vector<planning::CostModel> models;
  for (const auto& point : points) {
    CostQuestion question{.file = order.file,
                          .settings = order.settings,
                          .ranks = fmt::format("{}", fmt::join(ranks, ",")),
                          .crowded = false};
    if (has_sweep) question.without = {"sweep"};
    question.settings.insert(question.settings.end(), point.begin(), point.end());
    try {
      const auto model = ask_cost(owner, question);
      if (!model)
        return without(fmt::format("{} {} has no model of its cost", owner.application.name, owner.command));
      models.push_back(*model);
    } catch (const InputError& error) {  // the input itself was checked before
      return without(error.what());
    }
  }
  return Forecast(std::move(models));
}

using ShapeIn = std::function<JobShape(const MachineQueue&)>;

/// Numbers of ranks of interest for the job, in each queue that takes it as far as is known without a plan.
std::set<std::int64_t> interesting_ranks(const Machine& machine, const Order& order,
                                         const ShapeIn& shape_in) {
  std::set<std::int64_t> ranks;
  for (const auto& queue : machine.queues) {
    if (!order.queue.empty() && queue.name != order.queue) continue;
    const JobShape shape = shape_in(queue);
    if (broken_rules(machine, queue, shape).empty()) ranks.merge(ranks_of_interest(queue, shape));
  }
  return ranks;
}

/// The first queue that takes the job with the memory that is planned, and its shape there. Throws InputError
/// with what helps if none does, or if its ranks cannot share the run.
const MachineQueue& planned_queue(const Machine& machine, const Order& order, const Forecast& forecast,
                                  const MachineQueue& first, const ShapeIn& shape_in,
                                  const Checkpoints& checkpoints, JobShape& shape) {
  const auto planned = [&](const MachineQueue& queue) {
    JobShape job = shape_in(queue);
    if (!job.memory) job.memory = forecast.memory_of_node(queue, job);
    return job;
  };
  const MachineQueue* queue = nullptr;
  try {
    queue = &queue_for(machine, order.queue, planned);
  } catch (const InputError& error) {  // all but the memory was checked before
    throw InputError(
        fmt::format("{}\n{}", error.what(), forecast.what_helps(machine, first, planned(first))));
  }
  shape = planned(*queue);
  const auto impossible = forecast.impossible(shape.ranks());
  QUINTET_CHECK(impossible.empty(), "{} cannot run on {} x {}: {}", order.file, counted(shape.nodes, "node"),
                counted(shape.ranks_per_node, "rank"), impossible);
  if (!order.memory && !machine.scheduler.memory_request) shape.memory.reset();
  const auto slower = slowness(machine, read_machine("local"));
  if (const auto remark = forecast.too_short(machine, shape, slower); !remark.empty())
    log::warning("{}", remark);
  if (const auto remark = forecast.no_checkpoint(machine, shape, slower, checkpoints); !remark.empty())
    log::warning("{}", remark);
  return *queue;
}

bool holds_run(const fs::path& directory) {
  return fs::exists(directory / "run.h5") || fs::exists(directory / "summary.json") ||
         fs::exists(directory / "checkpoints");
}

/// Throws if a run of the job would go on from one that is there unasked.
void require_no_run(const fs::path& directory, const Job& job) {
  for (std::int64_t i = 0; i < std::max<std::int64_t>(job.shape.array_tasks, 1); ++i) {
    const fs::path folder = job.is_array() ? directory / task_folder(i) : directory;
    QUINTET_CHECK(!holds_run(folder),
                  "The directory '{}' already holds a run. Go on with it with --restart auto, or choose "
                  "another with --output DIR",
                  folder.string());
  }
}

/// Remove the files that jobs of a chain leave for each other, so that a new chain does not find them.
void forget_former_chain(const fs::path& folder) {
  fs::remove(folder / "job.ended");
  fs::remove(folder / "job.began");
}

void queue_chain(const Scheduler& scheduler, const std::string& directory, JobRecord& record) {
  for (std::int64_t link = 0; link < record.chain; ++link)
    queue_job(scheduler, directory, record, directory + "/job.sh",
              record.ids.empty() ? JobOrder{} : JobOrder{.ended = {record.ids.back()}}, record.chain);
}

void tell_remarks(const Machine& machine) {
  for (const auto& remark : machine.remarks) log::info("{}", remark);
}

std::string cost_text(const MachineQueue& queue, const JobShape& shape) {
  const double n = std::max<std::int64_t>(shape.array_tasks, 1) * shape.chain;
  const auto price = points(queue, shape);
  return fmt::format("at most {:.6g} node-hours{}", shape.node_hours() * n,
                     price ? fmt::format(", {:.6g} points", *price) : "");
}

}  // namespace

void describe(Schema& schema, SubmitFlags& flags) {
  schema.text("file", flags.file, "the YAML file of a run; sweep: {key: [values]} in it makes a job array")
      .required();
  schema.text("machine", flags.machine, "machine, by name or file").required();
  schema.text("nodes", flags.nodes, "nodes of a job (default: 1)");
  schema.text("walltime", flags.walltime, "of a job, HH:MM:SS").required();
  schema.text("ranks_per_node", flags.ranks_per_node, "default: one a GPU, or one a core");
  schema.text("threads", flags.threads, "of a rank (default: what cores there are for it)");
  schema.text("gpus_per_node", flags.gpus_per_node, "default: all of the queue's for device: gpu, else none");
  schema.text("memory", flags.memory,
              "that a node needs, such as '100 GB' (default: by the plan of the run)");
  schema.text("queue", flags.queue, "default: the machine's first that takes the job");
  schema.text("account", flags.account, "who pays");
  schema.text("chain", flags.chain, "jobs to queue, each going on where the one before stopped (default: 1)");
  schema.text("margin", flags.margin,
              "time before the limit at which the program stops (default: the machine's)");
  schema.texts("set", flags.settings, "KEY.PATH=VALUE, as the application takes it (repeatable)");
  schema.text("output", flags.output, "directory of the run (default: runs/<name of the YAML file>)");
  schema.text("restart", flags.restart, "auto: go on with the run that the directory holds");
  schema.text("app", flags.application, "application, where the file does not tell");
  schema.text("command", flags.command, "its command, where the file does not tell");
  schema.flag("dry_run", flags.dry_run, "check all, print the script, queue and write nothing");
  schema.flag("no_plan", flags.no_plan,
              "do not ask what the run costs, which takes some seconds: no memory is asked for");
  schema.text("reservation", flags.reservation, "name of a reservation, on whose nodes the job is to run");
  schema.text("retry", flags.retry,
              "what a chain asks for after a job that had too little: 'memory=2,walltime=1.5', or off "
              "(default: the machine's)");
}

void submit(const SubmitFlags& flags) {
  const Order order = order_of(flags);
  Machine machine = read_machine(order.machine);
  set_retry(machine.retry, order.retry);
  const Tree document = read_yaml(order.file);
  const auto swept = sweep_points(document);
  const bool has_sweep = document.is_map() && document.has("sweep");
  const Owner owner = owner_of(without_sweep(document), order.application, order.command);

  const bool on_gpus = value_of(document, order.settings, "device") == "gpu";
  const std::int64_t n_points = swept.size();
  const auto shape_in = [&](const MachineQueue& candidate) {
    return shape_for(candidate, machine, order, on_gpus, n_points);
  };
  // Limits that need no plan first: they are told at once.
  const auto* queue = &queue_for(machine, order.queue, shape_in);
  const std::string stem = fs::path(order.file).stem().string();
  const std::string directory =
      fs::absolute(order.output.empty() ? fs::path("runs") / stem : fs::path(order.output))
          .lexically_normal()
          .string();
  require_head(machine, directory, order.account, order.reservation);
  std::optional<Scheduler> reached;
  if (!order.dry_run) reached.emplace(machine);
  std::vector<std::string> as_the_job{"--validate", "--output", directory};
  if (order.restart) as_the_job.insert(as_the_job.end(), {"--restart", "auto"});
  for (const auto& point : swept) (void)ask_application(owner, order, point, as_the_job, has_sweep);
  JobShape shape = shape_in(*queue);
  const auto checkpoints =
      checkpoints_of(ask_application(owner, order, swept.front(), {"--print-config"}, has_sweep));
  if (!checkpoints.interval)
    log::info("{} {} writes no checkpoints: a job that is killed or stopped begins anew",
              owner.application.name, owner.command);
  if (!order.no_plan) {
    const auto forecast =
        forecast_of(owner, order, swept, has_sweep, interesting_ranks(machine, order, shape_in));
    if (forecast) queue = &planned_queue(machine, order, *forecast, *queue, shape_in, checkpoints, shape);
  }
  const Job job{.name = job_name(stem),
                .directory = directory,
                .input = stem + ".yaml",
                .executable = owner.application.executable,
                .command = owner.command,
                .queue = queue->name,
                .shape = shape,
                .reservation = order.reservation,
                .retry_program = order.chain > 1 && is_on(machine.retry)
                                     ? fs::read_symlink("/proc/self/exe").string()
                                     : ""};
  const std::string script = script_text(machine, job);
  if (const auto idle = idle_remark(machine, *queue, shape)) log::warning("{}", *idle);
  if (order.dry_run) {
    std::fputs(script.c_str(), stdout);
    tell_remarks(machine);
    log::info("{} is a file of {} {}, {}: nothing was queued", order.file, owner.application.name,
              owner.command, cost_text(*queue, job.shape));
    return;
  }

  const Scheduler& scheduler = *reached;
  const auto lock = lock_directory(directory, "quintet submit");
  require_nothing_queued(directory, scheduler);
  if (!order.restart) require_no_run(directory, job);
  if (counts_user(machine, *queue))
    for (const auto& remark : check_user_limits(machine, *queue, shape, scheduler.jobs_of_user()))
      log::warning("{}", remark);
  JobRecord record{.machine = order.machine.find('/') == std::string::npos
                                  ? order.machine
                                  : fs::absolute(order.machine).lexically_normal().string(),
                   .name = job.name,
                   .queue = queue->name,
                   .application = owner.application.name,
                   .command = owner.command,
                   .input = job.input,
                   .date = date_text(),
                   .walltime = order.walltime,
                   .chain = order.chain};
  for (std::int64_t i = 0; i < n_points; ++i) {
    const auto& point = swept[i];
    const std::string folder = job.is_array() ? task_folder(i) : "";
    const fs::path run = fs::path(directory) / folder;
    const std::string staged = ask_application(owner, order, point, {"--print-config"}, has_sweep);
    fs::create_directories(run);
    forget_former_chain(run);
    write_text_file((run / job.input).string(), staged);
    record.points.push_back({folder, point});
  }
  write_text_file(directory + "/job.sh", script);
  write_ask(machine, job);
  queue_chain(scheduler, directory, record);
  log::info("Queued {} in {}: {} {}, {}", fmt::join(record.ids, ", "), queue->name, owner.application.name,
            owner.command, cost_text(*queue, job.shape));
  tell_remarks(machine);
  log::info("quintet status {}", directory);
}

}  // namespace quintet::commands
