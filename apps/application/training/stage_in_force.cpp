#include "apps/application/training/stage_in_force.hpp"

#include <algorithm>
#include <limits>

#include "apps/application/life/memory.hpp"
#include "io/log/error.hpp"

namespace quintet {

planning::Division division_of(const ParallelOptions& parallel, std::vector<double> units,
                               std::size_t bytes_per_number, int n_states) {
  planning::Division division{.units = std::move(units),
                              .bytes_per_number = double(bytes_per_number),
                              .states = double(n_states),
                              .shares_node = parallel.holder == Holder::node,
                              .overlaps = parallel.progress == Progress::blocks};
  if (parallel.memory) division.memory = 1e9 * *parallel.memory;
  return division;
}

ParallelInForce stage_in_force(const Comm& comm, const ParallelOptions& parallel,
                               const std::function<StageNeeds()>& needs) {
  if (parallel.strategy != ParallelStrategy::automatic) return {parallel, ""};
  const StageNeeds of = needs();
  const int node = comm.minimum(comm.node_size()) == comm.maximum(comm.node_size()) ? comm.node_size() : 1;
  const double share =
      std::min(memory_of_a_rank(comm), of.division.memory.value_or(std::numeric_limits<double>::infinity()));
  const auto choice = planning::choose_stage(of.division, comm.size(),
                                             of.division.per_holder(comm.size(), node), of.besides, share);
  if (choice.stage == nullptr)
    throw ResourceError(fmt::format(
        "parallel.strategy: auto finds no stage that fits: on each of {} ranks {}. Use more nodes, {}{} or "
        "a smaller model",
        comm.size(), choice.reason,
        parallel.holder == Holder::rank && node > 1 ? "holder: node, " : "fewer ranks per node, ", of.less));
  return {parallel.at_stage(choice.stage->value), fmt::format("{} ({})", choice.stage->yaml, choice.reason)};
}

}  // namespace quintet
