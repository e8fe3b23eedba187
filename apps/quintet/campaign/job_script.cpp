#include "apps/quintet/campaign/job_script.hpp"

#include <fmt/format.h>

#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/script.hpp"

namespace quintet::campaign {

std::string task_script(const Machine& machine, const Job& job, const TaskOrder& order) {
  const std::string task = fmt::format("${{{}:-0}}", scheduler_of(machine).task_variable);
  std::string text = script_head(machine, job);
  text += "# " + order.about + "\n";
  text += fmt::format("cd {} || exit 1\n", shell_word(job.directory));
  text += fmt::format("exec >> \"$(printf task_%04d.log \"{}\")\" 2>&1\n", task);
  text += environment_lines(machine);
  text += patience_lines(machine, job.shape.margin);
  text += fmt::format(
      "\n# A line of `items` for each task: the keys of what it runs.\n"
      "keys=$(sed -n \"$(({} + 1))p\" items)\n",
      task);
  const auto command = fmt::format(
      "{} campaign {} --output {} \\\n  --machine {} --path {} \\\n  --items \"$keys\" --walltime {}",
      shell_word(job.executable), shell_word(order.file), shell_word(order.directory),
      shell_word(order.machine), shell_word(order.path), hours_text(job.shape.walltime - job.shape.margin));
  return text + waiting_lines(command) + "exit $code\n";
}

}  // namespace quintet::campaign
