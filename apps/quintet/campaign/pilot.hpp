#pragma once

#include <cstdint>
#include <string>

#include "apps/campaign/graph.hpp"
#include "apps/quintet/campaign/jobs.hpp"
#include "apps/quintet/submit/job.hpp"

namespace quintet::campaign {

/// Order given by `quintet campaign FILE --machine M --queue Q --pilot`, beside that of all jobs.
struct PilotOrder {
  std::int64_t jobs = 1;   ///< at once
  std::int64_t nodes = 1;  ///< of each
  double walltime = 0;     ///< (s); 0: what the queue gives those who do not ask, or its most
};

/// Queue jobs of whole nodes that take items from the store until their time is nearly over: a process of
/// `quintet campaign --pilot` on each node, with all its cores and GPUs as slots. Several such are at the
/// store at once, each item is one's; what a killed one had the others do. Each is queued `chain` times, one
/// after another. Throws InputError, before anything is queued, for an item that takes more than a node.
void queue_pilots(const Graph& graph, const JobsOrder& order, const PilotOrder& pilots);

/// The script of one.
[[nodiscard]] std::string pilot_script(const Machine& machine, const Job& job, const JobsOrder& order,
                                       const std::string& slots);

}  // namespace quintet::campaign
