#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include <fmt/ranges.h>

#include "apps/application/life/progress.hpp"
#include "apps/campaign/table.hpp"
#include "apps/quintet/submit/progress.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/submit.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
namespace {

std::string job_text(const std::string& id, const JobState& state) {
  if (state.kind == JobState::Kind::gone) return fmt::format("{} is gone from the queue", id);
  if (state.kind == JobState::Kind::unknown) return fmt::format("{} not known", id);
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

/// Of a run that goes on: the rest of its time, counted from when it was told.
std::string left_text(const RunProgress& progress, bool is_alive) {
  if (!is_alive || progress.state != "running" || !progress.left_s || !progress.written) return "";
  return clock_text(std::max(0.0, *progress.left_s - std::max(0.0, now_unix() - *progress.written)));
}

/// How long ago the run told its step: of one that hangs, long.
std::string told_text(const RunProgress& progress) {
  if (!progress.written) return "";
  return clock_text(std::max(0.0, now_unix() - *progress.written)) + " ago";
}

/// A run whose jobs are all gone without a last word of the program was lost on the way.
std::string state_text(const RunProgress& progress, bool is_alive) {
  std::string state = progress.state;
  if (state == "running" && !is_alive) state = "broken off";
  if (!progress.ended.empty() && progress.state != "done") state += fmt::format(" ({})", progress.ended);
  return state;
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

std::vector<Application::Flag> status_flags() { return {{"RUNDIR", "directory of the run", false, "."}}; }

void status(const Application::Arguments& arguments) {
  const std::string& directory = arguments[0].front();
  const auto record = read_record(directory);
  QUINTET_CHECK(record, "'{}' holds no jobs.yaml: nothing was submitted from it", directory);
  std::string why;
  const auto states = Scheduler(read_machine(record->machine)).told_states(record->ids, why);
  if (!why.empty()) log::warning("How the jobs are is not known: {}", why);
  bool is_alive = false;
  std::vector<std::string> jobs;
  for (const auto& id : record->ids) {
    jobs.push_back(job_text(id, states.at(id)));
    is_alive = is_alive || states.at(id).is_alive();
  }
  std::printf("%s\n",
              fmt::format("{} {} on {}, queue {}: {}", record->application, record->command, record->machine,
                          record->queue,
                          jobs.empty() ? "nothing is queued" : fmt::format("{}", fmt::join(jobs, ", ")))
                  .c_str());
  if (record->submitting)
    log::warning("A submission broke off: a job '{}' may be queued that is not in this list", record->name);

  std::vector<std::vector<std::string>> rows = {{"run", "state", "step", "rate", "left", "told", "settings"}};
  for (const auto& point : record->points) {
    const auto progress = run_progress((fs::path(directory) / point.folder).string());
    rows.push_back({point.folder.empty()
                        ? fs::path(fs::absolute(directory)).lexically_normal().filename().string()
                        : point.folder,
                    state_text(progress, is_alive), step_text(progress), rate_text(progress),
                    left_text(progress, is_alive), told_text(progress),
                    fmt::format("{}", fmt::join(point.settings, ", "))});
  }
  for (const auto& line : campaign::aligned(rows)) std::puts(line.c_str());
  if (!is_alive && record->points.size() > 1) report_sweep(directory, *record);
}

}  // namespace quintet::commands
