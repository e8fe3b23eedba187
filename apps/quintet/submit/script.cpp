#include "apps/quintet/submit/script.hpp"

#include <fmt/ranges.h>

#include "apps/quintet/submit/scheduler.hpp"
#include "io/machine/launch_line.hpp"

namespace quintet {
namespace {

constexpr const char* before_program = R"sh(
# A link has nothing to do once the run has ended, and ends it where the one before began at the same checkpoint.
newest() { ls checkpoints 2> /dev/null | grep '^step_.*\.h5$' | tail -n 1; }
if [ -e job.ended ]; then echo "Nothing to do: $(cat job.ended)"; exit 0; fi
if [ -e job.began ] && [ "$(cat job.began)" = "at $(newest)" ]; then
  echo "no progress since the job before, at checkpoint '$(newest)'" | tee job.ended
  exit 1
fi
echo "at $(newest)" > job.began
)sh";

constexpr const char* while_program_runs = R"sh(program=$!
# Signals end here: hand them on to the ranks as USR1, at which they write a checkpoint and end with code 75.
trap 'asked=1; kill -USR1 $program 2> /dev/null' USR1 TERM
asked=1
while [ "$asked" ]; do asked=; wait $program; code=$?; done
)sh";

constexpr const char* after_program = R"sh(case $code in
  75) echo "stopped early with a checkpoint; the next job goes on" ;;
  0 | 1 | 2 | 3 | 4 | 70) echo "exit code $code" > job.ended ;;  # the program's last word
  *) echo "ended with code $code; the next job goes on from checkpoint '$(newest)'" ;;
esac
exit $code
)sh";

constexpr const char* remembers_variables =
    "declare -A had; for name in $(compgen -e); do had[$name]=${!name}; done\n";

// Open MPI's -x takes a variable of this script to ranks on other nodes; the launch line has the words.
constexpr const char* hands_variables_on =
    R"sh(# What modules and variables have set goes to ranks on other nodes, too.
QUINTET_HAND_ON=
for name in $(compgen -e); do
  case $name in
    PATH | LD_LIBRARY_PATH | OMP_* | QUINTET_*) ;;
    PWD | OLDPWD | SHLVL | _ | OMPI_* | PMI_* | PMIX_*) continue ;;
    *) if [ "${had[$name]-unset}" = "${!name}" ]; then continue; fi ;;
  esac
  QUINTET_HAND_ON+=" -x $name"
done
export QUINTET_HAND_ON
)sh";

}  // namespace

std::string environment_lines(const Machine& machine) {
  const auto& environment = machine.environment;
  const bool hands_on = machine.launch.command.find("{variables}") != std::string::npos;
  std::string lines = scheduler_of(machine).prelude;
  if (hands_on) lines += remembers_variables;
  if (!environment.init.empty()) lines += environment.init + "\n";
  if (!environment.modules.empty())
    lines += fmt::format("module load {}\n", fmt::join(environment.modules, " "));
  for (const auto& variable : environment.variables) lines += fmt::format("export {}\n", variable);
  if (hands_on) lines += hands_variables_on;
  return lines;
}

std::string waiting_lines() { return while_program_runs; }

std::string script_head(const Machine& machine, const Job& job) {
  const auto& shape = job.shape;
  std::string text = "#!/bin/bash\n";
  for (const auto& option : head_options(machine, job))
    text += scheduler_of(machine).directive + option + "\n";
  text += fmt::format("# {} for {}: {} node{} x {} rank{} x {} thread{}\n", job.name, machine.name,
                      shape.nodes, shape.nodes == 1 ? "" : "s", shape.ranks_per_node,
                      shape.ranks_per_node == 1 ? "" : "s", shape.threads, shape.threads == 1 ? "" : "s");
  return text;
}

std::string script_text(const Machine& machine, const Job& job) {
  const auto& row = scheduler_of(machine);
  const auto& shape = job.shape;
  std::string text = script_head(machine, job);
  text += "cd " + shell_word(job.directory);
  if (job.is_array()) text += fmt::format("/\"$(printf %04d \"${{{}:-0}}\")\"", row.task_variable);
  text += " || exit 1\nexec >> job.log 2>&1\n";
  text += environment_lines(machine);
  text += before_program;
  text += fmt::format("\n{} {} {} {} --output \"$PWD\" --restart auto \\\n  --walltime {} --threads {} &\n",
                      launch_line(machine.launch.command, shape), shell_word(job.executable), job.command,
                      shell_word(job.input), hours_text(shape.walltime - shape.margin), shape.threads);
  return text + waiting_lines() + after_program;
}

}  // namespace quintet
