#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <type_traits>

#include <fmt/ranges.h>

#include "apps/application/life/progress.hpp"
#include "apps/application/report/report.hpp"
#include "apps/campaign/table.hpp"
#include "apps/quintet/submit/progress.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/retry.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/submit.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
namespace {

/// Text on how a job goes or ended, and what its scheduler's words mean.
std::string job_text(const std::string& id, const JobState& state) {
  if (state.kind == JobState::Kind::unknown) return fmt::format("{} not known", id);
  if (state.kind == JobState::Kind::gone)
    return fmt::format("{} is gone from the queue, how it ended is not known", id);
  return fmt::format("{} {}{}", id, state.word, state.reason.empty() ? "" : " (" + state.reason + ")");
}

std::string step_text(const RunProgress& progress) {
  if (!progress.step) return "";
  return progress.last ? fmt::format("{}/{}", *progress.step, *progress.last)
                       : fmt::format("{}", *progress.step);
}

std::string rate_text(const RunProgress& progress) {
  return progress.steps_per_s ? fmt::format("{:.4g}/s", *progress.steps_per_s) : "";
}

double now_unix() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// Text of the time left of a run that goes on, counted from when it was written.
std::string left_text(const RunProgress& progress, bool is_alive) {
  if (!is_alive || progress.state != "running" || !progress.left_s || !progress.written) return "";
  return clock_text(std::max(0.0, *progress.left_s - std::max(0.0, now_unix() - *progress.written)));
}

/// How long ago the run told its step: of one that hangs, long.
std::string told_text(const RunProgress& progress) {
  if (!progress.written) return "";
  return clock_text(std::max(0.0, now_unix() - *progress.written)) + " ago";
}

/// Whether jobs of a directory wait or run.
enum class Alive { yes, no, unknown };

/// A run whose jobs are all gone without a last word of the program was lost on the way.
std::string state_text(const RunProgress& progress, Alive alive) {
  std::string state = progress.state;
  if (state == "running" && alive == Alive::no) state = "broken off";
  if (state == "running" && alive == Alive::unknown) state = "running or broken off";
  if (!progress.ended.empty() && progress.state != "done") state += fmt::format(" ({})", progress.ended);
  return state;
}

/// One run of the directory, with the job that it was last in.
struct RunView {
  std::string name{}, folder{};  ///< "" for the directory itself
  std::vector<std::string> settings{};
  RunProgress progress{};
  std::string state{};
  std::int64_t task = -1;
  std::string job{};  ///< "" where none has begun
  JobState job_state{};
  std::vector<std::string> logs{};  ///< that are there, the program's first
};

/// State of this task of an array job; absent if it is not known.
std::optional<JobState> state_of_task(const JobState& state, std::int64_t task) {
  if (task < 0) return state;
  for (const auto& other : state.tasks)
    if (other.task == task) return other;
  return std::nullopt;
}

RunView run_view(const std::string& directory, const JobRecord& record,
                 const std::map<std::string, JobState>& states, std::size_t n, Alive alive) {
  const auto& point = record.points[n];
  const fs::path all = fs::absolute(directory).lexically_normal(), folder = all / point.folder;
  const bool is_array = !point.folder.empty();
  RunView run{.name = is_array ? point.folder : all.filename().string(),
              .folder = point.folder,
              .settings = point.settings,
              .progress = run_progress(folder.string()),
              .task = is_array ? static_cast<std::int64_t>(n) : -1};
  run.state = state_text(run.progress, alive);
  for (const auto& id : record.ids)
    if (const auto state = state_of_task(states.at(id), run.task);
        state && state->kind != JobState::Kind::waiting && state->word != "CANCELLED")
      run.job = id, run.job_state = *state;
  const auto log = is_array ? fmt::format("scheduler_{}.log", n) : std::string("scheduler.log");
  run.job_state.end = end_of_job(run.job_state, run.job, (all / log).string());
  for (const auto& file : {folder / "job.log", folder / "run.log", all / log})
    if (fs::exists(file)) run.logs.push_back(file.string());
  return run;
}

/// Why a run is not done, by its scheduler, and where to read on; "" where there is nothing to say.
std::string trouble_text(const RunView& run) {
  const auto& state = run.job_state;
  const bool ended_well = state.end == JobEnd::none || state.end == JobEnd::completed;
  if (run.progress.state == "done" || ended_well) return "";
  const std::string meaning = state.end == JobEnd::out_of_memory ? "it used more memory than it had"
                              : state.end == JobEnd::time_limit  ? "its time ran out"
                                                                 : meaning_of_reason(state.reason);
  return fmt::format(
      "{}: job {}{}{}{}", run.name, job_text(run.job, state), meaning.empty() ? "" : ": " + meaning,
      state.nodes.empty() ? "" : ", on " + state.nodes,
      run.logs.empty() ? "; it has written no log" : fmt::format("; see {}", fmt::join(run.logs, ", ")));
}

Tree text_or_null(const std::string& text) { return text.empty() ? Tree() : Tree::text(text); }

template <class Number>
Tree number_or_null(const std::optional<Number>& number) {
  if (!number) return {};
  if constexpr (std::is_integral_v<Number>)
    return Tree::integer(*number);
  else
    return Tree::number(*number);
}

const char* kind_name(JobState::Kind kind) {
  switch (kind) {
    case JobState::Kind::waiting:
      return "waiting";
    case JobState::Kind::running:
      return "running";
    case JobState::Kind::ended:
      return "ended";
    case JobState::Kind::gone:
      return "gone";
    case JobState::Kind::unknown:
      return "unknown";
  }
  throw InternalError("a kind of job state has no name");
}

Tree job_tree(const std::string& id, const JobState& state) {
  Tree tree = Tree::map({{"id", Tree::text(id)}, {"state", Tree::text(kind_name(state.kind))}});
  if (state.task >= 0) tree.set("task", Tree::integer(state.task));
  tree.set("word", text_or_null(state.word));
  tree.set("reason", text_or_null(state.reason));
  tree.set("meaning", text_or_null(meaning_of_reason(state.reason)));
  tree.set("end", text_or_null(end_name(state.end)));
  tree.set("nodes", text_or_null(state.nodes));
  if (state.task >= 0) return tree;
  Tree tasks = Tree::list();
  for (const auto& task : state.tasks) tasks.append(job_tree(id, task));
  tree.set("tasks", std::move(tasks));
  return tree;
}

Tree run_tree(const RunView& run) {
  Tree settings = Tree::list(), logs = Tree::list();
  for (const auto& setting : run.settings) settings.append(Tree::text(setting));
  for (const auto& log : run.logs) logs.append(Tree::text(log));
  const auto& progress = run.progress;
  return Tree::map({{"folder", Tree::text(run.folder)},
                    {"settings", std::move(settings)},
                    {"state", Tree::text(run.state)},
                    {"ended", text_or_null(progress.ended)},
                    {"step", number_or_null(progress.step)},
                    {"last_step", number_or_null(progress.last)},
                    {"steps_per_s", number_or_null(progress.steps_per_s)},
                    {"left_s", number_or_null(progress.left_s)},
                    {"told_unix_s", number_or_null(progress.written)},
                    {"job", text_or_null(run.job)},
                    {"trouble", text_or_null(trouble_text(run))},
                    {"logs", std::move(logs)}});
}

/// Remarks on what was asked for anew, and why; or that the file cannot be read.
std::vector<std::string> remarks_of(const std::string& directory) {
  try {
    const auto ask = read_ask(directory);
    return ask ? ask->remarks : std::vector<std::string>();
  } catch (const InputError& error) {
    return {error.what()};
  }
}

/// docs/machines.md has the meaning of each key; what is there stays, keys may be added.
Tree status_tree(const std::string& directory, const JobRecord& record,
                 const std::map<std::string, JobState>& states, const std::vector<RunView>& runs,
                 const std::string& why_unknown) {
  Tree jobs = Tree::list(), views = Tree::list(), asked = Tree::list();
  for (const auto& id : record.ids) jobs.append(job_tree(id, states.at(id)));
  for (const auto& run : runs) views.append(run_tree(run));
  for (const auto& remark : remarks_of(directory)) asked.append(Tree::text(remark));
  return Tree::map({{"format", Tree::text("quintet-status")},
                    {"version", Tree::integer(1)},
                    {"directory", Tree::text(fs::absolute(directory).lexically_normal().string())},
                    {"machine", Tree::text(record.machine)},
                    {"queue", Tree::text(record.queue)},
                    {"application", Tree::text(record.application)},
                    {"command", Tree::text(record.command)},
                    {"submitted", text_or_null(record.date)},
                    {"in_doubt", Tree::boolean(record.submitting)},
                    {"unknown_because", text_or_null(why_unknown)},
                    {"jobs", std::move(jobs)},
                    {"runs", std::move(views)},
                    {"asked_anew", std::move(asked)}});
}

/// No answer is one, too: all unknown then, and why.
std::map<std::string, JobState> asked_states(const JobRecord& record, std::string& why) {
  try {
    return Scheduler(read_machine(record.machine)).told_states(record.ids, why);
  } catch (const InputError& error) {
    why = error.what();
  }
  std::map<std::string, JobState> states;
  for (const auto& id : record.ids) states[id] = {};
  return states;
}

// The scheduler's word and the run's own stand side by side: a job may be queued, and its run be done.
void print_status(const std::string& directory, const JobRecord& record,
                  const std::map<std::string, JobState>& states, const std::vector<RunView>& runs,
                  Alive alive) {
  std::vector<std::string> jobs;
  for (const auto& id : record.ids) jobs.push_back(job_text(id, states.at(id)));
  std::printf(
      "%s\n",
      fmt::format("{} {} on {}, queue {}: {}", record.application, record.command, record.machine,
                  record.queue, jobs.empty() ? "nothing is queued" : fmt::format("{}", fmt::join(jobs, ", ")))
          .c_str());
  for (const auto& id : record.ids)
    if (const auto& state = states.at(id); state.kind == JobState::Kind::waiting)
      if (const auto meaning = meaning_of_reason(state.reason); !meaning.empty())
        std::printf("%s\n", fmt::format("{} waits: {}", id, meaning).c_str());
  std::vector<std::vector<std::string>> rows = {{"run", "state", "step", "rate", "left", "told", "settings"}};
  for (const auto& run : runs)
    rows.push_back({run.name, run.state, step_text(run.progress), rate_text(run.progress),
                    left_text(run.progress, alive == Alive::yes), told_text(run.progress),
                    fmt::format("{}", fmt::join(run.settings, ", "))});
  for (const auto& line : campaign::aligned(rows)) std::puts(line.c_str());
  for (const auto& remark : remarks_of(directory)) std::puts(remark.c_str());
  constexpr int most = 20;
  int n_told = 0, n_all = 0;
  for (const auto& run : runs)
    if (const auto trouble = trouble_text(run); !trouble.empty() && ++n_all <= most) {
      std::puts(trouble.c_str());
      ++n_told;
    }
  if (n_all > n_told) std::printf("and %d more; quintet status --json has all\n", n_all - n_told);
}

/// One page and one table of all runs of a sweep that have results.
void report_sweep(const std::string& directory, const JobRecord& record) {
  constexpr double patience_s = 600;
  const fs::path folder = fs::absolute(directory).lexically_normal();
  std::vector<std::string> words = {fs::read_symlink("/proc/self/exe").string(), "report"};
  for (const auto& point : record.points)
    if (fs::exists(folder / point.folder / "summary.json")) words.push_back((folder / point.folder).string());
  if (words.size() == 2) return;
  words.insert(words.end(), {"--index", (folder / "index.html").string(), "--title", record.name});
  const auto result = run_command(words, patience_s);
  QUINTET_CHECK(result.good(), "No report of '{}': {}", directory, last_line(result.errors));
  std::printf("\n%s", result.out.c_str());
}

}  // namespace

