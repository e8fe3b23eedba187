#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "io/config/schema_fwd.hpp"

/// The commands `quintet submit`, `status` and `cancel`, and `retry` for the scripts of jobs.
namespace quintet::commands {

/// Words of `quintet submit`: `file` by place. What counts or measures is text, so that mistakes are of
/// usage.
struct SubmitFlags {
  std::string file, machine, walltime;
  std::optional<std::string> nodes, ranks_per_node, threads, gpus_per_node, memory, queue, account, chain,
      margin, output, restart, application, command, reservation, retry;
  std::vector<std::string> settings;
  bool dry_run = false, no_plan = false;
};
void describe(Schema& schema, SubmitFlags& flags);
/// quintet submit FILE --machine M --nodes N --walltime T ...
void submit(const SubmitFlags& flags);
/// quintet status [RUNDIR]
void status(const Application::Arguments& arguments);
/// quintet cancel [RUNDIR] [--now]
void cancel(const Application::Arguments& arguments);
/// quintet retry RUNDIR --job ID [--starts N]: where the job before had too little, jobs that ask for more
/// are queued for the rest of the chain; says "replaced" where the one that asks has nothing left to do.
void retry(const Application::Arguments& arguments);

/// Their flags.
[[nodiscard]] std::vector<Application::Flag> status_flags();
[[nodiscard]] std::vector<Application::Flag> cancel_flags();
[[nodiscard]] std::vector<Application::Flag> retry_flags();

}  // namespace quintet::commands
