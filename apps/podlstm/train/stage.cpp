#include "apps/podlstm/train/stage.hpp"

#include <cstddef>

namespace quintet::podlstm {

namespace {

std::size_t bytes_of_number(const TrainOptions& options) {
  return options.forecast.training.precision == sequence::Precision::float64 ? sizeof(double) : sizeof(float);
}

}  // namespace

planning::Division division_of(const TrainOptions& options, const sequence::Graph& graph) {
  auto division =
      division_of(options.parallel, options.offload, {double(graph.n_parameters)}, bytes_of_number(options),
                  n_states(sequence::optimiser_of(options.forecast.training)));
  division.most_stage = 2;  // sequence::trainer_traits
  return division;
}

double memory_besides(const TrainOptions& options, const sequence::TrainingSet& set,
                      const sequence::Graph& graph) {
  const double number = bytes_of_number(options);
  const double parameters = graph.n_parameters;
  const double windows = double(set.training_inputs.size()) + double(set.training_targets.size()) +
                         double(set.validation_inputs.size()) + 2 * double(set.validation_targets.size());
  constexpr double block = 32, kept = 8;  // windows at once; numbers of a step and unit: gates, states, bars
  double widths = 0;
  for (const auto& operation : graph.operations) widths += operation.n_out;
  return (sizeof(double) + number) * windows + (1 + 2) * number * parameters +
         kept * number * block * set.model.shape.in * widths + 4 * sizeof(double) * parameters;
}

PlannedArrays planned_arrays(const Comm& comm, const TrainOptions& options, const ParallelOptions& parallel,
                             const sequence::TrainingSet& set) {
  return {{double(graph_of(architecture_for(set.model, options.forecast.network)).n_parameters)},
          bytes_of_number(options),
          sequence::optimiser_of(options.forecast.training),
          parallel.strategy == ParallelStrategy::members ? 1 : comm.size(),
          parallel,
          options.offload};
}

ParallelInForce parallel_in_force(const Comm& comm, const TrainOptions& options, const DeviceSession& device,
                                  const sequence::TrainingSet& set) {
  if (options.forecast.network.is_graph()) return {options.parallel, ""};  // ranks share out nodes alone
  return stage_in_force(comm, options.parallel, [&]() -> StageNeeds {
    const auto graph = graph_of(architecture_for(set.model, options.forecast.network));
    StageNeeds needs{division_of(options, graph), memory_besides(options, set, graph), "narrower networks"};
    if (!device.is_cpu()) needs.there = {device, planned_arrays(comm, options, options.parallel, set)};
    return needs;
  });
}

}  // namespace quintet::podlstm
