#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/ranges.h>

#include "apps/application/life/owner_state.hpp"
#include "apps/application/report/report.hpp"
#include "apps/quintet/submit/record.hpp"
#include "apps/quintet/submit/retry.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "apps/quintet/submit/script.hpp"
#include "apps/quintet/submit/submit.hpp"
#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

/// Commands that a job's script runs before its program begins; their output goes to job.log.
namespace quintet::commands {
namespace fs = std::filesystem;
namespace {

bool is_in(const std::vector<std::string>& ids, const std::string& id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

/// "12[3].pbs1", a task, is of "12[].pbs1".
std::string job_of_task(std::string id) {
  const auto open = id.find('['), close = id.find(']');
  if (open != std::string::npos && close != std::string::npos && close > open)
    id.erase(open + 1, close - open - 1);
  return id;
}

void say(const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); }

/// One process deals with a job; the other tasks of an array wait for what it finds.
class OnlyOnce {
 public:
  OnlyOnce(const std::string& directory, const std::string& id)
      : folder_(fs::path(directory) / ".quintet" / ("retry_" + file_words(id))) {
    std::error_code wrong;
    fs::create_directories(folder_.parent_path(), wrong);
    is_first_ = fs::create_directory(folder_, wrong) && !wrong;
  }
  ~OnlyOnce() {
    if (is_first_) {
      std::error_code ignored;
      fs::create_directory(folder_ / "done", ignored);
    }
  }
  OnlyOnce(const OnlyOnce&) = delete;
  OnlyOnce& operator=(const OnlyOnce&) = delete;
  [[nodiscard]] bool is_first() const { return is_first_; }
  void wait() const {
    constexpr int most_s = 90;
    for (int s = 0; s < most_s && !fs::exists(folder_ / "done"); ++s) sleep(1);
  }

