#include "apps/quintet/campaign/runner.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "apps/quintet/campaign/program.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::campaign {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t most_links = 1000;  // of an item that ends with 75

enum class State { waiting, running, over };

/// One item on its way.
struct Course {
  State state = State::waiting;
  std::size_t open = 0;  ///< items that it waits for
  std::int64_t tries = 0, links = 0;
  bool goes_on = false;
  std::int64_t process = 0;
  std::vector<std::size_t> slots;  ///< of its class
  double begin = 0;
  bool too_long = false;
};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGUSR1}) sigaddset(&signals, signal);
  return signals;
}

std::string last_words(const std::string& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) return "";
  constexpr std::streamoff most = 4096;
  const std::streamoff size = stream.tellg();
  stream.seekg(std::max<std::streamoff>(0, size - most));
  std::stringstream text;
  text << stream.rdbuf();
  return last_line(text.str());
}

class Runner {
 public:
  Runner(const Graph& graph, const Store& store)
      : graph_(graph), store_(store), courses_(graph.items().size()) {
    const std::size_t n = graph.items().size();
    result_.outcomes.assign(n, Outcome::skipped);
    result_.why.resize(n);
    result_.seconds.assign(n, 0);
    for (const auto& [name, count] : graph.slots()) free_[name].assign(static_cast<std::size_t>(count), true);
    after_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      for (const std::size_t before : graph.items()[i].after) after_[before].push_back(i);
  }

  CampaignResult run() {
    const sigset_t signals = watched_signals();
    look_up();
    rank();
    while (n_over_ < courses_.size()) {
      if (!result_.stopped) start_what_can();
      if (n_running_ == 0) break;
      const timespec patience{0, 100'000'000};  // an item's walltime may be over
      if (const int signal = sigtimedwait(&signals, nullptr, &patience); signal > 0 && signal != SIGCHLD)
        stop();
      reap();
    }
    result_.makespan = now();
    return std::move(result_);
  }

