#include "surrogates/search/search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include <fmt/ranges.h>
#include <unistd.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/search/pool.hpp"
#include "surrogates/search/task.hpp"

namespace quintet::search {

namespace {

/// So many proposals in a row that had been evaluated before, and the space counts as exhausted.
constexpr std::int64_t most_repeats_in_a_row = 500;

std::string own_key(const Genes& genes) { return fmt::format("{}", fmt::join(genes, " ")); }

/// Between what says which trials come and what says what an evaluation is.
constexpr const char* divider = "; ";

TrialStore::Contents contents_of(const Problem& problem, const SearchOptions& options) {
  const auto search = options.identity() + (problem.identity.empty() ? "" : divider + problem.identity);
  return {problem.space, search, static_cast<std::size_t>(problem.most_epochs), problem.facts};
}

PoolOptions pool_options(const SearchOptions& options, const TaskShape& shape, int threads) {
  const int per_rank = options.workers.per_rank > 0 ? options.workers.per_rank : threads;
  return {options.workers.kind, per_rank, shape.task_bytes(), shape.result_bytes(),
          options.workers.time_limit_s};
}

/// A recorded search that is followed: who was proposed when, and who ended when.
struct Script {
  std::vector<Record> records;
  std::vector<std::int64_t> order;  ///< trials in the order of their ends
};

Script script_of(std::vector<Record> records) {
  Script script{std::move(records), {}};
  script.order.assign(script.records.size(), -1);
  std::size_t ended = 0;
  for (const auto& [trial, outcome] : script.records)
    if (outcome.position >= 0) {
      script.order[outcome.position] = trial.id;
      ++ended;
    }
  script.order.resize(ended);
  return script;
}

}  // namespace

struct Search::Implementation {
  Implementation(const Comm& comm, Problem given, const SearchOptions& options, const std::string& path,
                 bool resume, const hdf5::Provenance& provenance, int threads)
      : comm(comm),
        problem(std::move(given)),
        options(options),
        shape{problem.space.genes().size(), static_cast<std::size_t>(problem.most_epochs),
              problem.facts.size()},
        pool(comm, pool_options(options, shape, threads), work()),
        stopping(options.stopping, problem.most_epochs) {
    if (!problem.key) problem.key = own_key;
    on_root(comm, [&] {
      method = row_of(methods, options.method)
                   .make(problem.space, options.methods, static_cast<std::uint64_t>(options.seed));
      if (options.replay) script = script_of(read_trials(*options.replay, problem.space));
      if (resume)
        go_on(path, provenance);
      else
        store = TrialStore::create(path, contents_of(problem, options), provenance);
    });
  }

  /// The evaluation as workers do it. In place it looks whether the run must stop; a forked process leaves
  /// that to its parent.
  Work work() {
    return [this, here = getpid()](std::span<const std::byte> task, std::span<std::byte> result) {
      const Trial trial = unpack_trial(task, shape);
      Progress::Limits limits{trial.rungs, shape.epochs, options.workers.time_limit_s, {}};
      if (getpid() == here) limits.give_up = give_up;
      return pack_outcome(evaluate_safely(problem.evaluate, trial, std::move(limits)), shape, result);
    };
  }

  // ---- proposals and ends; rank 0 ----

  [[nodiscard]] Record& record(std::int64_t id) { return records[id]; }
  [[nodiscard]] std::int64_t n_told() const { return order.size(); }
  [[nodiscard]] double now() const { return earlier_s + pool.now() - pool_began; }

  /// Ask the method for one more trial. False if it must wait for ends.
  bool propose() {
    const std::int64_t id = records.size();
    const auto proposal = method->ask(id);
    if (!proposal) return false;
    Record made;
    made.trial.id = id;
    made.trial.genes = proposal->genes;
    made.trial.key = problem.key(proposal->genes);
    made.trial.seed = trial_seed(options.seed, id);
    made.trial.parent = proposal->parent;
    made.trial.told = n_told();
    made.trial.rungs = stopping.rungs();
    records.push_back(std::move(made));
    return true;
  }

  /// The newest trial is on its way: to a worker, to its twin, or to its end.
  void begin(std::int64_t id) {
    auto& [trial, outcome] = record(id);
    const auto [twin, is_new] = first_of_key.emplace(trial.key, id);
    if (is_new) {
      repeats_in_a_row = 0;
      ++evaluations_begun;
      store->write(record(id));
      return send(id);
    }
    ++repeats_in_a_row;
    outcome.same_as = twin->second;
    if (record(twin->second).outcome.position >= 0) {
      ended_twins.insert(id);  // the store learns of it when it ends, at once
    } else {
      store->write(record(id));
      twins[twin->second].insert(id);
    }
  }

