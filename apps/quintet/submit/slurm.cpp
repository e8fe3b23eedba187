#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/ranges.h>

#include "apps/quintet/submit/answers.hpp"
#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/detect.hpp"

namespace quintet {
namespace slurm {
namespace {

/// In the name of a file Slurm replaces `%` and a letter; `%%` is the character.
std::string file_words(const std::string& path) {
  std::string text;
  for (const char c : path) {
    text += c;
    if (c == '%') text += c;
  }
  return text;
}

std::string path_problem(const std::string& path) {
  if (path.find('\\') != std::string::npos) return "Slurm does not take a '\\' in it";
  return "";
}

std::vector<std::string> head(const Machine& machine, const Job& job) {
  const auto& shape = job.shape;
  const auto& flag = machine.scheduler.account_flag;
  std::vector<std::string> lines = {"--job-name=" + job.name};
  if (!queue_named(machine, job.queue).reserved) lines.push_back("--partition=" + job.queue);
  if (!job.reservation.empty()) lines.push_back("--reservation=" + job.reservation);
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
  if (!job.exclude.empty()) lines.push_back(fmt::format("--exclude={}", fmt::join(job.exclude, ",")));
  const std::string log = job.is_array() ? "/scheduler_%a.log" : "/scheduler.log";
  lines.insert(lines.end(),
               {"--open-mode=append", "--output=" + shell_word(file_words(job.directory) + log)});
  return lines;
}

/// Slurm has either "all of" (',') or "any of" ('?') in one list.
std::vector<std::string> submit_words(const Machine& machine, const std::string& command,
                                      const std::string& script, const JobOrder& after) {
  std::vector<std::string> words = {command, "--parsable"}, before;
  if (!after.ended.empty()) before.push_back(fmt::format("afterany:{}", fmt::join(after.ended, ":")));
  if (!after.tasks.empty())
    before.push_back(fmt::format("aftercorr:{}", fmt::join(after.tasks, "?aftercorr:")));
  if (!before.empty()) words.push_back(fmt::format("--dependency={}", fmt::join(before, ",")));
  if (!after.tasks.empty() && machine.scheduler.kill_on_invalid_dependency)
    words.emplace_back("--kill-on-invalid-dep=yes");
  words.push_back(script);
  return words;
}

/// "7", "2-9%4", "1,3-5": numbers of an array's tasks; numbers outside an array, or after dots, do not count.
std::vector<std::int64_t> task_numbers(const std::string& text) {
  constexpr std::int64_t most = 1000000;
  std::vector<std::int64_t> numbers;
  std::istringstream parts(text.substr(0, text.find('%')));
  for (std::string part; std::getline(parts, part, ',');) {
    const auto dash = part.find('-');
    const auto first = to_integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : to_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last - *first > most) continue;
    for (auto number = *first; number <= *last; ++number) numbers.push_back(number);
  }
  return numbers;
}

std::string field(std::istringstream& fields) {
  std::string text;
  std::getline(fields, text, '|');
  return text == "N/A" || text == "(null)" ? "" : text;
}

void take_state(std::map<std::string, JobState>& states, const std::string& id, const std::string& tasks,
                const JobState& state) {
  take_liveliest(states, id, state);
  for (const auto number : task_numbers(tasks)) {
    states.at(id).tasks.push_back(state);
    states.at(id).tasks.back().task = number;
  }
}

void take_lines(std::map<std::string, JobState>& states, const std::string& command,
                const std::string& answer) {
  std::istringstream lines(answer);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    const std::string id = field(fields), word = field(fields), reason = field(fields);
    QUINTET_CHECK(!word.empty(), "{} gave an unexpected answer: '{}'", command, line);
    if (!states.contains(id)) continue;
    const std::string tasks = field(fields);
    auto state = slurm_state(word, reason);
    state.nodes = field(fields);
    take_state(states, id, tasks, state);
  }
}

/// Take the states of jobs that squeue does not list from accounting, if available.
void take_accounting(std::map<std::string, JobState>& states, const Asked& status) {
  const std::string sacct = beside(status.command, "sacct");
  std::vector<std::string> ids;
  for (const auto& [id, state] : states)
    if (state.kind == JobState::Kind::unknown || state.kind == JobState::Kind::gone) ids.push_back(id);
  if (ids.empty() || program_on_path(sacct).empty()) return;
  const auto result =
      ask_scheduler({sacct, "--noheader", "--parsable2", "--allocations",
                     fmt::format("--jobs={}", fmt::join(ids, ",")), "--format=JobID,State,ExitCode,NodeList"},
                    status.patience);
  if (!result.good()) return;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    static const std::regex form(
        R"(([0-9]+)(?:_(\[?[0-9,%-]+\]?))?\|([A-Z_]+)[^|]*\|([0-9]+):([0-9]+)\|(.*))");
    std::smatch found;
    if (!std::regex_match(line, found, form) || !states.contains(found[1].str())) continue;
    auto state = slurm_state(found[3].str(), "");
    const std::string code = found[4].str(), signal = found[5].str();
    if (state.kind == JobState::Kind::ended && (code != "0" || signal != "0"))
      state.reason = signal != "0" ? "signal " + signal : "exit code " + code;
    state.nodes = found[6].str() == "None assigned" ? "" : found[6].str();
    std::string tasks = found[2].str();
    std::erase_if(tasks, [](char c) { return c == '[' || c == ']'; });
    take_state(states, found[1].str(), tasks, state);
  }
}

