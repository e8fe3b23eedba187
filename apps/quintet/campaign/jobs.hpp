#pragma once

#include <cstdint>
#include <string>

#include "apps/campaign/graph.hpp"

namespace quintet::campaign {

/// Order given by `quintet campaign FILE --machine M`.
struct JobsOrder {
  std::string file, directory;                ///< absolute
  std::string machine, account, queue, path;  ///< path: where programs were looked for
  std::int64_t chain = 1;
  bool dry_run = false;
};

/// Queue all that is not in the store: a job array for each stage (of each round), to begin when the arrays
/// of the stages before it have ended, whatever came of them; where tasks of two arrays correspond, one by
/// one, and the scheduler can order them, each when its own has ended well. A task runs its items by `quintet
/// campaign --items`, which looks in the store for what they need, so that what failed stops what depends on
/// it and nothing else. Each array is queued `chain` times: items that stopped with a checkpoint go on in the
/// next.
///
/// With dry_run the scripts are printed. Throws InputError, before anything is queued, for what no queue
/// takes, and if jobs of this campaign wait or run.
void queue_campaign(const Graph& graph, const JobsOrder& order);

}  // namespace quintet::campaign
