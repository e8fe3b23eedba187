#pragma once

#include "apps/application/cli/application.hpp"

/// The commands `quintet submit`, `status` and `cancel`, and `retry` for the scripts of jobs.
namespace quintet::commands {

/// quintet submit FILE --machine M --nodes N --walltime T ...
void submit(const Application::Arguments& arguments);
/// quintet status [RUNDIR]
void status(const Application::Arguments& arguments);
/// quintet cancel [RUNDIR] [--now]
void cancel(const Application::Arguments& arguments);
/// quintet retry RUNDIR --job ID [--starts N]: where the job before had too little, jobs that ask for more
/// are queued for the rest of the chain; says "replaced" where the one that asks has nothing left to do.
void retry(const Application::Arguments& arguments);

/// Their flags.
[[nodiscard]] std::vector<Application::Flag> submit_flags();
[[nodiscard]] std::vector<Application::Flag> status_flags();
[[nodiscard]] std::vector<Application::Flag> cancel_flags();
[[nodiscard]] std::vector<Application::Flag> retry_flags();

}  // namespace quintet::commands
