#include "io/machine/batch_job.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/machine/job_variables.hpp"

namespace quintet {
namespace {

constexpr double patience_s = 10;

/// The parts of this_job().
struct Parts {
  std::string kind, cluster, id, restarts;
};

/// A value of the environment as one word; `otherwise` where it is not set.
std::string word_of(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  std::string word = value == nullptr || *value == '\0' ? otherwise : value;
  std::replace(word.begin(), word.end(), ' ', '_');
  return word;
}

std::optional<Parts> parts_of(const std::string& job) {
  std::istringstream words(job);
  Parts parts;
  if (words >> parts.kind >> parts.cluster >> parts.id >> parts.restarts) return parts;
  return std::nullopt;
}

template <class Words>
bool has(const Words& words, const std::string& word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

/// "7|RUNNING" of this id.
JobLife life_in_slurm(const std::string& id) {
  static constexpr std::array ended = {"COMPLETED",     "FAILED",       "CANCELLED", "TIMEOUT",  "NODE_FAIL",
                                       "OUT_OF_MEMORY", "PREEMPTED",    "BOOT_FAIL", "DEADLINE", "PENDING",
                                       "REQUEUED",      "REQUEUE_HOLD", "REVOKED"};
  static constexpr std::array running = {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                                         "STOPPED", "SIGNALING",   "STAGE_OUT",  "RESIZING"};
  const auto answer =
      ask_scheduler({"squeue", "--noheader", "--states=all", "--format=%A|%T", "--jobs=" + id}, patience_s);
  if (answer.timed_out) return JobLife::unknown;
  if (!answer.good())
    return answer.errors.find("Invalid job id") != std::string::npos ? JobLife::ended : JobLife::unknown;
  std::istringstream lines(answer.out);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(id + "|")) continue;
    const std::string state = line.substr(id.size() + 1);
    return has(ended, state) ? JobLife::ended : has(running, state) ? JobLife::runs : JobLife::unknown;
  }
  return JobLife::unknown;
}

/// "    job_state = R"
JobLife life_in_pbs(const std::string& id) {
  const auto answer = ask_scheduler({"qstat", "-x", "-f", id}, patience_s);
  if (answer.timed_out) return JobLife::unknown;
  if (!answer.good())
    return answer.errors.find("Unknown Job") != std::string::npos ? JobLife::ended : JobLife::unknown;
  constexpr std::string_view key = "job_state = ";
  const auto at = answer.out.find(key);
  if (at == std::string::npos || at + key.size() >= answer.out.size()) return JobLife::unknown;
  const char state = answer.out[at + key.size()];
  if (std::string_view("FXQHWM").find(state) != std::string_view::npos) return JobLife::ended;
  return std::string_view("RESUBT").find(state) != std::string_view::npos ? JobLife::runs : JobLife::unknown;
}

}  // namespace

std::optional<std::string> this_job() {
  if (std::getenv("SLURM_JOB_ID") != nullptr)
    return fmt::format("slurm {} {} {}", word_of("SLURM_CLUSTER_NAME", "-"), word_of("SLURM_JOB_ID", "-"),
                       word_of("SLURM_RESTART_COUNT", "0"));
  if (std::getenv("PBS_JOBID") != nullptr) {
    const std::string id = word_of("PBS_JOBID", "-");
    const auto dot = id.find('.');
    return fmt::format("pbs {} {} 0", dot == std::string::npos ? "-" : id.substr(dot + 1), id);
  }
  return std::nullopt;
}

JobLife life_of_job(const std::string& job) {
  const auto here = this_job();
  const auto mine = here ? parts_of(*here) : std::nullopt, other = parts_of(job);
  if (!mine || !other || mine->kind != other->kind || mine->cluster != other->cluster || mine->cluster == "-")
    return JobLife::unknown;
  // A job begins anew only when nothing is left of its former processes.
  if (mine->id == other->id) return mine->restarts == other->restarts ? JobLife::runs : JobLife::ended;
  try {
    return mine->kind == "slurm" ? life_in_slurm(other->id) : life_in_pbs(other->id);
  } catch (const Error&) {  // no such command here
    return JobLife::unknown;
  }
}

}  // namespace quintet
