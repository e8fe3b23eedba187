#include "apps/meshfreeflow/train/stage.hpp"

#include <algorithm>
#include <cstdint>

#include "surrogates/flow/training/step_needs.hpp"

namespace quintet::meshfreeflow {

planning::Division division_of(const TrainOptions& options, const flow::FlowModelHeader& header) {
  const auto units = flow::network_needs(header, options.parallel).units;
  auto division = division_of(options.parallel, options.offload, {units.begin(), units.end()}, sizeof(float),
                              n_states(options.optimiser));
  division.low_bytes = options.precision.splits() ? sizeof(std::int16_t) : 0;
  return division;
}

double activation_bytes(const networks::ChainDescription& chain, const TrainOptions& options, int n_crops) {
  double nodes = 0, rows = 0;
  for (const auto& block : chain.blocks)
    (block.name.starts_with("decoder ") ? rows : nodes) += static_cast<double>(block.kept_bytes);
  const double points = static_cast<double>(options.data.points) * 8 * 6;  // nodes of a point, channels
  const double all = n_crops * (nodes + points * rows);
  return options.memory.activations ? std::min(all, 1e6 * *options.memory.activations) : all;
}

double memory_besides(const networks::ChainDescription& chain, double activations) {
  return activations + 4 * 4 * static_cast<double>(chain.total().parameters);
}

ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options,
                                  const flow::FlowModelHeader& header) {
  return stage_in_force(comm, options.parallel, [&]() -> StageNeeds {
    const int most_crops = (options.batch + comm.size() - 1) / comm.size();
    const auto chain = flow::network_needs(header, options.parallel).chain;
    return {division_of(options, header), memory_besides(chain, activation_bytes(chain, options, most_crops)),
            "fewer crops a batch"};
  });
}

}  // namespace quintet::meshfreeflow
