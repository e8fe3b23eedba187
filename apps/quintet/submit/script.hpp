#pragma once

#include <string>

#include "apps/quintet/submit/job.hpp"

namespace quintet {

/// The job script: bash, the same for every link of a chain and every task of an array.
///
/// It changes to the run's folder and appends to job.log there. A link does nothing if the run has ended
/// (job.ended), and ends it if the three before all began at the same checkpoint: then no progress is made.
/// The program stops by itself `margin` before the limit; USR1, TERM or HUP to the script becomes USR1 to the
/// launcher, which mpirun and srun hand on to all ranks. What comes next follows from the program's last word
/// (LastWord) alone, since launchers have exit codes of their own: stopped early, the script ends with 0 and
/// the next link goes on; any other word ends the run; without one (a rank or the launcher was killed, a node
/// was lost) the next link goes on from the newest checkpoint. A link that finds another run at work leaves
/// no trace.
[[nodiscard]] std::string script_text(const Machine& machine, const Job& job);

/// The head of a script: bash, the scheduler's options, a comment on what it is for.
[[nodiscard]] std::string script_head(const Machine& machine, const Job& job);
/// Lines that prepare the environment, by the machine's file. Where its launch line has {variables}, they end
/// with what these stand for: a -x NAME for each variable that ranks on other nodes must have.
[[nodiscard]] std::string environment_lines(const Machine& machine);
/// Lines that give ranks of mpirun the time that the scheduler gives the job between SIGTERM and SIGKILL,
/// and at most a quarter of the `margin` (s).
[[nodiscard]] std::string patience_lines(const Machine& machine, double margin);
/// Lines that start a command in the background and wait for it, handing signals on to it; its exit code is
/// in $code then.
[[nodiscard]] std::string waiting_lines(const std::string& command);

}  // namespace quintet
