#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "surrogates/search/space.hpp"

/// A candidate under evaluation, and what became of it.
namespace quintet::search {

/// The numbers stand in files: never change their meaning.
enum class TrialState : std::int32_t {
  empty = 0,     ///< no such trial yet
  running = 1,   ///< proposed, not finished: begins again after a restart
  done = 2,      ///< evaluated to its end
  stopped = 3,   ///< hopeless: left at a rung
  repeated = 4,  ///< a candidate that had been evaluated before; that one's objective is taken
  failed = 5,    ///< the evaluation threw, or gave no number
  lost = 6,      ///< its worker died, as often as it was tried
  late = 7       ///< took longer than it may
};
struct TrialStateRow {
  TrialState value;
  const char *name, *doc;
};
inline constexpr TrialStateRow trial_states[] = {
    {TrialState::empty, "empty", "no such trial"},
    {TrialState::running, "running", "proposed, not finished"},
    {TrialState::done, "done", "evaluated to its end"},
    {TrialState::stopped, "stopped", "left early as hopeless"},
    {TrialState::repeated, "repeated", "had been evaluated before"},
    {TrialState::failed, "failed", "threw, or gave no number"},
    {TrialState::lost, "lost", "its worker died"},
    {TrialState::late, "late", "beyond its time limit"},
};

/// An evaluation ends after `epoch` unless its curve has reached `value` by then.
struct Rung {
  int epoch = 0;  ///< from 1
  double value = 0;
};

/// Trial, all that an evaluation is given. It depends on nothing else, so that it may run anywhere, at any
/// time, again.
struct Trial {
  std::int64_t id = 0;
  Genes genes;
  std::string key;           ///< equal keys are equal candidates
  std::uint64_t seed = 0;    ///< of the evaluation's random numbers
  std::int64_t parent = -1;  ///< the trial it was mutated from, or -1
  std::int64_t told = 0;     ///< trials that the search knew the end of when it proposed this one
  std::vector<Rung> rungs;   ///< by epoch, rising
};

/// Outcome of a trial. The objective is maximised.
struct Outcome {
  TrialState state = TrialState::running;
  double objective = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> curve;  ///< what was reported, epoch by epoch
  std::vector<double> facts;  ///< the evaluator's own numbers, see SearchOptions::facts
  std::string message;        ///< why it failed
  int worker = -1;
  int tries = 1;
  double start_s = 0, end_s = 0;  ///< in the search's own time, which stands still between runs (s)
  double busy_s = 0, cpu_s = 0;   ///< wall and CPU time of the evaluation (s)
  std::int64_t position = -1;     ///< in the order in which trials ended
  std::int64_t same_as = -1;      ///< of a repeated trial: the one whose objective it has

  /// Whether a method may learn from the objective.
  [[nodiscard]] bool counts() const {
    return state == TrialState::done || state == TrialState::stopped || state == TrialState::repeated;
  }
};

/// An evaluation tells its progress here, once an epoch, and is told whether to go on.
class Progress {
 public:
  struct Limits {
    std::vector<Rung> rungs;
    std::size_t most_epochs = 0;    ///< room for the curve
    double seconds = 0;             ///< 0: none
    std::function<bool()> give_up;  ///< the whole run is to stop; may be empty
  };
  explicit Progress(Limits limits) : limits_(std::move(limits)) {}

  /// Append the value of one more epoch. False: leave the evaluation and return what there is. Throws
  /// InternalError for more epochs than there is room for, Interrupted if the run is to stop.
  [[nodiscard]] bool report(double value);

  [[nodiscard]] const std::vector<double>& curve() const { return curve_; }
  [[nodiscard]] bool stopped() const { return stopped_; }  ///< at a rung
  [[nodiscard]] bool late() const { return late_; }

 private:
  Limits limits_;
  std::vector<double> curve_;
  double best_ = -std::numeric_limits<double>::infinity();
  bool stopped_ = false, late_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Evaluate a candidate: fills objective and facts, reports epochs; state, curve and times are the search's.
/// It may throw: the trial then has failed, with the exception's message.
using Evaluate = std::function<Outcome(const Trial&, Progress&)>;

/// The first sentence of a message: libraries write pages.
[[nodiscard]] std::string first_sentence(const std::string& text);

/// Call `evaluate`, and turn exceptions and NaN objectives into failures. Throws only Interrupted.
[[nodiscard]] Outcome evaluate_safely(const Evaluate& evaluate, const Trial& trial, Progress::Limits limits);

}  // namespace quintet::search
