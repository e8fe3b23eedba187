#include "apps/quintet/submit/scheduler.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

#include <fmt/ranges.h>

#include "apps/quintet/submit/answers.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/machine/detect.hpp"

namespace quintet {
namespace {

const SchedulerRow* const schedulers[] = {&slurm_row, &pbs_row};

struct EndRow {
  JobEnd value;
  const char* name;
};
/// The later an end stands here, the more it asks for help.
constexpr EndRow ends[] = {{JobEnd::none, ""},
                           {JobEnd::completed, "completed"},
                           {JobEnd::cancelled, "cancelled"},
                           {JobEnd::preempted, "preempted"},
                           {JobEnd::failed, "failed"},
                           {JobEnd::launch_failure, "launch_failure"},
                           {JobEnd::node_failure, "node_failure"},
                           {JobEnd::time_limit, "time_limit"},
                           {JobEnd::out_of_memory, "out_of_memory"}};

struct ReasonRow {
  const char *word, *meaning;
};
/// A prefix of a reason, and what it means; see squeue(1).
constexpr ReasonRow reasons[] = {
    {"JobLaunchFailure",
     "its node could not begin it, or killed it: is its folder there, may its log be written, "
     "had it the memory?"},
    {"DependencyNeverSatisfied", "what it waits for did not end well: it will not begin; quintet cancel"},
    {"Dependency", "it waits for a job before it"},
    {"Resources", "it is next, and waits for free nodes"},
    {"Priority", "others come first"},
    {"ReqNodeNotAvail", "nodes that it needs are down or kept for maintenance"},
    {"PartitionDown", "its queue is closed"},
    {"PartitionInactive", "its queue is closed"},
    {"PartitionTimeLimit", "its walltime is longer than the queue takes: it will not begin"},
    {"PartitionNodeLimit", "it asks for more nodes than the queue takes: it will not begin"},
    {"JobHeld", "it is held; scontrol release lets it go"},
    {"BeginTime", "it was put back, and may begin in a short time"},
    {"JobArrayTaskLimit", "as many tasks of the array run as may at once"},
    {"launch failed requeued held", "the node could not begin it; scontrol release lets it try again"},
    {"Reservation", "its reservation has not begun"},
    {"InvalidAccount", "its account is not known here"},
    {"QOSMax", "a limit of yours is reached: it waits until others of your jobs have ended"},
    {"QOSGrp", "a limit of its group is reached"},
    {"AssocMax", "a limit of yours is reached: it waits until others of your jobs have ended"},
    {"AssocGrp", "a limit of its account is reached"},
    {"TimeLimit", "its time ran out"},
    {"OutOfMemory", "it used more memory than it asked for"},
    {"NodeDown", "a node of it failed"}};

std::size_t severity(JobEnd end) {
  return std::distance(std::begin(ends), std::find_if(std::begin(ends), std::end(ends),
                                                      [&](const EndRow& row) { return row.value == end; }));
}

std::string or_else(const std::string& given, const char* usual) { return given.empty() ? usual : given; }

}  // namespace

const SchedulerRow& scheduler_of(const Machine& machine) {
  QUINTET_CHECK(machine.scheduler.kind != SchedulerKind::none,
                "{} has no scheduler (scheduler.kind): run the program itself, without quintet submit",
                machine.name);
  for (const auto* row : schedulers)
    if (row->value == machine.scheduler.kind) return *row;
  throw InternalError("a kind of scheduler has no row");
}

std::string answer_of(const std::vector<std::string>& words, double patience) {
  const auto result = ask_scheduler(words, patience);
  QUINTET_CHECK(!result.timed_out, "{} does not answer within {:.3g} s (scheduler.patience)", words[0],
                patience);
  QUINTET_CHECK(result.good(), "{} refuses (exit code {}): {}", words[0], result.code,
                last_line(result.errors.empty() ? result.out : result.errors));
  return result.out;
}

std::string beside(const std::string& command, const char* name) {
  const auto slash = command.rfind('/');
  return (slash == std::string::npos ? "" : command.substr(0, slash + 1)) + name;
}

std::map<std::string, JobState> all_unknown(const std::vector<std::string>& ids) {
  std::map<std::string, JobState> states;
  for (const auto& id : ids) states[id] = {};
  return states;
}

void take_liveliest(std::map<std::string, JobState>& states, const std::string& id, const JobState& state) {
  const auto rank = [](const JobState& one) {
    const auto kind = one.kind;
    return std::pair{kind == JobState::Kind::running   ? 3
                     : kind == JobState::Kind::waiting ? 2
                     : kind == JobState::Kind::ended   ? 1
                     : kind == JobState::Kind::gone    ? 0
                                                       : -1,
                     severity(one.end)};
  };
  auto& kept = states.at(id);
  if (rank(state) <= rank(kept)) return;
  auto tasks = std::move(kept.tasks);
  kept = state;
  kept.tasks = std::move(tasks);
}

const char* end_name(JobEnd end) { return row_of(ends, end).name; }

std::string meaning_of_reason(const std::string& reason) {
  for (const auto& row : reasons)
    if (reason.starts_with(row.word)) return row.meaning;
  return "";
}

JobEnd end_by_log(const std::string& log, const std::string& id) {
  const std::string number = id.substr(0, id.find_first_not_of("0123456789"));
  const std::regex own("(StepId=|JOB |JobId=)" + number + "(\\b|_)"), pbs("PBS: job killed|Cgroup mem");
  const std::regex memory("exceeded memory limit|oom-kill event|mem.* exceeded limit|Cgroup mem.*exceeded"),
      time("DUE TO TIME LIMIT|walltime .*exceeded limit"), node("DUE TO NODE FAILURE");
  JobEnd end = JobEnd::none;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (!std::regex_search(line, own) && !std::regex_search(line, pbs)) continue;
    const JobEnd told = std::regex_search(line, memory) ? JobEnd::out_of_memory
                        : std::regex_search(line, time) ? JobEnd::time_limit
                        : std::regex_search(line, node) ? JobEnd::node_failure
                                                        : JobEnd::none;
    if (severity(told) > severity(end)) end = told;
  }
  return end;
}