/// All jobs that squeue knows, with those that ended a short time ago. A list may be empty or cut for other
/// reasons: a missing job is asked for alone, and is gone only if squeue says that it does not exist.
std::map<std::string, JobState> ask(const Asked& status, const std::vector<std::string>& ids) {
  auto states = all_unknown(ids);
  const std::vector<std::string> words = {status.command, "--noheader", "--states=all",
                                          "--format=%F|%T|%r|%K|%N"};
  take_lines(states, status.command, answer_of(words, status.patience));
  for (auto& [id, state] : states) {
    if (state.kind != JobState::Kind::unknown) continue;
    auto for_one = words;
    for_one.push_back("--jobs=" + id);
    const auto result = ask_scheduler(for_one, status.patience);
    if (result.timed_out) break;
    if (result.good())
      take_lines(states, status.command, result.out);
    else if (result.errors.find("Invalid job id") != std::string::npos)
      state.kind = JobState::Kind::gone;
  }
  take_accounting(states, status);
  return states;
}

/// squeue's %o is the script of a job, with its arguments.
std::vector<std::string> ask_script(const Asked& status, const std::string& script) {
  std::istringstream lines(
      answer_of({status.command, "--noheader", fmt::format("--user={}", getuid()), "--format=%F|%T|%o"},
                status.patience));
  std::set<std::string> ids;
  for (std::string line; std::getline(lines, line);) {
    static const std::regex form(R"(([0-9]+)\|([A-Z_]+)\|(.*))");
    std::smatch found;
    QUINTET_CHECK(std::regex_match(line, found, form), "{} gave an unexpected answer: '{}'", status.command,
                  line);
    if ((found[3].str() + " ").starts_with(script + " ") && slurm_state(found[2].str(), "").is_alive())
      ids.insert(found[1].str());
  }
  return {ids.begin(), ids.end()};
}

/// "gres:gpu:a100:4", "gpu:4(IDX:0-3)", "N/A": GPUs of a node.
std::int64_t gpus_of(const std::string& text) {
  static const std::regex gpus(R"(gpu(?::[A-Za-z_][^:,(]*)?(?::([0-9]+))?)");
  std::smatch found;
  if (!std::regex_search(text, found, gpus)) return 0;
  return found[1].matched ? to_integer(found[1].str()).value_or(1) : 1;
}

std::vector<QueuedJob> ask_user(const Asked& status) {
  std::vector<QueuedJob> jobs;
  std::istringstream lines(
      answer_of({status.command, "--noheader", fmt::format("--user={}", getuid()), "--format=%F|%T|%P|%D|%b"},
                status.patience));
  for (std::string line; std::getline(lines, line);) {
    static const std::regex form(R"(([0-9]+)\|([A-Z_]+)\|([^|]+)\|([0-9]+)\|(.*))");
    std::smatch found;
    QUINTET_CHECK(std::regex_match(line, found, form), "{} gave an unexpected answer: '{}'", status.command,
                  line);
    const auto state = slurm_state(found[2].str(), "");
    const auto nodes = to_integer(found[4].str()).value_or(1);
    if (state.is_alive())
      jobs.push_back({found[1].str(), found[3].str(), state.kind, nodes, nodes * gpus_of(found[5].str())});
  }
  return jobs;
}

