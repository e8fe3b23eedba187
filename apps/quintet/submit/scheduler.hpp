#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/quintet/submit/job.hpp"

namespace quintet {

/// How a job has ended.
enum class JobEnd {
  none,  ///< it has not ended, or nobody says
  completed,
  failed,
  cancelled,
  preempted,
  launch_failure,  ///< it could not be begun
  node_failure,
  time_limit,
  out_of_memory
};
/// "out_of_memory"; "" for none.
[[nodiscard]] const char* end_name(JobEnd end);

/// State of a job, as its scheduler reports it.
struct JobState {
  /// gone: the scheduler says that it knows the job no longer; unknown: it says nothing of the job.
  enum class Kind { waiting, running, ended, gone, unknown };
  Kind kind = Kind::unknown;
  std::string word{};    ///< its own: "PENDING", "Q"
  std::string reason{};  ///< why it waits or ended, where it says so
  JobEnd end = JobEnd::none;
  std::string nodes{};            ///< that it has or had, with commas or as Slurm writes them; "": not told
  std::int64_t task = -1;         ///< number of an array's task, if it is one
  std::vector<JobState> tasks{};  ///< of an array: what is told of each

  [[nodiscard]] bool is_alive() const { return kind == Kind::waiting || kind == Kind::running; }
  [[nodiscard]] bool may_live() const { return is_alive() || kind == Kind::unknown; }
};

/// A command of the scheduler, and how long it may take to answer (s).
struct Asked {
  std::string command;
  double patience = 60;
};

/// A job of a user that waits or runs; tasks of an array may be told one by one, under one id.
struct QueuedJob {
  std::string id{}, queue{};  ///< a job that waits may name several queues, with commas between
  JobState::Kind kind = JobState::Kind::waiting;
  std::int64_t nodes = 1;
  std::optional<std::int64_t> gpus{};  ///< of all its nodes; absent: not told

  [[nodiscard]] bool is_in(const std::string& name) const {
    return ("," + queue + ",").find("," + name + ",") != std::string::npos;
  }
};

/// Jobs that a job waits for.
struct JobOrder {
  std::vector<std::string> ended{};  ///< ids: all of them have ended, whatever came of them
  /// Ids of arrays: each task waits for that of its own number to end with exit code 0 in one of them, and is
  /// taken from the queue where it will not.
  std::vector<std::string> tasks{};
};

/// One scheduler: its words, and what its answers mean. A row of a table.
struct SchedulerRow {
  SchedulerKind value;
  const char *name, *doc;
  const char *submit, *status, *cancel;  ///< its commands, if the machine's file names no other
  const char* id_pattern;
  const char* directive;       ///< what an option's line begins with: "#SBATCH "
  const char* task_variable;   ///< of a script that runs as a task of an array
  const char* job_variables;   ///< what stands for the id of the job (of the array) in a script
  const char* memory_options;  ///< regular expression: options that ask for memory, which must not come twice
  const char* prelude;         ///< lines of a script before all else
  /// The options in the head of a script, one a line.
  std::vector<std::string> (*head)(const Machine&, const Job&);
  /// Why a directory cannot stand in the head, or "".
  std::string (*path_problem)(const std::string& path);
  /// Whether a task of an array can wait for one of another alone (JobOrder::tasks).
  bool orders_tasks;
  /// Words that submit `script`.
  std::vector<std::string> (*submit_words)(const Machine& machine, const std::string& command,
                                           const std::string& script, const JobOrder& after);
  /// Ask for the states of jobs. Throws InputError if the answer is not understood.
  std::map<std::string, JobState> (*ask)(const Asked& status, const std::vector<std::string>& ids);
  /// All jobs of the user who asks that wait or run. Throws InputError if the answer is not understood.
  std::vector<QueuedJob> (*ask_user)(const Asked& status);
  /// Ids of that user's jobs that wait or run and have this script. Throws InputError likewise.
  std::vector<std::string> (*ask_script)(const Asked& status, const std::string& script);
  /// Failed ones of these nodes, as an option that excludes nodes takes them.
  std::vector<std::string> (*failed_nodes)(const Asked& status, const std::string& nodes);
  /// A regular expression: words of a refusal that may have come after the job was taken.
  const char* doubtful;
  /// Words that remove a job from the queue, or end it at once.
  std::vector<std::string> (*cancel_words)(const std::string& command, const std::string& id);
  /// Words that ask the script of a running job for a checkpoint and an end.
  std::vector<std::string> (*stop_words)(const std::string& command, const std::string& id);
};

/// The row of a machine's scheduler. Throws InputError if it has none.
[[nodiscard]] const SchedulerRow& scheduler_of(const Machine& machine);

/// The options in the head of a job's script: its scheduler's and those of its queue, without what would ask
/// twice for memory.
[[nodiscard]] std::vector<std::string> head_options(const Machine& machine, const Job& job);
/// Throws InputError where a directory of jobs, an account or the name of a reservation cannot stand in the
/// head of a script of the machine's scheduler, before anything is queued.
void require_head(const Machine& machine, const std::string& directory, const std::string& account,
                  const std::string& reservation = "");

/// The machine's scheduler, spoken to.
class Scheduler {
 public:
  /// Throws InputError if its commands are not on the PATH.
  explicit Scheduler(const Machine& machine);
  /// Queue a script; returns the id. Throws InputError with the scheduler's words.
  [[nodiscard]] std::string submit(const std::string& script, const JobOrder& after) const;
  /// Throws InputError if the scheduler does not answer or is not understood.
  [[nodiscard]] std::map<std::string, JobState> states(const std::vector<std::string>& ids) const;
  /// States of jobs, as states() gives them. Without an answer all are unknown, and `why` says what was the
  /// matter.
  [[nodiscard]] std::map<std::string, JobState> told_states(const std::vector<std::string>& ids,
                                                            std::string& why) const;
  /// Jobs of the current user that wait or run, from any directory.
  [[nodiscard]] std::vector<QueuedJob> jobs_of_user() const;
  /// Ids of jobs of that user that wait or run and have this script.
  [[nodiscard]] std::vector<std::string> jobs_of_script(const std::string& script) const;
  /// Whether a job may have been taken although submit() threw with these words.
  [[nodiscard]] bool is_doubtful(const std::string& words) const;
  /// Nodes of a failed job that the next one is to leave out; empty where that is not known.
  [[nodiscard]] std::vector<std::string> failed_nodes(const std::string& nodes) const;
  void cancel(const std::string& id) const;
  void stop(const std::string& id) const;

 private:
  const SchedulerRow& row_;
  Machine machine_;
  std::string submit_, status_, cancel_, id_pattern_;
  double patience_;
};

/// How a job ended by what its scheduler has written into its log: a limit of memory or time, a failed node.
/// In a log that several jobs share only lines that name this one count. JobEnd::none if no line does.
[[nodiscard]] JobEnd end_by_log(const std::string& log, const std::string& id);
/// How a job ended by its scheduler's words or, where these only say that it failed or nothing, by its log.
[[nodiscard]] JobEnd end_of_job(const JobState& state, const std::string& id, const std::string& log_file);

/// Meaning of a scheduler's reason, in a sentence; "" if it is plain or not known.
[[nodiscard]] std::string meaning_of_reason(const std::string& reason);

/// Words of job states; a word that is in neither table is an InputError.
[[nodiscard]] JobState slurm_state(const std::string& word, const std::string& reason);
[[nodiscard]] JobState pbs_state(const std::string& word, const std::string& reason);

}  // namespace quintet
