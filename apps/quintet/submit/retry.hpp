#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/quintet/submit/job.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "io/config/schema_fwd.hpp"

namespace quintet {

/// Whether a chain asks for anything else after a job that had too little.
[[nodiscard]] bool is_on(const MachineRetry& retry);
/// Apply `quintet submit --retry` in place of the machine's file: "memory=2,walltime=1.5", "exclude=no",
/// "off"; "" leaves it. Throws UsageError.
void set_retry(MachineRetry& retry, const std::string& text);

/// Resources that the jobs of a chain ask for, and what was made of them; kept as .quintet/ask.yaml in their
/// directory.
struct JobAsk {
  Job job{};
  MachineRetry retry{};
  std::vector<std::string> dealt_with{};  ///< ids of jobs whose end has led to another ask
  std::vector<std::string> replaced{};    ///< ids of jobs in whose place others were queued
  std::vector<std::string> remarks{};     ///< what was asked for anew, and why
};
void describe(Schema& schema, JobAsk& ask);

/// Keep what is asked for. Throws InputError if the file cannot be written.
void write_ask(const Machine& machine, const Job& job);
void keep_ask(const JobAsk& ask);
/// Absent where jobs were queued by an older quintet, or by a campaign.
[[nodiscard]] std::optional<JobAsk> read_ask(const std::string& directory);

/// Resources that the next job asks for.
struct NextAsk {
  Job job{};
  std::string remark{};  ///< in a sentence: what is other and why, or why nothing is; "" if all is well
  bool asks_otherwise = false;  ///< than the job that ended
  bool needs_new_job = false;   ///< one that has what the old one had cannot go on
};
/// Resources to ask for after a job that ended like this: memory and walltime times the machine's factors,
/// within the limits of the queue, and without the nodes that failed. With `came_further` a job that reached
/// its time limit does not get more time.
[[nodiscard]] NextAsk next_ask(const Machine& machine, const JobAsk& ask, const JobState& ended,
                               const std::vector<std::string>& failed_nodes, bool came_further);

}  // namespace quintet
