#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <regex>
#include <sstream>

#include <fmt/ranges.h>

#include "apps/quintet/submit/answers.hpp"
#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/loose_json.hpp"

namespace quintet {
namespace pbs {
namespace {

/// `-o` is HOST:PATH, and PBS replaces `^array_index^`; of other characters nothing certain is known.
bool is_of_paths(unsigned char c) {
  return std::isalnum(c) != 0 ||
         std::string_view("_-+./=,@%").find(static_cast<char>(c)) != std::string_view::npos;
}

std::string path_problem(const std::string& path) {
  return std::all_of(path.begin(), path.end(), is_of_paths)
             ? ""
             : "PBS takes letters, digits and _ - + . / = , @ % in it";
}

std::vector<std::string> head(const Machine& machine, const Job& job) {
  const auto& shape = job.shape;
  const bool by_reservation = queue_named(machine, job.queue).reserved;
  std::vector<std::string> lines = {"-N " + job.name, "-q " + (by_reservation ? job.reservation : job.queue)};
  std::string select =
      fmt::format("-l select={}:mpiprocs={}:ompthreads={}", shape.nodes, shape.ranks_per_node, shape.threads);
  if (shape.memory) select += fmt::format(":mem={:.0f}mb", *shape.memory / 1048576);
  lines.push_back(select);
  lines.push_back("-l walltime=" + hours_text(shape.walltime));
  const auto& flag = machine.scheduler.account_flag;
  if (!shape.account.empty())
    lines.push_back(fmt::format("{} {}", flag.empty() ? "-A" : flag, shape.account));
  // PBS has no arrays of one task.
  const bool is_array = shape.array_tasks > 1;
  if (is_array) lines.push_back(fmt::format("-J 0-{}", shape.array_tasks - 1));
  lines.insert(lines.end(), {"-j oe", "-o " + job.directory +
                                          (is_array ? "/scheduler_^array_index^.log" : "/scheduler.log")});
  return lines;
}

std::vector<std::string> submit_words(const Machine& /*machine*/, const std::string& command,
                                      const std::string& script, const JobOrder& after) {
  std::vector<std::string> words = {command};
  if (!after.ended.empty())
    words.insert(words.end(), {"-W", fmt::format("depend=afterany:{}", fmt::join(after.ended, ":"))});
  words.push_back(script);
  return words;
}

/// Answer of qstat about jobs, by id. Jobs that it no longer knows are left out, and `some_gone` is set.
Tree jobs_in_answer(const Asked& status, const std::vector<std::string>& ids, bool& some_gone) {
  std::vector<std::string> words{status.command, "-x", "-f", "-F", "json"};
  words.insert(words.end(), ids.begin(), ids.end());
  const auto result = ask_scheduler(words, status.patience);
  QUINTET_CHECK(!result.timed_out, "{} does not answer within {:.3g} s (scheduler.patience)", status.command,
                status.patience);
  some_gone = result.errors.find("Unknown Job") != std::string::npos;
  if (!result.good() && some_gone && trimmed(result.out).empty()) return Tree::map();
  QUINTET_CHECK(result.good() || some_gone, "{} refuses (exit code {}): {}", status.command, result.code,
                last_line(result.errors));
  const Tree answer = parse_loose_json(result.out);
  QUINTET_CHECK(answer.is_map(), "{} gave an unexpected answer: '{}'", status.command, last_line(result.out));
  const Tree* jobs = answer.find("Jobs");
  return jobs != nullptr && jobs->is_map() ? *jobs : Tree::map();
}

/// A single value of a job, as text; "" if it is absent.
std::string text_at(const Tree& job, std::string_view key) {
  const Tree* found = job.is_map() ? job.find(key) : nullptr;
  return found != nullptr && found->is_scalar() ? found->as_text() : "";
}

std::optional<std::int64_t> count_at(const Tree* resources, std::string_view key) {
  return resources != nullptr ? to_integer(text_at(*resources, key)) : std::nullopt;
}

/// "(n1:ncpus=4+n2:ncpus=4)", "n1/0*4+n2/0*4": the hosts, with commas between.
std::string hosts_of(const std::string& places) {
  static const std::regex host(R"((?:^|[+(])([A-Za-z0-9._-]+))");
  std::vector<std::string> hosts;
  for (std::sregex_iterator at(places.begin(), places.end(), host), end; at != end; ++at)
    if (const std::string name = (*at)[1]; std::find(hosts.begin(), hosts.end(), name) == hosts.end())
      hosts.push_back(name);
  return fmt::format("{}", fmt::join(hosts, ","));
}

/// How a job ended, by its exit status; see JOB_EXEC_... in PBS' job.h. 256 and more: by a signal.
JobEnd end_of(const std::string& status, const std::string& comment) {
  const auto code = to_integer(status);
  const auto says = [&](const char* words) {
    return std::regex_search(comment, std::regex(words, std::regex::icase));
  };
  if (says("mem[a-z]* .*exceed|exceed.*mem")) return JobEnd::out_of_memory;
  if (says("walltime .*exceed|exceed.*walltime")) return JobEnd::time_limit;
  if (!code) return JobEnd::none;
  constexpr std::int64_t no_vmem = -26, no_memory = -27, no_time = -29, last_launch = -23;
  if (*code == no_memory || *code == no_vmem) return JobEnd::out_of_memory;
  if (*code == no_time) return JobEnd::time_limit;
  if (*code < 0 && *code >= last_launch) return JobEnd::launch_failure;
  return *code == 0 ? JobEnd::completed : JobEnd::failed;
}

JobState state_of(const Tree& job) {
  const std::string comment = text_at(job, "comment"), code = text_at(job, "Exit_status");
  auto state = pbs_state(text_at(job, "job_state"), code.empty() ? comment : "exit code " + code);
  if (state.kind == JobState::Kind::ended) {
    state.end = end_of(code, comment);
    if (state.end != JobEnd::completed && state.end != JobEnd::failed && !comment.empty())
      state.reason += ": " + comment;
  }
  state.nodes = hosts_of(text_at(job, "exec_vnode"));
  return state;
}

/// One job at a time: PBS knows ended jobs with -x, and refuses ids that are gone even from there.
std::map<std::string, JobState> ask(const Asked& status, const std::vector<std::string>& ids) {
  auto states = all_unknown(ids);
  for (const auto& id : ids) {
    bool is_gone = false;
    const Tree jobs = jobs_in_answer(status, {id}, is_gone);
    const Tree* job = jobs.find(id);
    if (job == nullptr && jobs.entries().empty()) {
      if (is_gone) states.at(id).kind = JobState::Kind::gone;
      continue;
    }
    QUINTET_CHECK(job != nullptr && !text_at(*job, "job_state").empty(),
                  "{} gave an unexpected answer about {}", status.command, id);
    take_liveliest(states, id, state_of(*job));
  }
  return states;
}

std::string user_name() {
  const passwd* user = getpwuid(getuid());
  return user != nullptr ? user->pw_name : std::to_string(getuid());
}

/// Ids of the user's jobs.
std::vector<std::string> select_jobs(const Asked& status) {
  const std::string select = beside(status.command, "qselect");
  std::istringstream lines(answer_of({select, "-u", user_name()}, status.patience));
  std::vector<std::string> ids;
  for (std::string line; std::getline(lines, line);) {
    if (trimmed(line).empty()) continue;
    ids.emplace_back(trimmed(line));
    QUINTET_CHECK(std::isdigit(static_cast<unsigned char>(ids.back().front())) != 0,
                  "{} gave an unexpected answer: '{}'", select, line);
  }
  return ids;
}

QueuedJob queued_job(const std::string& id, const Tree& job, JobState::Kind kind) {
  QueuedJob queued{.id = id, .queue = text_at(job, "queue"), .kind = kind};
  const Tree* resources = job.is_map() ? job.find("Resource_List") : nullptr;
  queued.nodes = count_at(resources, "nodect").value_or(1);
  queued.gpus = count_at(resources, "ngpus");
  return queued;
}

/// qselect has the ids of a user, qstat their numbers. A job whose own text is garbled still counts, as one
/// that waits in no queue that is known: it must not stop what has nothing to do with it.
std::vector<QueuedJob> ask_user(const Asked& status) {
  const auto ids = select_jobs(status);
  std::vector<QueuedJob> jobs;
  if (ids.empty()) return jobs;
  bool some_gone = false;
  const Tree answer = jobs_in_answer(status, ids, some_gone);
  std::vector<std::string> garbled;
  for (const auto& id : ids) {
    const Tree* job = answer.find(id);
    if (job == nullptr && some_gone) continue;
    if (job == nullptr || text_at(*job, "job_state").empty() || text_at(*job, "queue").empty()) {
      garbled.push_back(id);
      jobs.push_back({.id = id});
      continue;
    }
    const auto state = pbs_state(text_at(*job, "job_state"), "");
    if (state.is_alive()) jobs.push_back(queued_job(id, *job, state.kind));
  }
  QUINTET_CHECK(garbled.size() < ids.size(), "{} gave an unexpected answer about {}", status.command,
                fmt::join(garbled, ", "));
  if (!garbled.empty())
    log::warning("{} gave an unexpected answer about {}: counted as waiting", status.command,
                 fmt::join(garbled, ", "));
  return jobs;
}

/// Whether a path stands in a text as a whole, not as the end or the beginning of another one.
bool has_path(const std::string& text, const std::string& path) {
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + 1)) {
    const auto behind = at + path.size();
    if ((at == 0 || !is_of_paths(text[at - 1])) && (behind == text.size() || !is_of_paths(text[behind])))
      return true;
  }
  return false;
}

/// A job tells the words that it was submitted with.
std::vector<std::string> ask_script(const Asked& status, const std::string& script) {
  const auto ids = select_jobs(status);
  std::vector<std::string> found;
  if (ids.empty()) return found;
  bool some_gone = false;
  const Tree answer = jobs_in_answer(status, ids, some_gone);
  for (const auto& [id, job] : answer.entries()) {
    const std::string word = text_at(job, "job_state");
    if (word.empty() || !has_path(text_at(job, "Submit_arguments"), script)) continue;
    if (pbs_state(word, "").is_alive()) found.push_back(id);
  }
  return found;
}

/// PBS has no option that leaves a node out.
std::vector<std::string> failed_nodes(const Asked& /*status*/, const std::string& /*nodes*/) { return {}; }

std::vector<std::string> cancel_words(const std::string& command, const std::string& id) {
  return {command, id};
}

std::vector<std::string> stop_words(const std::string& command, const std::string& id) {
  return {beside(command, "qsig"), "-s", "SIGUSR1", id};
}

}  // namespace
}  // namespace pbs

