#include "apps/meshfreeflow/train/stage.hpp"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

#include "io/tiers/ledger.hpp"
#include "surrogates/flow/training/step_needs.hpp"

namespace quintet::meshfreeflow {

planning::Division division_of(const TrainOptions& options, const flow::FlowModelHeader& header) {
  auto division = division_of(options.parallel, options.offload,
                              flow::network_needs(header, options.parallel, options.tile).units,
                              sizeof(float), n_states(options.optimiser));
  division.low_bytes = options.precision.splits() ? sizeof(std::int16_t) : 0;
  return division;
}

std::string tiles_in_words(const Comm& comm, const TrainOptions& options, const ParallelOptions& parallel,
                           const flow::FlowModelHeader& header) {
  std::string layers;
  for (const auto& [layer, n] : options.tile)
    if (n > 1) layers += fmt::format("{}{} in {:g} tiles", layers.empty() ? "" : ", ", layer, n);
  if (layers.empty()) return "";
  const auto largest = [](const flow::NetworkNeeds& needs) {
    double most = 0;
    for (const auto& unit : needs.units) most = std::max(most, unit.n);
    return most;
  };
  const auto with = flow::network_needs(header, parallel, options.tile),
             without = flow::network_needs(header, parallel);
  const auto size = [](double numbers) { return text_of_bytes(sizeof(float) * numbers); };
  const bool has_all = !options.precision.splits() && (comm.size() == 1 || parallel.zero_stage() < 2);
  return fmt::format(
      "{}: the largest unit begins with '{}' and has {}, without tiles '{}' and {}{}", layers,
      with.largest_unit, size(largest(with)), without.largest_unit, size(largest(without)),
      has_all
          ? "; values and gradients of all units are in memory here, so that tiles save working memory alone"
      : largest(with) < largest(without) ? ""
                                         : "; tiles gain nothing: it is no smaller");
}

std::int64_t points_of_rows(const TrainOptions& options) {
  const auto& crop = options.data.crop;
  return options.loss.spectral > 0 ? options.loss.spectral_rows * std::max(crop[1], crop[2]) : 0;
}

double activation_bytes(const networks::ChainDescription& chain, const TrainOptions& options, int n_crops,
                        bool computes_here) {
  double nodes = 0, rows = 0;
  for (const auto& block : chain.blocks)
    (block.name.starts_with("decoder ") ? rows : nodes) += block.kept_bytes;
  const double points =
      static_cast<double>(options.data.points + points_of_rows(options)) * 8;  // rows: nodes of a point
  // On the host as measured (docs/measured.md): derivatives go through the rows one after the other. There
  // with all channels at once.
  const double all =
      computes_here ? n_crops * (1.25 * nodes + 1.2 * points * rows) : n_crops * (nodes + 6 * points * rows);
  return options.memory.activations ? std::min(all, 1e6 * *options.memory.activations) : all;
}

double memory_besides(const networks::ChainDescription& chain, double activations) {
  return activations + 4 * 4 * static_cast<double>(chain.total().parameters);
}

PlannedArrays planned_arrays(const Comm& comm, const TrainOptions& options, const ParallelOptions& parallel,
                             const flow::FlowModelHeader& header) {
  return {flow::network_needs(header, parallel, options.tile).units,
          sizeof(float),
          options.optimiser,
          comm.size(),
          parallel,
          options.offload,
          options.precision};
}

ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                                  const flow::FlowModelHeader& header) {
  return stage_in_force(comm, options.parallel, [&]() -> StageNeeds {
    const int most_crops = (options.batch + comm.size() - 1) / comm.size();
    const auto chain = flow::network_needs(header, options.parallel).chain;
    const bool computes_here = device.device() != Device::gpu;
    const double activations = activation_bytes(chain, options, most_crops, computes_here);
    StageNeeds needs{division_of(options, header), memory_besides(chain, computes_here ? activations : 0),
                     "fewer crops a batch"};
    if (!device.is_cpu())
      needs.there = {device, planned_arrays(comm, options, options.parallel, header),
                     computes_here ? 0 : memory_besides(chain, activations)};
    return needs;
  });
}

}  // namespace quintet::meshfreeflow