  void send(std::int64_t id) { pool.send(id, pack_trial(record(id).trial, shape)); }

  /// Trials that wait for a twin which has ended, as they may end now.
  void end_twins() {
    while (!ended_twins.empty() && is_next(*ended_twins.begin())) {
      const std::int64_t id = *ended_twins.begin();
      ended_twins.erase(ended_twins.begin());
      const Outcome& twin = record(record(id).outcome.same_as).outcome;
      Outcome outcome;
      outcome.same_as = record(id).outcome.same_as;
      outcome.objective = twin.objective;
      outcome.facts = twin.facts;
      outcome.state = twin.counts() ? TrialState::repeated : twin.state;
      outcome.message = twin.message;
      outcome.start_s = outcome.end_s = now();
      end(id, std::move(outcome));
    }
  }

  /// A trial has ended: the store keeps it, the method learns.
  void end(std::int64_t id, Outcome outcome) {
    outcome.position = n_told();
    record(id).outcome = std::move(outcome);
    store->write(record(id));
    learn(id);
  }

  void learn(std::int64_t id) {
    const auto& [trial, outcome] = record(id);
    order.push_back(id);
    method->tell(trial, outcome);
    stopping.tell(outcome);
    if (outcome.same_as >= 0) {
      ++n_repeated;
      return;
    }
    ++n_evaluated;
    if (!outcome.counts()) ++n_failed;
    if (outcome.counts() && (best < 0 || outcome.objective > record(best).outcome.objective)) best = id;
    if (const auto waiting = twins.extract(id))
      ended_twins.insert(waiting.mapped().begin(), waiting.mapped().end());
  }

  // ---- the order of another search ----

  [[nodiscard]] bool follows() const { return script && n_told() < std::ssize(script->order); }
  /// Whether this trial may end now.
  [[nodiscard]] bool is_next(std::int64_t id) const {
    return !follows() || script->order[order.size()] == id;
  }
  /// Whether another trial may be proposed now.
  [[nodiscard]] bool may_propose() const {
    if (!follows()) return pool.n_free() > 0;
    return records.size() < script->records.size() && script->records[records.size()].trial.told == n_told();
  }
  void check_against_script(std::int64_t id) const {
    if (!script || id >= std::ssize(script->records)) return;
    const auto& theirs = script->records[id].trial.genes;
    const auto& ours = records[id].trial.genes;
    QUINTET_CHECK(theirs == ours,
                  "replay: {} has '{}' as trial {}, here it is '{}': another seed, method or objective",
                  *options.replay, problem.space.text(theirs), id, problem.space.text(ours));
  }

  // ---- a step ----

  void propose_all() {
    for (;;) {
      end_twins();
      if (evaluations_begun >= options.trials || is_exhausted() || out_of_time() || !may_propose()) return;
      if (!propose()) return;
      const auto id = std::ssize(records) - 1;
      check_against_script(id);
      begin(id);
    }
  }

  /// Tell what has ended and propose what may be, in turns, until there is neither.
  void settle() {
    bool changed = true;
    while (std::exchange(changed, false)) {
      const std::size_t asked = records.size(), told = order.size();
      tell_one();
      propose_all();
      changed = asked != records.size() || told != order.size();
    }
  }

  [[nodiscard]] bool is_exhausted() const { return repeats_in_a_row >= most_repeats_in_a_row; }
  [[nodiscard]] bool out_of_time() const {
    return options.time_limit_s > 0 && (timing ? now() : earlier_s) >= options.time_limit_s;
  }
  [[nodiscard]] bool is_finished() const {
    if (out_of_time()) return true;
    return (n_evaluated >= options.trials || is_exhausted()) && n_evaluated >= evaluations_begun &&
           held.empty() && ended_twins.empty();
  }

  /// Until one more evaluation has ended. False if the run must stop.
  bool step() {
    if (!timing) {
      pool_began = pool.now();
      busy_before = pool.busy_seconds();
      timing = true;
    }
    const auto before = n_evaluated;
    settle();
    while (n_evaluated == before && !is_finished()) {
      if (pool.n_outstanding() == 0) {
        QUINTET_CHECK(!follows(),
                      "replay: {} cannot be followed beyond its trial {}: another number of trials",
                      *options.replay, n_told());
        throw InternalError("a search without a trial under way");
      }
      const auto ready = pool.receive(1, give_up);
      if (ready.empty()) return out_of_time();
      arrive(ready.front());
      settle();
    }
    return true;
  }

