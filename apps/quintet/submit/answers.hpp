#pragma once

#include <map>
#include <string>
#include <vector>

#include "apps/quintet/submit/scheduler.hpp"
#include "io/machine/job_variables.hpp"

/// Functions that the rows of the table of schedulers share: how a command is asked, and how answers add up.
namespace quintet {

/// The rows, each in a file of its own.
extern const SchedulerRow slurm_row, pbs_row;

/// Answer of a command of the scheduler; throws InputError if it does not answer or refuses.
[[nodiscard]] std::string answer_of(const std::vector<std::string>& words, double patience);

/// A program that lies beside another one.
[[nodiscard]] std::string beside(const std::string& command, const char* name);

[[nodiscard]] std::map<std::string, JobState> all_unknown(const std::vector<std::string>& ids);
/// An array's tasks have different states: the liveliest stands for all; of ends that which most needs help.
void take_liveliest(std::map<std::string, JobState>& states, const std::string& id, const JobState& state);

}  // namespace quintet
