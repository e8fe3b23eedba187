#include "apps/quintet/submit/scheduler.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/ranges.h>

#include "io/config/scalar.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"
#include "io/machine/detect.hpp"

namespace quintet {
namespace {

/// What a command answers; throws InputError if it does not or refuses.
std::string answer_of(const std::vector<std::string>& words, double patience) {
  const auto result = run_command(words, patience);
  QUINTET_CHECK(!result.timed_out, "{} does not answer within {:.3g} s (scheduler.patience)", words[0],
                patience);
  QUINTET_CHECK(result.good(), "{} refuses (exit code {}): {}", words[0], result.code,
                last_line(result.errors.empty() ? result.out : result.errors));
  return result.out;
}

std::vector<std::string> slurm_head(const Machine& machine, const Job& job) {
  const auto& shape = job.shape;
  const auto& flag = machine.scheduler.account_flag;
  std::vector<std::string> lines = {"--job-name=" + job.name, "--partition=" + job.queue};
  if (!shape.account.empty())
    lines.push_back(flag.empty() || flag.starts_with("--")
                        ? fmt::format("{}={}", flag.empty() ? "--account" : flag, shape.account)
                        : fmt::format("{} {}", flag, shape.account));
  lines.push_back(fmt::format("--nodes={}", shape.nodes));
  lines.push_back(fmt::format("--ntasks-per-node={}", shape.ranks_per_node));
  lines.push_back(fmt::format("--cpus-per-task={}", shape.threads));
  if (shape.gpus_per_node > 0) lines.push_back(fmt::format("--gpus-per-node={}", shape.gpus_per_node));
  if (shape.memory) lines.push_back(fmt::format("--mem={:.0f}M", *shape.memory / 1048576));
  lines.push_back("--time=" + hours_text(shape.walltime));
  if (machine.stop.warning) lines.push_back(fmt::format("--signal=B:USR1@{:.0f}", *machine.stop.warning));
  if (job.is_array()) lines.push_back(fmt::format("--array=0-{}", shape.array_tasks - 1));
  lines.insert(lines.end(),
               {"--open-mode=append", "--output=" + shell_word(job.directory + "/scheduler.log")});
  return lines;
}

std::vector<std::string> pbs_head(const Machine& machine, const Job& job) {
  const auto& shape = job.shape;
  std::vector<std::string> lines = {"-N " + job.name, "-q " + job.queue};
  std::string select =
      fmt::format("-l select={}:mpiprocs={}:ompthreads={}", shape.nodes, shape.ranks_per_node, shape.threads);
  if (shape.memory) select += fmt::format(":mem={:.0f}mb", *shape.memory / 1048576);
  lines.push_back(select);
  lines.push_back("-l walltime=" + hours_text(shape.walltime));
  const auto& flag = machine.scheduler.account_flag;
  if (!shape.account.empty())
    lines.push_back(fmt::format("{} {}", flag.empty() ? "-A" : flag, shape.account));
  // PBS has no arrays of one task.
  if (shape.array_tasks > 1) lines.push_back(fmt::format("-J 0-{}", shape.array_tasks - 1));
  lines.insert(lines.end(), {"-j oe", "-o " + shell_word(job.directory + "/scheduler.log")});
  return lines;
}

/// Slurm has either "all of" (',') or "any of" ('?') in one list.
std::vector<std::string> slurm_submit(const std::string& command, const std::string& script,
                                      const JobOrder& after) {
  std::vector<std::string> words = {command, "--parsable"}, before;
  if (!after.ended.empty()) before.push_back(fmt::format("afterany:{}", fmt::join(after.ended, ":")));
  if (!after.tasks.empty())
    before.push_back(fmt::format("aftercorr:{}", fmt::join(after.tasks, "?aftercorr:")));
  if (!before.empty()) words.push_back(fmt::format("--dependency={}", fmt::join(before, ",")));
  if (!after.tasks.empty()) words.emplace_back("--kill-on-invalid-dep=yes");
  words.push_back(script);
  return words;
}

std::vector<std::string> pbs_submit(const std::string& command, const std::string& script,
                                    const JobOrder& after) {
  std::vector<std::string> words = {command};
  if (!after.ended.empty())
    words.insert(words.end(), {"-W", fmt::format("depend=afterany:{}", fmt::join(after.ended, ":"))});
  words.push_back(script);
  return words;
}

/// An array's tasks have different states: the liveliest stands for all.
void take_liveliest(std::map<std::string, JobState>& states, const std::string& id, const JobState& state) {
  const auto rank = [](JobState::Kind kind) {
    return kind == JobState::Kind::running   ? 3
           : kind == JobState::Kind::waiting ? 2
           : kind == JobState::Kind::ended   ? 1
           : kind == JobState::Kind::gone    ? 0
                                             : -1;
  };
  if (rank(state.kind) > rank(states.at(id).kind)) states.at(id) = state;
}

std::map<std::string, JobState> all_unknown(const std::vector<std::string>& ids) {
  std::map<std::string, JobState> states;
  for (const auto& id : ids) states[id] = {};
  return states;
}

void take_slurm_lines(std::map<std::string, JobState>& states, const std::string& command,
                      const std::string& answer) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, word, reason;
    std::getline(fields, id, '|'), std::getline(fields, word, '|'), std::getline(fields, reason);
    if (states.contains(id)) take_liveliest(states, id, slurm_state(word, reason));
    QUINTET_CHECK(!word.empty(), "{} answers what is not understood: '{}'", command, line);
  }
}