JobState pbs_state(const std::string& word, const std::string& reason) {
  if (word.size() == 1 && std::string("QHWTM").find(word) != std::string::npos)
    return {JobState::Kind::waiting, word, reason};
  if (word.size() == 1 && std::string("RESUB").find(word) != std::string::npos)
    return {JobState::Kind::running, word, reason};
  if (word == "F" || word == "X") return {JobState::Kind::ended, word, reason};
  throw InputError(fmt::format("qstat answers with a state that is not known: '{}'", word));
}

const SchedulerRow pbs_row = {.value = SchedulerKind::pbs,
                              .name = "pbs",
                              .doc = "PBS Pro",
                              .submit = "qsub",
                              .status = "qstat",
                              .cancel = "qdel",
                              .id_pattern = R"([0-9]+(\[\])?(\.[A-Za-z0-9._-]+)?)",
                              .directive = "#PBS ",
                              .task_variable = "PBS_ARRAY_INDEX",
                              .job_variables = "${PBS_ARRAY_ID:-$PBS_JOBID}",
                              .memory_options = "-l (p?v?mem=|.*,p?v?mem=).*",
                              .prelude = "",
                              .head = pbs::head,
                              .path_problem = pbs::path_problem,
                              .orders_tasks = false,
                              .submit_words = pbs::submit_words,
                              .ask = pbs::ask,
                              .ask_user = pbs::ask_user,
                              .ask_script = pbs::ask_script,
                              .failed_nodes = pbs::failed_nodes,
                              .doubtful =
                                  "[Tt]imed? ?out|cannot connect|[Cc]ommunication|onnection|End of "
                                  "[Ff]ile|[Pp]remature|[Pp]ipe|No reply",
                              .cancel_words = pbs::cancel_words,
                              .stop_words = pbs::stop_words};

}  // namespace quintet
