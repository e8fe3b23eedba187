#pragma once

#include <cstdint>
#include <vector>

#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/training/training_options.hpp"

namespace quintet::sequence {

/// Weights before training, of the seed alone.
///
/// keras: W uniform within +-sqrt(6/(n_in + n_out)) (n_out = 4 units for an LSTM; Glorot and Bengio 2010), U
/// [units, 4 units] with orthonormal rows (Saxe et al. 2014), biases 0, those of forget gates 1 (Jozefowicz
/// et al. 2015). pytorch: an LSTM uniform within +-1/sqrt(units), its bias the sum of two such numbers; a
/// dense layer uniform within +-1/sqrt(n_in). With `zero_head` what the head adds up is 0: dense heads give
/// 0, an LSTM head gates of 1/2 and outputs of 0.
/// @return [n_parameters] in the order of the graph
[[nodiscard]] std::vector<double> start_parameters(const Graph& graph, Start start, bool zero_head,
                                                   std::uint64_t seed);

}  // namespace quintet::sequence