/// All jobs that squeue knows, with those that ended a short time ago. A list may be empty or cut for reasons
/// of its own: what it lacks is asked for alone, and is gone only if squeue says that there is no such job.
std::map<std::string, JobState> ask_slurm(const Asked& status, const std::vector<std::string>& ids) {
  auto states = all_unknown(ids);
  const std::vector<std::string> words = {status.command, "--noheader", "--states=all", "--format=%F|%T|%r"};
  take_slurm_lines(states, status.command, answer_of(words, status.patience));
  for (auto& [id, state] : states) {
    if (state.kind != JobState::Kind::unknown) continue;
    auto for_one = words;
    for_one.push_back("--jobs=" + id);
    const auto result = run_command(for_one, status.patience);
    if (result.timed_out) break;
    if (result.good())
      take_slurm_lines(states, status.command, result.out);
    else if (result.errors.find("Invalid job id") != std::string::npos)
      state.kind = JobState::Kind::gone;
  }
  return states;
}

/// squeue's %o is the script of a job, with its arguments.
std::vector<std::string> ask_slurm_script(const Asked& status, const std::string& script) {
  std::istringstream lines(
      answer_of({status.command, "--noheader", fmt::format("--user={}", getuid()), "--format=%F|%T|%o"},
                status.patience));
  std::set<std::string> ids;
  for (std::string line; std::getline(lines, line);) {
    static const std::regex form(R"(([0-9]+)\|([A-Z_]+)\|(.*))");
    std::smatch found;
    QUINTET_CHECK(std::regex_match(line, found, form), "{} answers what is not understood: '{}'",
                  status.command, line);
    if ((found[3].str() + " ").starts_with(script + " ") && slurm_state(found[2].str(), "").is_alive())
      ids.insert(found[1].str());
  }
  return {ids.begin(), ids.end()};
}

/// "gres:gpu:a100:4", "gpu:4(IDX:0-3)", "N/A": GPUs of a node.
std::int64_t slurm_gpus(const std::string& text) {
  static const std::regex gpus(R"(gpu(?::[A-Za-z_][^:,(]*)?(?::([0-9]+))?)");
  std::smatch found;
  if (!std::regex_search(text, found, gpus)) return 0;
  return found[1].matched ? to_integer(found[1].str()).value_or(1) : 1;
}

std::vector<QueuedJob> ask_slurm_user(const Asked& status) {
  std::vector<QueuedJob> jobs;
  std::istringstream lines(
      answer_of({status.command, "--noheader", fmt::format("--user={}", getuid()), "--format=%F|%T|%P|%D|%b"},
                status.patience));
  for (std::string line; std::getline(lines, line);) {
    static const std::regex form(R"(([0-9]+)\|([A-Z_]+)\|([^|]+)\|([0-9]+)\|(.*))");
    std::smatch found;
    QUINTET_CHECK(std::regex_match(line, found, form), "{} answers what is not understood: '{}'",
                  status.command, line);
    const auto state = slurm_state(found[2].str(), "");
    const auto nodes = to_integer(found[4].str()).value_or(1);
    if (state.is_alive())
      jobs.push_back({found[1].str(), found[3].str(), state.kind, nodes, nodes * slurm_gpus(found[5].str())});
  }
  return jobs;
}

/// A program that lies beside another one.
std::string beside(const std::string& command, const char* name) {
  const auto slash = command.rfind('/');
  return (slash == std::string::npos ? "" : command.substr(0, slash + 1)) + name;
}