/// Nodes that failed: the only one, or of several those that Slurm itself has taken out of service.
std::vector<std::string> failed_nodes(const Asked& status, const std::string& nodes) {
  if (nodes.empty()) return {};
  if (nodes.find_first_of(",[") == std::string::npos) return {nodes};
  const auto result = ask_scheduler(
      {beside(status.command, "sinfo"), "--noheader", "--Node", "--nodes=" + nodes, "--format=%N|%T"},
      status.patience);
  std::set<std::string> failed;
  std::istringstream lines(result.good() ? result.out : "");
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, std::regex(R"(\|.*(down|drain|fail|not_responding|\*))")))
      failed.insert(line.substr(0, line.find('|')));
  return {failed.begin(), failed.end()};
}

std::vector<std::string> cancel_words(const std::string& command, const std::string& id) {
  return {command, id};
}

/// To the script alone, which asks the ranks: squeue's jobs end with SIGKILL otherwise.
std::vector<std::string> stop_words(const std::string& command, const std::string& id) {
  return {command, "--signal=USR1", "--batch", id};
}

struct EndRow {
  const char* name;
  JobEnd value;
};
constexpr EndRow ends[] = {{"COMPLETED", JobEnd::completed},    {"FAILED", JobEnd::failed},
                           {"CANCELLED", JobEnd::cancelled},    {"TIMEOUT", JobEnd::time_limit},
                           {"NODE_FAIL", JobEnd::node_failure}, {"OUT_OF_MEMORY", JobEnd::out_of_memory},
                           {"PREEMPTED", JobEnd::preempted},    {"BOOT_FAIL", JobEnd::node_failure},
                           {"DEADLINE", JobEnd::cancelled},     {"REVOKED", JobEnd::cancelled}};

}  // namespace
}  // namespace slurm

JobState slurm_state(const std::string& word, const std::string& reason) {
  static constexpr const char* waiting[] = {"PENDING",     "REQUEUED",     "REQUEUE_HOLD",
                                            "REQUEUE_FED", "SPECIAL_EXIT", "RESV_DEL_HOLD"};
  static constexpr const char* running[] = {"RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED",
                                            "STOPPED", "SIGNALING",   "STAGE_OUT",  "RESIZING"};
  const auto in = [&](const auto& words) {
    return std::find(std::begin(words), std::end(words), word) != std::end(words);
  };
  const std::string why = reason == "None" ? "" : reason;
  if (in(waiting)) return {JobState::Kind::waiting, word, why};
  if (in(running)) return {JobState::Kind::running, word, why};
  for (const auto& row : slurm::ends)
    if (row.name == word)
      return {JobState::Kind::ended, word, why,
              why == "JobLaunchFailure" ? JobEnd::launch_failure : row.value};
  throw InputError(fmt::format("squeue answers with a state that is not known: '{}'", word));
}

const SchedulerRow slurm_row = {
    .value = SchedulerKind::slurm,
    .name = "slurm",
    .doc = "Slurm",
    .submit = "sbatch",
    .status = "squeue",
    .cancel = "scancel",
    .id_pattern = "[0-9]+",
    .directive = "#SBATCH ",
    .task_variable = "SLURM_ARRAY_TASK_ID",
    .job_variables = "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}",
    .memory_options = "--mem(-per-cpu|-per-gpu)?[= ].*",
    // srun would start ranks without this script's environment where --export=NONE is an option.
    .prelude = "export SLURM_EXPORT_ENV=ALL\n",
    .head = slurm::head,
    .path_problem = slurm::path_problem,
    .orders_tasks = true,
    .submit_words = slurm::submit_words,
    .ask = slurm::ask,
    .ask_user = slurm::ask_user,
    .ask_script = slurm::ask_script,
    .failed_nodes = slurm::failed_nodes,
    .doubtful =
        "[Tt]imed out|contact|Zero Bytes|[Cc]ommunication|onnection|transmi|receiv|I/O "
        "error|Unexpected|temporar",
    .cancel_words = slurm::cancel_words,
    .stop_words = slurm::stop_words};

}  // namespace quintet