 private:
  [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  /// Let all that runs write a checkpoint and end; asked again, kill it.
  void stop() {
    if (!result_.stopped) log::info("Stopping: {} items are asked to end; once more kills them", n_running_);
    for (const auto& course : courses_)
      if (course.state == State::running)
        kill(static_cast<pid_t>(-course.process), result_.stopped ? SIGKILL : SIGTERM);
    result_.stopped = true;
  }

  /// What is done already, and what the rest waits for.
  void look_up() {
    for (std::size_t i = 0; i < courses_.size(); ++i) {
      const auto done = store_.find(graph_.items()[i]);
      courses_[i].goes_on = !done && !graph_.stages()[graph_.items()[i].stage].again.empty() &&
                            store_.is_begun(graph_.items()[i]);
      if (done) {
        result_.outcomes[i] = Outcome::reused;
        result_.seconds[i] = done->seconds;
        courses_[i].state = State::over;
        ++n_over_;
      }
    }
    for (std::size_t i = 0; i < courses_.size(); ++i)
      for (const std::size_t before : graph_.items()[i].after)
        if (result_.outcomes[before] != Outcome::reused) ++courses_[i].open;
  }

  /// The longest way from each item on: by what items of its stage once took, else a second each.
  void rank() {
    std::vector<double> sum(graph_.stages().size(), 0), count(graph_.stages().size(), 0);
    for (std::size_t i = 0; i < courses_.size(); ++i)
      if (result_.outcomes[i] == Outcome::reused) {
        sum[graph_.items()[i].stage] += result_.seconds[i];
        count[graph_.items()[i].stage] += 1;
      }
    way_.assign(courses_.size(), 0);
    for (std::size_t i = courses_.size(); i-- > 0;) {
      const std::size_t stage = graph_.items()[i].stage;
      double longest = 0;
      for (const std::size_t next : after_[i]) longest = std::max(longest, way_[next]);
      way_[i] = longest + (count[stage] > 0 ? sum[stage] / count[stage] : 1.0);
    }
    for (std::size_t i = 0; i < courses_.size(); ++i)
      if (courses_[i].state == State::waiting && courses_[i].open == 0) ready_.push_back(i);
  }

  void start_what_can() {
    std::stable_sort(ready_.begin(), ready_.end(), [&](auto a, auto b) { return way_[a] > way_[b]; });
    // A wide item at the front of its class holds its place: narrow ones behind it would keep it waiting.
    std::map<std::string, bool> is_held;
    std::vector<std::size_t> rest;
    for (const std::size_t i : ready_) {
      const auto& stage = graph_.stages()[graph_.items()[i].stage];
      auto& free = free_[stage.slot];
      const auto n_free = std::count(free.begin(), free.end(), true);
      if (is_held[stage.slot] || n_free < stage.ranks) {
        is_held[stage.slot] = true;
        rest.push_back(i);
        continue;
      }
      start(i);
    }
    ready_ = rest;
  }

  void start(std::size_t i) {
    const Item& item = graph_.items()[i];
    const auto& stage = graph_.stages()[item.stage];
    Course& course = courses_[i];
    auto& free = free_[stage.slot];
    course.slots.clear();
    for (std::size_t s = 0; s < free.size() && std::ssize(course.slots) < stage.ranks; ++s)
      if (free[s]) {
        free[s] = false;
        course.slots.push_back(s);
      }
    std::vector<std::string> words = stage.command;
    if (course.goes_on) words.insert(words.end(), stage.again.begin(), stage.again.end());
    store_.begin(item, !course.goes_on);
    if (!course.goes_on) ++course.tries;
    course.begin = now();
    course.too_long = false;
    course.process = start_program(
        item.program, graph_.words(item, words, store_.work(item), store_.folder()), store_.work(item));
    store_.claim(item, course.process);
    course.state = State::running;
    ++n_running_;
  }

  void reap() {
    for (std::size_t i = 0; i < courses_.size(); ++i) {
      Course& course = courses_[i];
      if (course.state != State::running) continue;
      const auto& stage = graph_.stages()[graph_.items()[i].stage];
      int status = 0;
      if (waitpid(static_cast<pid_t>(course.process), &status, WNOHANG) == 0) {
        if (stage.walltime && now() - course.begin > *stage.walltime && !course.too_long) {
          course.too_long = true;
          kill(static_cast<pid_t>(-course.process), SIGKILL);
        }
        continue;
      }
      kill(static_cast<pid_t>(-course.process), SIGKILL);  // what it has left
      ended(i, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    }
  }

  void ended(std::size_t i, int code) {
    const Item& item = graph_.items()[i];
    const auto& stage = graph_.stages()[item.stage];
    Course& course = courses_[i];
    const double end = now();
    std::string why;
    if (code == 0) {
      why = store_.finish(item, stage, end - course.begin, std::max<std::int64_t>(1, course.tries));
    } else {
      const std::string words = last_words(store_.work(item) + "/log.txt");
      why = course.too_long ? fmt::format("it took longer than its walltime of {} s", *stage.walltime)
                            : fmt::format("exit code {}{}{}", code, words.empty() ? "" : ": ", words);
    }
    for (const std::size_t s : course.slots) {
      free_[stage.slot][s] = true;
      result_.tries.push_back({i, fmt::format("{} {}", stage.slot, s + 1), course.begin, end, why.empty()});
    }
    --n_running_;
    constexpr int stopped = static_cast<int>(ExitCode::stopped_early),
                  numerical = static_cast<int>(ExitCode::numerical);
    if (why.empty()) {
      result_.outcomes[i] = Outcome::done;
      result_.seconds[i] = end - course.begin;
      log::info("{} of {} done: {} ({:.3g} s)", n_over_ + 1, courses_.size(), item.label, end - course.begin);
      over(i);
    } else if (result_.stopped) {  // its folder stays, for `again`
      course.state = State::waiting;
      result_.why[i] = "it was stopped";
    } else if (code == stopped && !course.too_long && ++course.links < most_links) {
      course.goes_on = true;
      course.state = State::waiting;
      ready_.push_back(i);
    } else if (code != numerical && course.tries < stage.tries) {
      log::warning("{}: {}; it is tried again", item.label, why);
      course.goes_on = false;
      course.state = State::waiting;
      ready_.push_back(i);
    } else {
      log::warning("{} failed: {}", item.label, why);
      store_.give_up(item, why);
      result_.outcomes[i] = Outcome::failed;
      result_.why[i] = why;
      over(i);
    }
  }

  /// What waits for an item that is over is ready, or left out with it.
  void over(std::size_t i) {
    courses_[i].state = State::over;
    ++n_over_;
    const bool good = result_.outcomes[i] == Outcome::done;
    for (const std::size_t next : after_[i]) {
      if (courses_[next].state == State::over) continue;
      if (!good) {
        result_.why[next] = fmt::format("'{}' is missing", graph_.items()[i].label);
        over(next);
      } else if (--courses_[next].open == 0) {
        ready_.push_back(next);
      }
    }
  }

  const Graph& graph_;
  const Store& store_;
  std::vector<Course> courses_;
  std::vector<std::vector<std::size_t>> after_;
  std::vector<double> way_;
  std::vector<std::size_t> ready_;
  std::map<std::string, std::vector<bool>> free_;
  std::size_t n_over_ = 0, n_running_ = 0;
  Clock::time_point start_ = Clock::now();
  CampaignResult result_;
};

}  // namespace

double bound(const Graph& graph, const CampaignResult& result) {
  std::vector<double> way(graph.items().size(), 0);
  std::map<std::string, double> work;
  double longest = 0;
  for (std::size_t i = 0; i < way.size(); ++i) {
    if (result.outcomes[i] != Outcome::done) continue;
    const auto& stage = graph.stages()[graph.items()[i].stage];
    for (const std::size_t before : graph.items()[i].after) way[i] = std::max(way[i], way[before]);
    way[i] += result.seconds[i];
    longest = std::max(longest, way[i]);
    work[stage.slot] += result.seconds[i] * static_cast<double>(stage.ranks);
  }
  for (const auto& [slot, seconds] : work)
    longest = std::max(longest, seconds / static_cast<double>(graph.slots().at(slot)));
  return longest;
}

void hold_signals() {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

CampaignResult run_campaign(const Graph& graph, const Store& store) { return Runner(graph, store).run(); }

}  // namespace quintet::campaign