 private:
  static std::string file_words(std::string id) {
    std::replace_if(
        id.begin(), id.end(), [](char c) { return c == '[' || c == ']' || c == '/'; }, '_');
    return id;
  }
  fs::path folder_;
  bool is_first_ = false;
};

/// The record once all jobs are in it: the second of a long chain may begin while the last are still being
/// queued, by a process that would write over what another one adds.
std::optional<JobRecord> whole_record(const std::string& directory) {
  constexpr int most_s = 60;
  auto record = read_record(directory);
  for (int s = 0; s < most_s && record && std::ssize(record->ids) < record->chain; ++s) {
    const auto owner = owner_state(directory + "/.quintet");
    if (!owner || !owner->is_alive) break;
    sleep(1);
    record = read_record(directory);
  }
  return record;
}

/// The chain as this job sees it.
struct Chain {
  std::string before;              ///< the job before this one; "" for the first
  std::vector<std::string> later;  ///< those behind it
};

Chain chain_around(const JobRecord& record, const JobAsk& ask, const std::string& own) {
  Chain chain;
  const auto at = std::find(record.ids.begin(), record.ids.end(), own);
  if (at == record.ids.end()) return chain;
  for (auto id = record.ids.begin(); id != at; ++id)
    if (!is_in(ask.replaced, *id)) chain.before = *id;
  for (auto id = at + 1; id != record.ids.end(); ++id)
    if (!is_in(ask.replaced, *id)) chain.later.push_back(*id);
  return chain;
}

/// Others in the place of these jobs: queued behind them first, so that at no moment two chains can run.
void queue_anew(const Scheduler& scheduler, const Machine& machine, const std::string& directory,
                JobRecord& record, JobAsk& ask, const std::vector<std::string>& old) {
  const std::string script = directory + "/job.sh";
  write_text_file(script, script_text(machine, ask.job));
  const auto n_before = record.ids.size();
  for (std::size_t n = 0; n < old.size(); ++n)
    queue_job(scheduler, directory, record, script,
              {.ended = n == 0 ? old : std::vector<std::string>{record.ids.back()}}, n_before + old.size());
  ask.replaced.insert(ask.replaced.end(), old.begin(), old.end());
  record.walltime = ask.job.shape.walltime;
  write_record(directory, record);
}

/// Whether this job's place is taken by others.
bool deal_with(const std::string& directory, const std::string& own, bool came_further) {
  auto ask = read_ask(directory);
  if (!ask) return false;
  auto record = whole_record(directory);
  if (!record) return false;
  if (is_in(ask->replaced, own)) return true;
  const Chain chain = chain_around(*record, *ask, own);
  if (chain.before.empty() || is_in(ask->dealt_with, chain.before)) return false;
  const Machine machine = read_machine(record->machine);
  const Scheduler scheduler(machine);
  std::string why;
  const auto states = scheduler.told_states({chain.before, own}, why);
  auto before = states.at(chain.before);
  before.end = end_of_job(before, chain.before, directory + "/scheduler.log");
  if (before.end == JobEnd::none) {
    say(fmt::format("How the job before, {}, ended is not known{}", chain.before,
                    why.empty() ? "" : ": " + why));
    return false;
  }
  const auto failed =
      before.end == JobEnd::node_failure ? scheduler.failed_nodes(before.nodes) : std::vector<std::string>{};
  const NextAsk next = next_ask(machine, *ask, before, failed, came_further);
  if (next.remark.empty()) return false;
  const std::string remark =
      fmt::format("The job before, {} ({}), {}", chain.before, before.word, next.remark);
  say(remark);
  const bool is_here = std::any_of(failed.begin(), failed.end(), [&](const std::string& node) {
    return ("," + states.at(own).nodes + ",").find("," + node + ",") != std::string::npos;
  });
  std::vector<std::string> old = chain.later;
  const bool replaces_own = next.needs_new_job || is_here;
  if (replaces_own) old.insert(old.begin(), own);
  if (!next.asks_otherwise || old.empty()) return false;
  JobAsk asked = *ask;
  asked.job = next.job;
  asked.dealt_with.push_back(chain.before);
  asked.remarks.push_back(remark);
  try {
    queue_anew(scheduler, machine, directory, *record, asked, old);
  } catch (const InputError& error) {
    say(fmt::format("No other jobs could be queued from here, and the chain goes on as it was: {}",
                    error.what()));
    write_text_file(directory + "/job.sh", script_text(machine, ask->job));
    return false;
  }
  keep_ask(asked);
  std::vector<std::string> needless = chain.later;
  // Whoever cancelled the run meanwhile did not know of the new ones.
  if (fs::exists(fs::path(directory) / "job.ended"))
    needless.insert(needless.end(), record->ids.end() - std::ssize(old), record->ids.end());
  for (auto id = needless.rbegin(); id != needless.rend(); ++id) {
    try {
      scheduler.cancel(*id);
    } catch (const InputError& error) {  // it finds itself replaced, or the run ended, when it begins
      say(error.what());
    }
  }
  say(fmt::format("{} are queued in place of {}",
                  fmt::join(record->ids.end() - old.size(), record->ids.end(), ", "), fmt::join(old, ", ")));
  return replaces_own;
}

}  // namespace

std::vector<Application::Flag> retry_flags() {
  return {{"RUNDIR", "directory of the jobs", true, ""},
          {"--job", "id of the job that asks", true, ""},
          {"--starts", "jobs that began at the newest checkpoint and came no further", false, "0"}};
}

void retry(const Application::Arguments& arguments) {
  const std::string& directory = arguments[0].front();
  const std::string own = job_of_task(arguments[1].front());
  const bool came_further = to_integer(arguments[2].front()).value_or(0) == 0;
  const OnlyOnce turn(directory, own);
  bool is_replaced = false;
  if (turn.is_first()) {
    is_replaced = deal_with(directory, own, came_further);
  } else {
    turn.wait();
    const auto ask = read_ask(directory);
    is_replaced = ask && is_in(ask->replaced, own);
  }
  if (is_replaced) std::puts("replaced");
}

}  // namespace quintet::commands