JobEnd end_of_job(const JobState& state, const std::string& id, const std::string& log_file) {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  if (state.is_alive()) return JobEnd::none;
  if (state.end != JobEnd::none && state.end != JobEnd::failed && state.end != JobEnd::launch_failure)
    return state.end;
  std::error_code absent;
  const auto size = std::filesystem::file_size(log_file, absent);
  if (absent) return state.end;
  std::ifstream file(log_file);
  if (size > most_bytes) file.seekg(static_cast<std::streamoff>(size - most_bytes));
  const std::string log{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const JobEnd told = end_by_log(log, id);
  return told == JobEnd::none ? state.end : told;
}

std::vector<std::string> head_options(const Machine& machine, const Job& job) {
  const auto& row = scheduler_of(machine);
  auto options = row.head(machine, job);
  const std::regex memory(row.memory_options);
  for (const auto& option : queue_named(machine, job.queue).options)
    if (!job.shape.memory || !std::regex_match(option, memory)) options.push_back(option);
  return options;
}

void require_head(const Machine& machine, const std::string& directory, const std::string& account,
                  const std::string& reservation) {
  const auto& row = scheduler_of(machine);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::string problem = row.path_problem(directory);
  if (std::any_of(directory.begin(), directory.end(), is_control))
    problem = "it has a line break or the like";
  QUINTET_CHECK(problem.empty(),
                "The directory '{}' has a character in its name that schedulers do not take in the head of a "
                "script ({}); choose another with --output DIR",
                directory, problem);
  const auto plain = [](const char* what, const std::string& word) {
    QUINTET_CHECK(word.empty() || (shell_word(word) == word && !word.starts_with('-')),
                  "{} '{}' is none: expected letters, digits and _ - + . / : = , @ %", what, word);
  };
  plain("The account", account);
  plain("The reservation", reservation);
}

Scheduler::Scheduler(const Machine& machine)
    : row_(scheduler_of(machine)),
      machine_(machine),
      submit_(or_else(machine.scheduler.submit, row_.submit)),
      status_(or_else(machine.scheduler.status, row_.status)),
      cancel_(or_else(machine.scheduler.cancel, row_.cancel)),
      id_pattern_(or_else(machine.scheduler.id_pattern, row_.id_pattern)),
      patience_(machine.scheduler.patience) {
  for (const auto& command : {submit_, status_, cancel_})
    QUINTET_CHECK(!program_on_path(command).empty(),
                  "{} of {} is not here: call quintet where its commands are", command, row_.doc);
}

std::string Scheduler::submit(const std::string& script, const JobOrder& after) const {
  if (!after.tasks.empty() && (!row_.orders_tasks || (after.tasks.size() > 1 && !after.ended.empty())))
    throw InternalError(fmt::format("{} has no order of jobs as was asked for", row_.doc));
  std::string id = last_line(answer_of(row_.submit_words(machine_, submit_, script, after), patience_));
  id = id.substr(0, id.find(';'));  // Slurm may name the cluster behind
  QUINTET_CHECK(std::regex_match(id, std::regex(id_pattern_)),
                "{} answers '{}', which is no id of a job (scheduler.id_pattern). Look with {} whether it "
                "was queued before you "
                "submit again",
                submit_, id, status_);
  return id;
}

std::map<std::string, JobState> Scheduler::states(const std::vector<std::string>& ids) const {
  return row_.ask({status_, patience_}, ids);
}

std::map<std::string, JobState> Scheduler::told_states(const std::vector<std::string>& ids,
                                                       std::string& why) const {
  try {
    return states(ids);
  } catch (const InputError& error) {
    why = error.what();
    return all_unknown(ids);
  }
}

std::vector<std::string> Scheduler::jobs_of_script(const std::string& script) const {
  return row_.ask_script({status_, patience_}, script);
}

bool Scheduler::is_doubtful(const std::string& words) const {
  // 120 to 152: by a signal, or not begun. From 153 on are errors of PBS itself (15001 and more, modulo 256).
  return std::regex_search(words, std::regex(fmt::format("no id of a job|does not answer|exit code "
                                                         "1([234][0-9]|5[0-2])\\)|{}",
                                                         row_.doubtful)));
}

std::vector<QueuedJob> Scheduler::jobs_of_user() const { return row_.ask_user({status_, patience_}); }

std::vector<std::string> Scheduler::failed_nodes(const std::string& nodes) const {
  return row_.failed_nodes({status_, patience_}, nodes);
}

void Scheduler::cancel(const std::string& id) const {
  (void)answer_of(row_.cancel_words(cancel_, id), patience_);
}
void Scheduler::stop(const std::string& id) const {
  (void)answer_of(row_.stop_words(cancel_, id), patience_);
}

}  // namespace quintet
