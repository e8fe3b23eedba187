#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "apps/quintet/campaign/jobs.hpp"
#include "io/machine/machine.hpp"
#include "io/machine/rules.hpp"

namespace quintet::campaign {

/// Items of one stage (of one round) that are queued as one array.
struct Group {
  std::string
      name;  ///< "training", "training.1" of a round, with bucket and part behind it if there are several
  std::size_t stage = 0;
  std::vector<std::vector<std::size_t>> tasks;  ///< items of each
  std::map<std::size_t, bool> after{};          ///< groups, and whether each task waits for its own of it
  const MachineQueue* queue = nullptr;
  JobShape shape{};
};

/// Groups of the remaining items, as arrays that the machine takes, each after those that it waits for. They
/// are formed by stage (and round) and by buckets of cost; items killed for memory, which ask for more, are
/// apart. Throws InputError for a stage without a walltime, and for a group that no queue takes.
[[nodiscard]] std::vector<Group> grouped(const Graph& graph, const Machine& machine, const JobsOrder& order);

}  // namespace quintet::campaign