  /// In a sentence, which the store keeps; run.log has the whole message.
  static void tell_failure(std::int64_t id, Outcome& outcome) {
    const auto whole = std::exchange(outcome.message, first_sentence(outcome.message));
    log::warning("Trial {} has failed: {}", id, outcome.message);
    if (whole != outcome.message)
      log::write(log::Level::debug, fmt::format("Trial {} has failed: {}", id, whole));
  }

  void arrive(const Ready& ready) {
    auto& [trial, now_known] = record(ready.id);
    Outcome outcome;
    if (ready.end == TaskEnd::done) {
      outcome = unpack_outcome(ready.result, shape);
    } else {
      outcome.state = ready.end == TaskEnd::threw  ? TrialState::failed
                      : ready.end == TaskEnd::late ? TrialState::late
                                                   : TrialState::lost;
      outcome.message = ready.message;
    }
    outcome.tries = now_known.tries;
    outcome.facts.resize(shape.facts, std::numeric_limits<double>::quiet_NaN());
    if (outcome.state == TrialState::lost && outcome.tries < options.workers.tries) {
      log::warning("Trial {}: {}; it is begun again", ready.id, ready.message);
      ++now_known.tries;
      return send(ready.id);
    }
    if (!outcome.counts()) tell_failure(ready.id, outcome);
    outcome.worker = ready.worker;
    outcome.start_s = earlier_s + ready.start_s - pool_began;
    outcome.end_s = earlier_s + ready.end_s - pool_began;
    outcome.busy_s = ready.busy_s;
    outcome.cpu_s = ready.cpu_s;
    held.emplace(ready.id, std::move(outcome));
  }

  /// Tell of a trial that has ended and whose turn has come.
  void tell_one() {
    const auto next =
        std::find_if(held.begin(), held.end(), [this](const auto& one) { return is_next(one.first); });
    if (next == held.end()) return;
    auto ended = held.extract(next);
    end(ended.key(), std::move(ended.mapped()));
  }

  // ---- going on ----

  /// The state that the store's trials lead to: the method is asked and told again in the recorded order.
  void go_on(const std::string& path, const hdf5::Provenance& provenance) {
    store = TrialStore::open(path, contents_of(problem, options), provenance);
    const Script past = script_of(store->found());
    const auto n_asked = past.records.size();
    for (std::size_t told = 0;;) {
      while (records.size() < n_asked &&
             past.records[records.size()].trial.told <= static_cast<std::int64_t>(told)) {
        const auto& theirs = past.records[records.size()].trial;
        QUINTET_CHECK(propose() && records.back().trial.genes == theirs.genes,
                      "{}: trial {} is '{}', but this search would not have proposed it: the file is "
                      "damaged, or of another "
                      "version of this program",
                      path, theirs.id, problem.space.text(theirs.genes));
        auto& [trial, outcome] = records.back();
        trial.rungs = theirs.rungs;
        const auto [twin, is_new] = first_of_key.emplace(trial.key, trial.id);
        if (is_new) {
          ++evaluations_begun;
        } else {
          outcome.same_as = twin->second;
          twins[twin->second].insert(trial.id);
        }
      }
      if (told == past.order.size()) break;
      const std::int64_t id = past.order[told++];
      QUINTET_CHECK(id < std::ssize(records), "{}: trial {} ended before it was proposed", path, id);
      const Outcome& outcome = past.records[id].outcome;
      QUINTET_CHECK(outcome.same_as == record(id).outcome.same_as,
                    "{}: trial {} is the same as {}, here as {}", path, id, outcome.same_as,
                    record(id).outcome.same_as);
      record(id).outcome = outcome;
      ended_twins.erase(id);
      learn(id);
      earlier_s = std::max(earlier_s, outcome.end_s);
    }
    QUINTET_CHECK(records.size() == n_asked, "{}: trial {} was proposed after {} had ended, but only {} have",
                  path, records.size(), past.records[records.size()].trial.told, n_told());
    // What is left: trials to evaluate, and twins of such or of ended ones.
    for (const auto& [trial, outcome] : records) {
      if (outcome.position >= 0) continue;
      if (outcome.same_as < 0)
        send(trial.id);
      else if (record(outcome.same_as).outcome.position >= 0) {
        twins.erase(outcome.same_as);
        ended_twins.insert(trial.id);
      }
    }
  }

