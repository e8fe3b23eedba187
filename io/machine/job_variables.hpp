#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/machine/command.hpp"

/// Variables of the environment that speak of the job or the launcher that this process is in.
namespace quintet {

/// Whether a variable ("NAME" or "NAME=value") is how an MPI launcher speaks to its processes; those that
/// users set are not.
[[nodiscard]] bool is_of_launcher(std::string_view variable);

/// Whether a variable ("NAME" or "NAME=value") describes a job or its launcher (the shell that asks may run
/// in one), or sets options of a scheduler's commands. Such options override the head of a script and change
/// answers. Variables that say where the scheduler is do not count.
[[nodiscard]] bool is_of_a_job(std::string_view variable);

/// Run a command of a scheduler without the variables that is_of_a_job() knows, as run_command() does.
[[nodiscard]] CommandResult ask_scheduler(const std::vector<std::string>& words, double limit_s);

}  // namespace quintet
