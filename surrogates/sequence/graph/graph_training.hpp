#pragma once

#include <cstdint>
#include <memory>

#include "surrogates/sequence/graph/graph_network.hpp"
#include "surrogates/sequence/training/training.hpp"

namespace quintet::sequence {

/// A Trainer of a graph network: Adam on shuffled batches, nodes of each window shared out over ranks.
///
/// The loss of training is that of the field at the nodes, weighted by area (GraphPasses); that of
/// validation, by which the best epoch is chosen, is the mean squared error of the coefficients, as of
/// recurrent networks. Each rank adds up its part of a batch's gradient over the windows, and ranks sum parts
/// once a batch. On one rank a training is the same bit for bit, also one that goes on from a state; on
/// n ranks it is that of one to round-off. Weights are on all ranks. Collective.
///
/// Throws InputError for windows that do not fit the network or hold no numbers and as GraphPasses,
/// NumericalError, on all ranks, where a loss is not finite.
[[nodiscard]] Trainer graph_trainer(const Comm& comm, std::shared_ptr<const GraphNetwork> network,
                                    const SequenceData& training, const SequenceData& validation,
                                    const TrainingOptions& options, std::uint64_t seed);

}  // namespace quintet::sequence