/// What qstat answers about jobs, by id; those that it says it knows no longer are left out, and `some_gone`
/// tells that there are such.
Tree pbs_answer(const Asked& status, const std::vector<std::string>& ids, bool& some_gone) {
  std::vector<std::string> words{status.command, "-x", "-f", "-F", "json"};
  words.insert(words.end(), ids.begin(), ids.end());
  const auto result = run_command(words, status.patience);
  QUINTET_CHECK(!result.timed_out, "{} does not answer within {:.3g} s (scheduler.patience)", status.command,
                status.patience);
  some_gone = result.errors.find("Unknown Job") != std::string::npos;
  if (!result.good() && some_gone && trimmed(result.out).empty()) return Tree::map();
  QUINTET_CHECK(result.good() || some_gone, "{} refuses (exit code {}): {}", status.command, result.code,
                last_line(result.errors));
  const Tree answer = parse_yaml(result.out, status.command);
  QUINTET_CHECK(answer.is_map(), "{} answers what is not understood: '{}'", status.command,
                last_line(result.out));
  const Tree* jobs = answer.find("Jobs");
  return jobs != nullptr && jobs->is_map() ? *jobs : Tree::map();
}

/// One job at a time: PBS knows ended jobs with -x, and refuses ids that are gone even from there.
std::map<std::string, JobState> ask_pbs(const Asked& status, const std::vector<std::string>& ids) {
  auto states = all_unknown(ids);
  for (const auto& id : ids) {
    bool is_gone = false;
    const Tree jobs = pbs_answer(status, {id}, is_gone);
    const Tree* job = jobs.find(id);
    if (job == nullptr && jobs.entries().empty()) {
      if (is_gone) states.at(id).kind = JobState::Kind::gone;
      continue;
    }
    QUINTET_CHECK(job != nullptr && job->is_map() && job->has("job_state"),
                  "{} answers what is not understood about {}", status.command, id);
    const Tree* comment = job->find("comment");
    const Tree* code = job->find("Exit_status");
    take_liveliest(states, id,
                   pbs_state(job->at("job_state").as_text(), code != nullptr ? "exit code " + code->as_text()
                                                             : comment != nullptr ? comment->as_text()
                                                                                  : ""));
  }
  return states;
}

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

/// Ids of the user's jobs.
std::vector<std::string> pbs_select(const Asked& status) {
  const std::string select = beside(status.command, "qselect");
  std::istringstream lines(answer_of({select, "-u", user_name()}, status.patience));
  std::vector<std::string> ids;
  for (std::string line; std::getline(lines, line);) {
    if (trimmed(line).empty()) continue;
    ids.emplace_back(trimmed(line));
    QUINTET_CHECK(std::isdigit(static_cast<unsigned char>(ids.back().front())) != 0,
                  "{} answers what is not understood: '{}'", select, line);
  }
  return ids;
}

/// qselect has the ids of a user, qstat their numbers.
std::vector<QueuedJob> ask_pbs_user(const Asked& status) {
  const auto ids = pbs_select(status);
  std::vector<QueuedJob> jobs;
  if (ids.empty()) return jobs;
  bool some_gone = false;
  const Tree answer = pbs_answer(status, ids, some_gone);
  for (const auto& [id, job] : answer.entries()) {
    QUINTET_CHECK(job.is_map() && job.has("job_state") && job.has("queue"),
                  "{} answers what is not understood about {}", status.command, id);
    const auto state = pbs_state(job.at("job_state").as_text(), "");
    if (!state.is_alive()) continue;
    QueuedJob queued{.id = id, .queue = job.at("queue").as_text(), .kind = state.kind};
    if (const Tree* resources = job.find("Resource_List"); resources != nullptr && resources->is_map()) {
      if (const Tree* nodes = resources->find("nodect")) queued.nodes = nodes->as_integer();
      if (const Tree* gpus = resources->find("ngpus")) queued.gpus = gpus->as_integer();
    }
    jobs.push_back(std::move(queued));
  }
  return jobs;
}

/// A job tells the words that it was submitted with; its output lies beside its script.
std::vector<std::string> ask_pbs_script(const Asked& status, const std::string& script) {
  const auto ids = pbs_select(status);
  std::vector<std::string> found;
  if (ids.empty()) return found;
  bool some_gone = false;
  const Tree answer = pbs_answer(status, ids, some_gone);
  for (const auto& [id, job] : answer.entries()) {
    if (!job.is_map() || !job.has("job_state")) continue;
    const Tree* words = job.find("Submit_arguments");
    const bool is_it =
        words != nullptr && words->is_scalar() && words->as_text().find(script) != std::string::npos;
    if (is_it && pbs_state(job.at("job_state").as_text(), "").is_alive()) found.push_back(id);
  }
  return found;
}

