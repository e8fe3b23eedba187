#include "apps/quintet/submit/script.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "apps/quintet/submit/scheduler.hpp"
#include "io/log/counted.hpp"
#include "io/machine/launch_line.hpp"

namespace quintet {
namespace {

constexpr const char* before_program = R"sh(
# A link has nothing to do once the run has ended, and ends it where the three before began at the same checkpoint.
newest() { ls checkpoints 2> /dev/null | grep '^step_.*\.h5$' | tail -n 1; }
word() { sed -n "s/^$1: //p" .quintet/last_word 2> /dev/null | head -n 1; }
# Of job.began: lines `START at CHECKPOINT`, and `START left` of one that found another at work.
starts_here() {
  cat job.began 2> /dev/null | awk -v now="$(newest)" '
    $2 == "at" { name[++n] = $1; at[$1] = $3 }
    $2 == "left" { delete at[$1] }
    END { for (; n > 0; n--) if (name[n] in at) { if (at[name[n]] != now) break; k++ } print k + 0 }'
}
# Launchers end with codes of their own: what counts is the last word of the program itself, of start $1.
heed() {
  mv -f ".quintet/last_word_$1" .quintet/last_word 2> /dev/null
  last= reason=
  if [ "$(word start)" = "$1" ]; then last=$(word code) reason=$(word reason); fi
  if [ "$last" ] && [ "$(word directory)" = "in use" ]; then last="in use"; fi
  case $last in 0 | 1 | 2 | 3 | 4 | 70) echo "exit code $last${reason:+: $reason}" > job.ended ;; esac
}
former=$(tail -n 1 job.began 2> /dev/null)
if [ "$former" ] && [ ! -e job.ended ]; then heed "${former%% *}"; fi  # the job before was killed while it ended
if [ -e job.ended ]; then echo "Nothing to do: $(cat job.ended)"; exit 0; fi
begin=$(newest) starts=$(starts_here)
)sh";

constexpr const char* if_it_may_start = R"sh(if [ "$starts" -ge 3 ]; then
  echo "no progress: $starts jobs began at checkpoint '$begin' and came no further" | tee job.ended
  exit 1
fi
if [ "$starts" -gt 0 ]; then echo "The job before came no further than checkpoint '$begin': try $((starts + 1)) of 3"; fi
mkdir -p .quintet
export QUINTET_START="$(date +%s)_$$_$RANDOM"
echo "$QUINTET_START at $begin" >> job.began
)sh";

constexpr const char* before_start = R"sh(
# Signals end here: hand them on to the ranks as USR1, at which they write a checkpoint and end with code 75.
program= asked=
trap 'asked=1; kill -USR1 $program 2> /dev/null' USR1 TERM HUP
)sh";

constexpr const char* after_start = R"sh(program=$!
if [ "$asked" ]; then kill -USR1 $program 2> /dev/null; fi  # a signal came before there was whom to tell
asked=1
while [ "$asked" ]; do asked=; wait $program; code=$?; done
)sh";

constexpr const char* after_program = R"sh(heed "$QUINTET_START"
case $last in
  "in use")
    echo "$QUINTET_START left" >> job.began
    echo "another run has this directory, which this job leaves alone"
    exit 0 ;;
  75)
    if [[ $reason == walltime* && "$(newest)" == "$begin" ]]; then
      echo "no progress: began and ended at checkpoint '$begin', as the $reason" | tee job.ended
      exit 1
    fi
    if [ "$(newest)" ]; then with=with next="goes on"; else with=without next="begins anew"; fi
    echo "stopped early $with a checkpoint${reason:+ ($reason)}; the next job $next"
    exit 0 ;;
  0 | 1 | 2 | 3 | 4 | 70) exit "$last" ;;
esac
echo "no last word (code $code of the launcher); the next job goes on from checkpoint '$(newest)'"
[ "$code" -ne 0 ] || code=1
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

std::string waiting_lines(const std::string& command) {
  return before_start + command + " &\n" + after_start;
}

std::string patience_lines(const Machine& machine, double margin) {
  constexpr double usual = 30;
  const auto& command = machine.launch.command;
  if (command.find("mpirun") == std::string::npos && command.find("mpiexec") == std::string::npos) return "";
  // It waits so long whether or not its ranks have ended meanwhile, and itself ends some two seconds later.
  // After ranks that end with another code than 0 it waits twice, which the margin must hold.
  const double allowed = std::min(machine.stop.grace.value_or(usual), usual) - 3;
  const double seconds = std::max(1.0, std::floor(std::min(allowed, margin / 4)));
  return fmt::format(
      "# mpirun kills its ranks so many seconds after it has told them to end: time for a checkpoint.\n"
      "export OMPI_MCA_odls_base_sigkill_timeout={0:.0f} PRTE_MCA_odls_base_sigkill_timeout={0:.0f}\n",
      seconds);
}

/// A chain whose last job had too little goes on with jobs that ask for more, queued by this one.
std::string retry_lines(const Machine& machine, const Job& job) {
  if (job.retry_program.empty()) return "";
  return fmt::format(
      "# Had the job before too little memory or time, or a node that failed? Then others are queued for "
      "this one.\n"
      "if [ \"$({} retry {} --job \"{}\" --starts \"$starts\")\" = replaced ]; then\n"
      "  echo \"other jobs take the place of this one\"\n  rm -f job.began\n  exit 0\nfi\n",
      shell_word(job.retry_program), shell_word(job.directory), scheduler_of(machine).job_variables);
}

std::string script_head(const Machine& machine, const Job& job) {
  const auto& shape = job.shape;
  std::string text = "#!/bin/bash\n";
  for (const auto& option : head_options(machine, job))
    text += scheduler_of(machine).directive + option + "\n";
  text += fmt::format("# {} for {}: {} x {} x {}\n", job.name, machine.name, counted(shape.nodes, "node"),
                      counted(shape.ranks_per_node, "rank"), counted(shape.threads, "thread"));
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
  text += patience_lines(machine, shape.margin);
  text += before_program;
  text += retry_lines(machine, job);
  text += if_it_may_start;
  return text +
         waiting_lines(
             fmt::format("{} {} {} {} --output \"$PWD\" --restart auto \\\n  --walltime {} --threads {}",
                         launch_line(machine.launch.command, shape), shell_word(job.executable), job.command,
                         shell_word(job.input), hours_text(shape.walltime - shape.margin), shape.threads)) +
         after_program;
}

}  // namespace quintet
