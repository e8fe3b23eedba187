#include "apps/application/training/stage_in_force.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "apps/application/life/memory.hpp"
#include "apps/application/training/stage_on_device.hpp"
#include "io/config/schema.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet {

namespace {

std::string text(double bytes) { return text_of_bytes(bytes); }

/// "parallel.stage: 1 (3.1 GB), offload.optimiser: file (2.9 GB)": what takes less than `needed`, or "".
std::string what_helps(const planning::Division& division, int stage, int n_ranks, int per_holder,
                       double besides, double needed) {
  std::string help;
  const auto add = [&](const std::string& key, double bytes) {
    if (besides + bytes < 0.98 * needed)
      help += fmt::format("{}{} ({})", help.empty() ? "" : ", ", key, text(besides + bytes));
  };
  for (const auto& row : planning::stages(division))
    if (row.value > stage && n_ranks > 1)
      add(fmt::format("parallel.{}", row.yaml),
          planning::rank_bytes(division, row, n_ranks, per_holder).host());
  if (!division.states_place.in_file) {
    auto elsewhere = division;
    elsewhere.states_place = {.in_file = true};
    const auto& row = planning::stages()[stage];
    add("offload.optimiser: file", planning::rank_bytes(elsewhere, row, n_ranks, per_holder).host());
  }
  return help;
}

/// Whether a given stage fits.
/// @param team ranks that train together
void check_fits(const Comm& comm, const StageNeeds& of, int team, int stage, int per_holder, double share) {
  const auto& row = planning::stages()[stage];
  const auto bytes = planning::rank_bytes(of.division, row, team, per_holder);
  const double needed = comm.maximum(of.besides + bytes.host());
  if (needed <= share) return;
  const auto help = what_helps(of.division, stage, team, per_holder, of.besides, needed);
  throw ResourceError(fmt::format(
      "Not enough memory to train: {} of values, {} of gradients, {} of states and {} besides "
      "are {} on each of "
      "{}, which may take {}. {}More nodes, fewer ranks per node or {} would help, too",
      text(bytes.parameters), text(bytes.gradients), text(bytes.optimiser),
      text(of.besides + bytes.workspace + bytes.staging), text(needed), counted(comm.size(), "rank"),
      text(share), help.empty() ? "" : "It takes less with " + help + ". ", of.less));
}

std::optional<double> bytes_of(const std::optional<double>& megabytes) {
  return megabytes ? std::optional(std::floor(1e6 * *megabytes)) : std::nullopt;
}

}  // namespace

planning::Division division_of(const ParallelOptions& parallel, const OffloadOptions& offload,
                               std::vector<UnitSize> units, std::size_t bytes_per_number, int n_states) {
  planning::Division division{.units = std::move(units),
                              .bytes_per_number = double(bytes_per_number),
                              .states = double(n_states),
                              .shares_node = parallel.holder == Holder::node,
                              .overlaps = parallel.progress == Progress::blocks};
  if (parallel.memory) division.memory = 1e9 * *parallel.memory;
  division.states_place = {offload.optimiser == OffloadKind::file, bytes_of(offload.budget.host),
                           bytes_of(offload.budget.file), offload.delayed_update.has_value()};
  return division;
}

ParallelInForce stage_in_force(const Comm& comm, const ParallelOptions& parallel,
                               const std::function<StageNeeds()>& needs,
                               const std::optional<RankMemory>& may_take) {
  const StageNeeds of = needs();
  RankMemory free = may_take.value_or(RankMemory{memory_of_a_rank(comm)});
  if (!may_take && of.are_there()) free.device = of.there->session.memory_of_a_rank();
  if (const auto& most = of.division.memory) {  // of the memory where the arrays are
    double& where = of.are_there() && of.there->session.device() == Device::gpu ? free.device : free.host;
    where = std::min(where, *most);
  }
  if (of.are_there()) return stage_on_device(comm, parallel, of, free);
  const int node = comm.minimum(comm.node_size()) == comm.maximum(comm.node_size()) ? comm.node_size() : 1;
  const int team = parallel.strategy == ParallelStrategy::members ? 1 : comm.size();
  const int per_holder = of.division.per_holder(team, node);
  const double share = free.host;
  if (parallel.strategy != ParallelStrategy::automatic) {
    check_fits(comm, of, team, team == 1 ? 0 : parallel.zero_stage(), per_holder, share);
    return {parallel, ""};
  }
  const auto choice = planning::choose_stage(of.division, comm.size(), per_holder, of.besides, share);
  if (choice.stage == nullptr) {
    auto in_file = of.division;
    in_file.states_place = {.in_file = true};
    const auto other = planning::choose_stage(in_file, comm.size(), per_holder, of.besides, share).stage;
    throw ResourceError(fmt::format(
        "parallel.strategy: auto finds no stage that fits: on each of {} {}. {}Use more nodes, {}{} or "
        "a smaller model",
        counted(comm.size(), "rank"), choice.reason,
        other && !of.division.states_place.in_file
            ? fmt::format("With offload.optimiser: file, {} would fit. ", other->yaml)
            : "",
        parallel.holder == Holder::rank && node > 1 ? "holder: node, " : "fewer ranks per node, ", of.less));
  }
  return {parallel.at_stage(choice.stage->value), fmt::format("{} ({})", choice.stage->yaml, choice.reason)};
}

}  // namespace quintet