  [[nodiscard]] Status status() const {
    const double wall = timing ? pool.now() - pool_began : 0;
    const double busy = timing ? pool.busy_seconds() - busy_before : 0;
    return {n_evaluated,
            n_repeated,
            n_failed,
            best,
            best >= 0 ? records[best].outcome.objective : 0.0,
            wall > 0 ? busy / (wall * pool.n_workers()) : 0.0,
            earlier_s + wall,
            pool.n_workers(),
            is_exhausted(),
            out_of_time()};
  }

  Comm comm;
  Problem problem;
  SearchOptions options;
  TaskShape shape;
  std::function<bool()> give_up;  ///< of the step under way
  Pool pool;
  Stopping stopping;

  // Rank 0:
  std::unique_ptr<Method> method;
  std::optional<TrialStore> store;
  std::optional<Script> script;
  std::vector<Record> records;
  std::vector<std::int64_t> order;                       ///< trials as they ended
  std::map<std::string, std::int64_t> first_of_key;      ///< the trial that is evaluated for a key
  std::map<std::int64_t, std::set<std::int64_t>> twins;  ///< that wait for a trial
  std::set<std::int64_t> ended_twins;                    ///< whose twin has ended
  std::map<std::int64_t, Outcome> held;                  ///< ended before their turn
  std::int64_t evaluations_begun = 0, n_evaluated = 0, n_repeated = 0, n_failed = 0, best = -1,
               repeats_in_a_row = 0;
  double earlier_s = 0;  ///< the search's own time before this run
  double pool_began = 0, busy_before = 0;
  bool timing = false;
  bool ended = false;  ///< on all ranks
};

Search::Search(const Comm& comm, Problem problem, const SearchOptions& options, const std::string& store,
               bool resume, const hdf5::Provenance& provenance, int threads_per_rank)
    : implementation_(std::make_unique<Implementation>(comm, std::move(problem), options, store, resume,
                                                       provenance, threads_per_rank)) {
  if (comm.is_root()) {
    status_ = implementation_->status();
    implementation_->ended = implementation_->is_finished();
  }
  status_ = comm.broadcast(status_);
  implementation_->ended = comm.broadcast(implementation_->ended);
}
Search::~Search() = default;

void Search::advance(const std::function<bool()>& give_up) {
  auto& it = *implementation_;
  it.give_up = give_up;
  if (it.comm.is_root() && it.options.time_limit_s > 0)
    it.give_up = [&it, give_up] { return it.out_of_time() || (give_up && give_up()); };
  bool goes_on = true;
  std::exception_ptr mine;
  try {
    if (it.comm.is_root())
      goes_on = it.step();
    else
      it.pool.serve(give_up);
  } catch (...) {
    mine = std::current_exception();
  }
  if (it.comm.is_root()) it.pool.release();
  throw_lowest(it.comm, mine);
  if (it.comm.is_root()) {
    status_ = it.status();
    it.ended = it.is_finished();
  }
  status_ = it.comm.broadcast(status_);
  it.ended = it.comm.broadcast(it.ended);
  if (!it.comm.broadcast(goes_on)) throw Interrupted();
}

bool Search::finished() const { return implementation_->ended; }
const std::vector<Record>& Search::records() const { return implementation_->records; }
Comm::Counter Search::traffic() const { return implementation_->pool.traffic(); }

std::vector<Record> Search::leaderboard(std::size_t most) const {
  std::vector<Record> best;
  for (const auto& record : records())
    if (record.outcome.state == TrialState::done || record.outcome.state == TrialState::stopped)
      best.push_back(record);
  std::stable_sort(best.begin(), best.end(), [](const Record& a, const Record& b) {
    return a.outcome.objective > b.outcome.objective;
  });
  if (best.size() > most) best.resize(most);
  return best;
}

StoredSearch read_search(const std::string& path, const Problem& problem) {
  const auto words = read_search_words(path);
  const auto end = words.find(divider);
  const auto identity = end == std::string::npos ? "" : words.substr(end + std::string(divider).size());
  auto records = read_trials(path, problem.space);
  QUINTET_CHECK(identity == problem.identity,
                "{}: these trials are of other data, or trained in another way: there {}, here {}", path,
                what_differs(identity, problem.identity), what_differs(problem.identity, identity));
  for (const auto& record : records)
    QUINTET_CHECK(!record.outcome.counts() || record.outcome.facts.size() == problem.facts.size(),
                  "{}: these trials have {} numbers of their own each, here {}", path,
                  record.outcome.facts.size(), problem.facts.size());
  return {words.substr(0, end), std::move(records)};
}

}  // namespace quintet::search
