#pragma once

#include <string>
#include <vector>

#include "apps/quintet/submit/scheduler.hpp"
#include "io/machine/rules.hpp"

namespace quintet {

/// Whether the machine's file has a limit that depends on what else the user has in its queues.
[[nodiscard]] bool counts_user(const Machine& machine, const MachineQueue& queue);

/// The job beside what its user has queued and running already. Throws InputError with the limit's name if
/// there would be more jobs than may wait and run. Returns a sentence for each limit of what runs at once
/// (jobs, nodes, GPUs) for which the job will have to wait.
[[nodiscard]] std::vector<std::string> check_user_limits(const Machine& machine, const MachineQueue& queue,
                                                         const JobShape& job,
                                                         const std::vector<QueuedJob>& others);

}  // namespace quintet
