#include "apps/campaign/runner.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <deque>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "apps/campaign/growth.hpp"
#include "apps/campaign/item_programs.hpp"
#include "apps/campaign/resources.hpp"
#include "apps/campaign/table.hpp"
#include "apps/campaign/workers/held_signals.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::campaign {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::int64_t most_links = 1000;  // of an item that ends with 75
constexpr double looks_elsewhere_s = 0.5;

enum class State { waiting, running, elsewhere, over };

/// One item on its way.
struct Course {
  State state = State::waiting;
  std::int64_t tries = 0, links = 0;
  bool goes_on = false;
  double begin = 0;
  bool too_long = false;
};

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
  Runner(const Graph& graph, Store& store, const RunnerOptions& options)
      : graph_(graph),
        store_(store),
        options_(options),
        courses_(graph.items().size()),
        programs_(graph, store),
        followers_(graph.items().size()),
        last_took_(graph.stages().size(), 0),
        table_(graph) {
    const std::size_t n = graph.items().size();
    result_.outcomes.assign(n, Outcome::skipped);
    result_.why.resize(n);
    result_.codes.assign(n, 0);
    result_.seconds.assign(n, 0);
    folders_ = {store.folder(), std::vector<bool>(n, false)};
  }

  CampaignResult run() {
    const HeldSignals held;
    const sigset_t signals = watched_signals();
    prepare();
    while (n_over_ < courses_.size()) {
      if (!result_.stopped) start_what_can();
      if (running_.empty() && (elsewhere_.empty() || result_.stopped || is_idle())) break;
      table_.show(now(), running_.size());
      const timespec patience{0, 100'000'000};  // an item's walltime may be over
      if (const int signal = sigtimedwait(&signals, nullptr, &patience); signal > 0 && signal != SIGCHLD)
        stop();
      const bool is_late = options_.stop_after > 0 && now() > options_.stop_after;
      if ((is_late || (options_.stop != nullptr && *options_.stop)) && !result_.stopped) stop();
      reap();
      if (now() - looked_ > looks_elsewhere_s) look_elsewhere();
    }
    table_.clear();
    for (const std::size_t i : elsewhere_) result_.why[i] = "another campaign is at it";
    result_.makespan = now();
    result_.n_warm = programs_.n_warm();
    return std::move(result_);
  }

 private:
  [[nodiscard]] double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  [[nodiscard]] const StageOptions& stage(std::size_t i) const { return graph_.stage_of(graph_.items()[i]); }

  /// Let all that runs write a checkpoint and end; asked again, kill it.
  void stop() {
    table_.clear();
    if (!result_.stopped)
      log::info("Stopping: {} asked to end; once more kills them",
                counted(running_.size(), "item is", "items are"));
    for (const std::size_t i : running_)
      if (result_.stopped)
        programs_.kill(i);
      else
        programs_.ask_to_end(i);
    result_.stopped = true;
  }

  /// Find what is done already, and the order of the rest.
  void prepare() {
    std::vector<std::size_t> done;
    for (std::size_t i = 0; i < courses_.size(); ++i) {
      const auto& item = graph_.items()[i];
      courses_[i].goes_on = !stage(i).again.empty() && store_.is_begun(item);
      if (take_if_done(i)) done.push_back(i);
      for (const std::size_t before : item.after) followers_[before].push_back(i);
    }
    const auto grown = Store::memory(store_.directory());
    const auto tasks =
        tasks_of(graph_,
                 predicted_seconds(graph_, Store::times(store_.directory()),
                                   [&](std::size_t i) { return courses_[i].state != State::over; }),
                 grown);
    const auto pools = pools_of(graph_);
    dispatcher_.emplace(tasks, pools, planning::best_ranks(tasks, pools));
    growth_.emplace(graph_, store_, tasks, pools);
    for (const std::size_t i : done)
      if (result_.outcomes[i] == Outcome::failed)
        ended_badly(i);
      else
        dispatcher_->done(i);
    withdraw_others();
    for (std::size_t i = 0; i < courses_.size(); ++i)
      if (courses_[i].state != State::over) programs_.expect(i);
  }

  /// Withdraw items that are not asked for.
  void withdraw_others() {
    if (options_.only.empty()) return;
    const std::set<std::string> only(options_.only.begin(), options_.only.end());
    for (std::size_t i = 0; i < courses_.size(); ++i) {
      const auto& item = graph_.items()[i];
      if (courses_[i].state == State::over) continue;
      std::string missing;
      for (const std::size_t before : item.after)
        if (courses_[before].state != State::over || result_.outcomes[before] == Outcome::skipped)
          missing = graph_.items()[before].label;
      if (only.contains(item.key) && missing.empty()) continue;
      result_.why[i] = missing.empty() ? "it is not asked for" : fmt::format("'{}' is not done", missing);
      courses_[i].state = State::over;
      ++n_over_;
      dispatcher_->withdraw(i);
    }
  }

  /// The store has it, whole or damaged.
  bool take_if_done(std::size_t i) {
    const auto& item = graph_.items()[i];
    const auto done = store_.find(item);
    if (!done) return false;
    if (!done->damage.empty()) {
      ++result_.n_damaged;
      log::warning("{}: {}", item.label, done->damage);
      result_.outcomes[i] = Outcome::failed;
      result_.why[i] = done->damage;
      courses_[i].state = State::over;
      ++n_over_;
      return true;
    }
    result_.outcomes[i] = Outcome::reused;
    result_.seconds[i] = done->seconds;
    folders_.left_out[i] = !done->needed;
    courses_[i].state = State::over;
    ++n_over_;
    table_.count(graph_.items()[i].stage, Outcome::reused);
    return true;
  }

  void start_what_can() {
    while (const auto next = dispatcher_->next()) {
      const std::size_t i = *next;
      const Item& item = graph_.items()[i];
      if (!fits(i)) {
        ++result_.n_too_late;
        leave(i, fmt::format(
                     "what the last of its stage took, {:.3g} s an item, does not fit in the {:.3g} s left",
                     last_took_[item.stage] * item.cost, options_.stop_after - now()));
      } else if (!store_.claim(item)) {
        dispatcher_->release(i);
        courses_[i].state = State::elsewhere;
        elsewhere_.insert(i);
      } else if (take_if_done(i)) {  // by another campaign, a moment ago
        store_.release(item);
        settle(i);
      } else if (!graph_.is_needed(item, folders_)) {
        store_.leave_out(item);
        folders_.left_out[i] = true;
        ended_well(i, Outcome::not_needed);
        table_.say("{} of {}: {} is not needed", n_over_, courses_.size(), item.label);
      } else {
        start(i);
      }
    }
  }

  /// Whether the time left is enough for what the last item of the stage took; one that goes on, goes on.
  [[nodiscard]] bool fits(std::size_t i) const {
    const double took = last_took_[graph_.items()[i].stage] * graph_.items()[i].cost;
    return options_.stop_after <= 0 || courses_[i].goes_on || took <= 0 ||
           now() + took <= options_.stop_after;
  }

  /// Do not begin it here: another job may.
  void leave(std::size_t i, const std::string& why) {
    if (courses_[i].tries + courses_[i].links > 0)
      store_.release(graph_.items()[i]);  // it was to be tried again
    dispatcher_->withdraw(i);
    result_.why[i] = why;
    courses_[i].state = State::over;
    ++n_over_;
    table_.count(graph_.items()[i].stage, Outcome::skipped);
    if (left_of_.insert(graph_.items()[i].stage).second)
      table_.say("{} is left, and others of its stage: {}", graph_.items()[i].label, why);
    leave_out_after(i);
  }

  /// Whether there has been nothing to do here for so long that another may do the rest.
  [[nodiscard]] bool is_idle() const {
    return options_.idle_after > 0 && now() - idle_since_ > options_.idle_after;
  }

  /// Settle an item that the store has: items that wait for it may begin, unless it is damaged.
  void settle(std::size_t i) {
    if (result_.outcomes[i] == Outcome::failed)
      ended_badly(i);
    else
      dispatcher_->done(i);
  }

  void start(std::size_t i) {
    Course& course = courses_[i];
    store_.begin(graph_.items()[i], !course.goes_on);
    if (!course.goes_on) ++course.tries;
    course.begin = idle_since_ = now();
    course.too_long = false;
    std::vector<std::string> variables;
    if (options_.gives_devices) variables = device_variables(stage(i), dispatcher_->slots_of(i));
    const auto process = programs_.start(i, course.goes_on, folders_, std::move(variables));
    course.state = State::running;
    running_.push_back(i);
    table_.began(i, course.begin, process);
  }

  void reap() {
    const auto running = running_;
    for (const std::size_t i : running) {
      Course& course = courses_[i];
      const auto code = programs_.ended(i);
      if (!code) {
        if (stage(i).walltime && now() - course.begin > *stage(i).walltime && !course.too_long) {
          course.too_long = true;
          programs_.kill(i);
        }
        continue;
      }
      std::erase(running_, i);
      ended(i, *code);
    }
  }

  void ended(std::size_t i, int code) {
    const Item& item = graph_.items()[i];
    Course& course = courses_[i];
    const double end = now();
    const auto& accepts = stage(i).accepts;
    std::string why;
    if (code == 0 || (!course.too_long && std::count(accepts.begin(), accepts.end(), code) > 0)) {
      why = store_.finish(item, stage(i), end - course.begin, std::max<std::int64_t>(1, course.tries));
    } else {
      const std::string words = last_words(store_.work(item) + "/log.txt");
      why = course.too_long ? fmt::format("it took longer than its walltime of {} s", *stage(i).walltime)
                            : fmt::format("exit code {}{}{}", code, words.empty() ? "" : ": ", words);
    }
    for (const std::size_t s : dispatcher_->slots_of(i))
      result_.tries.push_back(
          {i, fmt::format("{} {}", stage(i).slot, s + 1), course.begin, end, why.empty()});
    table_.ended(i);
    idle_since_ = end;
    constexpr int stopped = static_cast<int>(ExitCode::stopped_early),
                  numerical = static_cast<int>(ExitCode::numerical), killed = 128 + SIGKILL;
    if (why.empty()) {
      result_.seconds[i] = end - course.begin;
      last_took_[item.stage] = (end - course.begin) / item.cost;
      ended_well(i, Outcome::done);
      table_.say("{} of {} done: {} ({:.3g} s)", n_over_, courses_.size(), item.label, end - course.begin);
    } else if (result_.stopped) {  // its folder stays, for `again`
      result_.why[i] = "it was stopped";
      try_again(i, course.goes_on);
      store_.release(item);
    } else if (code == stopped && !course.too_long && ++course.links < most_links) {
      try_again(i, true);
    } else if (code == killed && !course.too_long && gets_more_memory(i, why)) {
      try_again(i, false);
    } else if (code != numerical && course.tries < stage(i).tries) {
      table_.clear();
      log::warning("{}: {}; it is tried again", item.label, why);
      try_again(i, false);
    } else {
      table_.clear();
      log::warning("{} failed: {}", item.label, why);
      result_.codes[i] = code;
      store_.give_up(item, why);
      store_.release(item);
      failed(i, why);
    }
  }

  /// Whether an item was killed for memory and gets more of it for its next try.
  [[nodiscard]] bool gets_more_memory(std::size_t i, std::string& why) {
    const auto next = growth_->after_kill(i, options_.grows_memory, why);
    if (!next) return false;
    table_.clear();
    log::warning("{}: killed for memory; it is tried again {}", graph_.items()[i].label, next->said);
    dispatcher_->release(i);
    dispatcher_->ask(i, next->slots, next->memory);
    return true;
  }

  void try_again(std::size_t i, bool goes_on) {
    courses_[i].goes_on = goes_on;
    courses_[i].state = State::waiting;
    dispatcher_->release(i);
    dispatcher_->retry(i);
  }

  void ended_well(std::size_t i, Outcome outcome) {
    store_.release(graph_.items()[i]);
    result_.outcomes[i] = outcome;
    courses_[i].state = State::over;
    ++n_over_;
    dispatcher_->done(i);
    table_.count(graph_.items()[i].stage, outcome);
  }

  void failed(std::size_t i, const std::string& why) {
    result_.outcomes[i] = Outcome::failed;
    result_.why[i] = why;
    courses_[i].state = State::over;
    ++n_over_;
    ended_badly(i);
  }

  void ended_badly(std::size_t i) {
    dispatcher_->withdraw(i);
    table_.count(graph_.items()[i].stage, Outcome::failed);
    leave_out_after(i);
  }

  /// Leave out all that waits, directly or not, for an item that failed or is left out.
  void leave_out_after(std::size_t missing) {
    std::deque<std::size_t> left{missing};
    for (; !left.empty(); left.pop_front())
      for (const std::size_t i : followers_[left.front()]) {
        if (courses_[i].state == State::over) continue;
        result_.why[i] = fmt::format("'{}' is missing", graph_.items()[left.front()].label);
        courses_[i].state = State::over;
        ++n_over_;
        elsewhere_.erase(i);
        dispatcher_->withdraw(i);
        table_.count(graph_.items()[i].stage, Outcome::skipped);
        left.push_back(i);
      }
  }

  /// Look at the results of other campaigns on this store.
  void look_elsewhere() {
    looked_ = now();
    const auto items = elsewhere_;
    for (const std::size_t i : items) {
      const Item& item = graph_.items()[i];
      const bool is_claimed = store_.is_claimed(item);
      if (take_if_done(i)) {
        elsewhere_.erase(i);
        idle_since_ = looked_;
        settle(i);
      } else if (!is_claimed) {
        elsewhere_.erase(i);
        courses_[i].state = State::waiting;
        if (const auto why = store_.why_failed(item); !why.empty())
          failed(i, why);
        else
          dispatcher_->retry(i);
      } else {
        dispatcher_->retry(i);  // the claim may be of one that died
        elsewhere_.erase(i);
        courses_[i].state = State::waiting;
      }
    }
  }

  const Graph& graph_;
  Store& store_;
  const RunnerOptions& options_;
  std::vector<Course> courses_;
  Folders folders_;
  std::optional<planning::Dispatcher> dispatcher_;
  ItemPrograms programs_;
  std::set<std::size_t> elsewhere_;  ///< items that other campaigns have
  std::set<std::size_t> left_of_;    ///< stages with items that the time does not suffice for
  std::vector<std::size_t> running_;
  std::vector<std::vector<std::size_t>> followers_;  ///< items that wait for each
  std::vector<double> last_took_;                    ///< (s) of the last item of each stage, over its cost
  std::optional<Growth> growth_;
  std::size_t n_over_ = 0;
  double looked_ = 0, idle_since_ = 0;
  Clock::time_point start_ = Clock::now();
  LiveTable table_;
  CampaignResult result_;
};

}  // namespace

CampaignResult run_campaign(const Graph& graph, Store& store, const RunnerOptions& options) {
  return Runner(graph, store, options).run();
}

}  // namespace quintet::campaign
