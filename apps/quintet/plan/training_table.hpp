#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/machine/machine.hpp"
#include "surrogates/planning/strategy.hpp"

namespace quintet {

/// The table of strategies for a training on each number of ranks: time of a step, what a rank sends and
/// holds, why one is impossible; the choice; then what stages of ZeRO would hold and send, from `first_stage`
/// on: those before it are rows of the plan, as the trainer runs them.
[[nodiscard]] std::string strategies_text(const planning::Job& job, const Machine& machine,
                                          const std::vector<std::int64_t>& ranks, std::int64_t threads,
                                          double slower, std::size_t first_stage);

}  // namespace quintet
