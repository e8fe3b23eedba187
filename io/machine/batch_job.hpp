#pragma once

#include <optional>
#include <string>

namespace quintet {

/// State of the processes of a job, as its scheduler reports it.
enum class JobLife { runs, ended, unknown };

/// The job of a scheduler that this process belongs to, by its environment, as one text to compare and to ask
/// about: "slurm CLUSTER ID RESTARTS", "pbs SERVER ID 0". Nothing outside of jobs.
[[nodiscard]] std::optional<std::string> this_job();

/// Whether another job, named by its this_job(), still has processes: by the scheduler's own command, where
/// this process runs in a job of the same cluster. Unknown for anything but a clear answer.
[[nodiscard]] JobLife life_of_job(const std::string& job);

}  // namespace quintet