std::vector<Application::Flag> status_flags() {
  return {{"RUNDIR", "directory of the run", false, "."},
          {"--json", "print all that is known as JSON (docs/machines.md)", false, "", true}};
}

void status(const Application::Arguments& arguments) {
  const std::string& directory = arguments[0].front();
  const auto record = read_record(directory);
  QUINTET_CHECK(record, "'{}' holds no jobs.yaml: nothing was submitted from it", directory);
  std::string why;
  const auto states = asked_states(*record, why);
  Alive alive = record->submitting ? Alive::unknown : Alive::no;
  for (const auto& id : record->ids) {
    if (states.at(id).is_alive()) alive = Alive::yes;
    if (states.at(id).may_live() && alive == Alive::no) alive = Alive::unknown;
  }
  std::vector<RunView> runs;
  for (std::size_t n = 0; n < record->points.size(); ++n)
    runs.push_back(run_view(directory, *record, states, n, alive));
  if (!arguments[1].empty()) {
    std::puts(to_json(status_tree(directory, *record, states, runs, why)).c_str());
    return;
  }
  if (!why.empty()) log::warning("How the jobs are is not known: {}", why);
  print_status(directory, *record, states, runs, alive);
  if (record->submitting)
    log::warning("A submission broke off: a job '{}' may be queued that is not in this list", record->name);
  if (alive == Alive::no && record->points.size() > 1) report_sweep(directory, *record);
}

}  // namespace quintet::commands
