#include "apps/meshfreeflow/train/stage.hpp"

#include <algorithm>
#include <limits>

#include "apps/application/life/memory.hpp"
#include "io/log/error.hpp"
#include "surrogates/flow/training/step_needs.hpp"

namespace quintet::meshfreeflow {

planning::Division division_of(const TrainOptions& options, const flow::FlowModelHeader& header) {
  const auto units = flow::network_needs(header, options.parallel).units;
  planning::Division division{.units = {units.begin(), units.end()},
                              .bytes_per_number = sizeof(float),
                              .states = double(n_states(options.optimiser)),
                              .shares_node = options.parallel.holder == Holder::node,
                              .overlaps = options.parallel.progress == Progress::blocks};
  if (options.parallel.memory) division.memory = 1e9 * *options.parallel.memory;
  return division;
}

double memory_besides(const networks::ChainDescription& chain, const TrainOptions& options, int n_crops) {
  double nodes = 0, rows = 0;
  for (const auto& block : chain.blocks)
    (block.name.starts_with("decoder ") ? rows : nodes) += static_cast<double>(block.kept_bytes);
  const double points = static_cast<double>(options.data.points) * 8 * 6;  // nodes of a point, channels
  return n_crops * (nodes + points * rows) + 4 * 4 * static_cast<double>(chain.total().parameters);
}

ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options,
                                  const flow::FlowModelHeader& header) {
  if (options.parallel.strategy != ParallelStrategy::automatic) return {options.parallel, ""};
  const auto division = division_of(options, header);
  const int node = comm.minimum(comm.node_size()) == comm.maximum(comm.node_size()) ? comm.node_size() : 1;
  const int most_crops = (options.batch + comm.size() - 1) / comm.size();
  const auto chain = flow::network_needs(header, options.parallel).chain;
  const double share =
      std::min(memory_of_a_rank(comm), division.memory.value_or(std::numeric_limits<double>::infinity()));
  const auto choice = planning::choose_stage(division, comm.size(), division.per_holder(comm.size(), node),
                                             memory_besides(chain, options, most_crops), share);
  if (choice.stage == nullptr)
    throw ResourceError(fmt::format(
        "parallel.strategy: auto finds no stage that fits: on each of {} ranks {}. Use more nodes, {}fewer "
        "crops a batch or a smaller model",
        comm.size(), choice.reason,
        options.parallel.holder == Holder::rank && node > 1 ? "holder: node, " : "fewer ranks per node, "));
  return {options.parallel.at_stage(choice.stage->value),
          fmt::format("{} ({})", choice.stage->yaml, choice.reason)};
}

}  // namespace quintet::meshfreeflow