std::vector<std::string> cancel_by_id(const std::string& command, const std::string& id) {
  return {command, id};
}

/// To the script alone, which asks the ranks: squeue's jobs end with SIGKILL otherwise.
std::vector<std::string> slurm_stop(const std::string& command, const std::string& id) {
  return {command, "--signal=USR1", "--batch", id};
}

std::vector<std::string> pbs_stop(const std::string& command, const std::string& id) {
  return {beside(command, "qsig"), "-s", "SIGUSR1", id};
}

const SchedulerRow schedulers[] = {
    {SchedulerKind::slurm, "slurm", "Slurm", "sbatch", "squeue", "scancel", "[0-9]+", "#SBATCH ",
     "SLURM_ARRAY_TASK_ID", slurm_head, true, slurm_submit, ask_slurm, ask_slurm_user, ask_slurm_script,
     "[Tt]imed out|contact|Zero Bytes|[Cc]ommunication|onnection|transmi|receiv|I/O "
     "error|Unexpected|temporar",
     cancel_by_id, slurm_stop},
    {SchedulerKind::pbs, "pbs", "PBS Pro", "qsub", "qstat", "qdel", R"([0-9]+(\[\])?(\.[A-Za-z0-9._-]+)?)",
     "#PBS ", "PBS_ARRAY_INDEX", pbs_head, false, pbs_submit, ask_pbs, ask_pbs_user, ask_pbs_script,
     "[Tt]imed? ?out|cannot connect|[Cc]ommunication|onnection|End of [Ff]ile|[Pp]remature|[Pp]ipe|No reply",
     cancel_by_id, pbs_stop}};

std::string or_else(const std::string& given, const char* usual) { return given.empty() ? usual : given; }

}  // namespace

const SchedulerRow& scheduler_of(const Machine& machine) {
  QUINTET_CHECK(machine.scheduler.kind != SchedulerKind::none,
                "{} has no scheduler (scheduler.kind): run the program itself, without quintet submit",
                machine.name);
  return row_of(schedulers, machine.scheduler.kind);
}

JobState slurm_state(const std::string& word, const std::string& reason) {
  static constexpr const char* waiting[] = {"PENDING",     "REQUEUED",     "REQUEUE_HOLD",
                                            "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
  static constexpr const char* running[] = {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                                            "STOPPED", "SIGNALING",   "STAGE_OUT",  "RESIZING"};
  static constexpr const char* ended[] = {"COMPLETED",     "FAILED",    "CANCELLED", "TIMEOUT",  "NODE_FAIL",
                                          "OUT_OF_MEMORY", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "REVOKED"};
  const auto in = [&](const auto& words) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  };
  const std::string why = reason == "None" ? "" : reason;
  if (in(waiting)) return {JobState::Kind::waiting, word, why};
  if (in(running)) return {JobState::Kind::running, word, why};
  if (in(ended)) return {JobState::Kind::ended, word, why};
  throw InputError(fmt::format("squeue answers with a state that is not known: '{}'", word));
}

JobState pbs_state(const std::string& word, const std::string& reason) {
  if (word.size() == 1 && std::string("QHWTM").find(word) != std::string::npos)
    return {JobState::Kind::waiting, word, reason};
  if (word.size() == 1 && std::string("RESUB").find(word) != std::string::npos)
    return {JobState::Kind::running, word, reason};
  if (word == "F" || word == "X") return {JobState::Kind::ended, word, reason};
  throw InputError(fmt::format("qstat answers with a state that is not known: '{}'", word));
}

Scheduler::Scheduler(const Machine& machine)
    : row_(scheduler_of(machine)),
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
  std::string id = last_line(answer_of(row_.submit_words(submit_, script, after), patience_));
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
  return std::regex_search(
      words,
      std::regex(fmt::format("no id of a job|does not answer|exit code 1[2-9][0-9]|{}", row_.doubtful)));
}

std::vector<QueuedJob> Scheduler::jobs_of_user() const { return row_.ask_user({status_, patience_}); }

void Scheduler::cancel(const std::string& id) const {
  (void)answer_of(row_.cancel_words(cancel_, id), patience_);
}
void Scheduler::stop(const std::string& id) const {
  (void)answer_of(row_.stop_words(cancel_, id), patience_);
}

}  // namespace quintet
