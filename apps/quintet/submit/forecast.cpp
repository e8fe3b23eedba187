#include "apps/quintet/submit/forecast.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/quintet/plan/plan_row.hpp"
#include "apps/quintet/plan/text.hpp"
#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/config/units.hpp"

namespace quintet {
namespace {

/// Plans of memory are right within a tenth; what one misses ends a job.
constexpr double headroom = 1.25;
constexpr double grain_of_memory = 1e8;  ///< (B) requests are whole multiples: for people to read

/// Shapes of the job on other nodes: up to sixteen times as many, or with half or a quarter of the ranks of
/// each.
std::vector<JobShape> roomier(const MachineQueue& queue, const JobShape& job) {
  std::vector<JobShape> shapes;
  for (const std::int64_t times : {2, 4, 8, 16}) {
    JobShape more = job;
    more.nodes *= times;
    if (!queue.nodes_max || more.nodes <= *queue.nodes_max) shapes.push_back(more);
  }
  for (const std::int64_t part : {2, 4}) {
    JobShape fewer = job;
    fewer.ranks_per_node /= part;
    const bool shares_gpus = job.gpus_per_node > 0 && fewer.ranks_per_node % job.gpus_per_node != 0;
    if (fewer.ranks_per_node > 0 && !shares_gpus) shapes.push_back(fewer);
  }
  return shapes;
}

/// "--nodes 4"
std::string flag_of(const JobShape& changed, const JobShape& job) {
  return changed.nodes != job.nodes ? fmt::format("--nodes {}", changed.nodes)
                                    : fmt::format("--ranks-per-node {}", changed.ranks_per_node);
}

}  // namespace

Checkpoints checkpoints_of(const std::string& staged) {
  const Tree tree = parse_yaml(staged, "--print-config");
  const auto text = [&](const char* key) -> std::optional<std::string> {
    const Tree* found = tree.find(key);
    if (found == nullptr || !found->is_scalar() || found->is_null()) return std::nullopt;
    return found->as_text();
  };
  Checkpoints checkpoints;
  if (const auto interval = text("checkpoint_interval")) checkpoints.interval = to_number(*interval);
  if (const auto every = text("checkpoint_every")) checkpoints.every = parse_quantity(*every, "s");
  return checkpoints;
}

std::set<std::int64_t> ranks_of_interest(const MachineQueue& queue, const JobShape& job) {
  std::set<std::int64_t> ranks{job.ranks()};
  for (const auto& shape : roomier(queue, job)) ranks.insert(shape.ranks());
  return ranks;
}

const planning::StepCost* Forecast::row(const planning::CostModel& model, std::int64_t ranks) {
  const auto found = std::find_if(model.rows.begin(), model.rows.end(),
                                  [&](const planning::StepCost& one) { return one.ranks == ranks; });
  return found == model.rows.end() || found->impossible.starts_with("not known") ? nullptr : &*found;
}

std::string Forecast::impossible(std::int64_t ranks) const {
  for (const auto& model : models_)
    if (const auto* found = row(model, ranks); found != nullptr && !found->impossible.empty())
      return found->impossible;
  return "";
}

std::optional<double> Forecast::memory_of_rank(std::int64_t ranks) const {
  std::optional<double> most;
  for (const auto& model : models_) {
    const auto* found = row(model, ranks);
    if (found == nullptr || !found->impossible.empty()) return std::nullopt;
    most = std::max(most.value_or(0), found->memory);
  }
  return most;
}

std::optional<double> Forecast::memory_of_node(const MachineQueue& queue, const JobShape& job) const {
  const auto rank = memory_of_rank(job.ranks());
  if (!rank) return std::nullopt;
  const double planned = *rank * job.ranks_per_node;
  const double wanted = std::ceil(headroom * planned / grain_of_memory) * grain_of_memory;
  return queue.memory ? std::max(planned, std::min(wanted, *queue.memory)) : wanted;
}

std::string Forecast::what_helps(const Machine& machine, const MachineQueue& queue,
                                 const JobShape& job) const {
  std::vector<std::string> ways;
  for (const auto& shape : roomier(queue, job)) {
    const auto memory = memory_of_node(queue, shape);
    if (!memory || !queue.memory || *memory > *queue.memory) continue;
    const std::string flag = flag_of(shape, job);
    // the fewest nodes, the most ranks: others fit too
    if (!ways.empty() && ways.back().substr(0, 4) == flag.substr(0, 4)) continue;
    ways.push_back(fmt::format("{} ({} a node)", flag, bytes_text(*memory)));
  }
  const auto wanted = memory_of_node(queue, job);
  for (const auto& other : machine.queues)
    if (wanted && other.memory && *other.memory >= *wanted)
      ways.push_back(fmt::format("--queue {} ({} a node)", other.name, bytes_text(*other.memory)));
  return ways.empty() ? "By the plan no more nodes and no fewer ranks of each help: make the case smaller"
                      : fmt::format("By the plan it fits with {}", fmt::join(ways, ", or with "));
}

std::optional<Forecast::StepTime> Forecast::slowest(const Machine& machine, const JobShape& job,
                                                    std::optional<double> slower) const {
  StepTime most;
  for (const auto& model : models_) {
    const auto* found = row(model, job.ranks());
    if (found == nullptr || !found->impossible.empty() || !model.steps) return std::nullopt;
    if (model.engine.is_gpu) return std::nullopt;  // seconds of the GPU here
    const auto [step, links_known] = step_on(model, *found, machine, job.ranks_per_node, slower.value_or(1));
    // It was timed on one core. Of more in a rank only this is sure: they compute no faster than all
    // together.
    const double seconds = step.compute / job.threads + step.halo + step.sums;
    if (*model.steps * seconds > most.steps * most.seconds)
      most = {seconds, static_cast<double>(*model.steps), !links_known || job.threads > 1};
  }
  return most;
}

std::string Forecast::no_checkpoint(const Machine& machine, const JobShape& job, std::optional<double> slower,
                                    const Checkpoints& checkpoints) const {
  const double computes = job.walltime - job.margin;
  const auto step = slowest(machine, job, slower);
  if (!step || step->seconds <= 0 || !checkpoints.interval) return "";
  if (checkpoints.every && *checkpoints.every <= computes) return "";
  const double due = std::min(*checkpoints.interval, step->steps) * step->seconds;
  if (due <= computes) return "";
  constexpr double part = 8;  // of a job: what a kill may cost
  return fmt::format(
      "A job computes for {}, and its first checkpoint is due after {}{} by the plan: one that is killed "
      "begins "
      "anew. Give --set checkpoint_interval={:.0f}",
      hours_text(computes), step->is_bound ? "at least " : "", seconds_text(due),
      std::max(1.0, std::floor(computes / part / step->seconds)));
}

std::string Forecast::too_short(const Machine& machine, const JobShape& job,
                                std::optional<double> slower) const {
  constexpr double far = 1.5;  // of what a plan may be wrong by
  const double computes = job.walltime - job.margin;
  const auto step = slowest(machine, job, slower);
  if (!step) return "";
  const double most = step->steps * step->seconds;
  const bool is_bound = step->is_bound;
  if (most <= far * computes * job.chain) return "";
  const double links = std::ceil(most / computes);
  return fmt::format(
      "The plan says {}{}{}, and {} of {} compute for {}: {}give --chain {:.0f}, or a longer --walltime",
      is_bound ? "at least " : "", seconds_text(most),
      slower ? "" : " (a core there taken to be as fast as one here)",
      job.chain == 1 ? "one job" : fmt::format("{} jobs", job.chain), hours_text(job.walltime),
      hours_text(computes * job.chain), job.chain == 1 ? "it will stop with a checkpoint; " : "", links);
}

}  // namespace quintet
