#pragma once

#include "apps/application/cli/application.hpp"

/// The commands `quintet submit`, `status` and `cancel`.
namespace quintet::commands {

/// quintet submit FILE --machine M --nodes N --walltime T ...
void submit(const Application::Arguments& arguments);
/// quintet status [RUNDIR]
void status(const Application::Arguments& arguments);
/// quintet cancel [RUNDIR] [--now]
void cancel(const Application::Arguments& arguments);

/// Their flags.
[[nodiscard]] std::vector<Application::Flag> submit_flags();
[[nodiscard]] std::vector<Application::Flag> status_flags();
[[nodiscard]] std::vector<Application::Flag> cancel_flags();

}  // namespace quintet::commands
