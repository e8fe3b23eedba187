#pragma once

#include <string>

#include "apps/quintet/submit/job.hpp"

namespace quintet::campaign {

/// Order for the tasks of a job array.
struct TaskOrder {
  std::string file, directory, machine;  ///< of the campaign
  std::string path;   ///< PATH where it was queued: programs are those that were found there
  std::string about;  ///< a line of comment
};

/// The script of a job array (or of one job): each task runs the items that its line of the file `items` in
/// the job's folder names, by `quintet campaign --items`, and stops them with a checkpoint `margin` before
/// its limit. USR1 and TERM are handed on.
[[nodiscard]] std::string task_script(const Machine& machine, const Job& job, const TaskOrder& order);

}  // namespace quintet::campaign
