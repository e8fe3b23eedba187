#include "surrogates/search/trial.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <string>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet::search {

bool Progress::report(double value) {
  if (curve_.size() >= limits_.most_epochs)
    throw InternalError(
        fmt::format("epoch {} of a trial that has {}", curve_.size() + 1, limits_.most_epochs));
  if (limits_.give_up && limits_.give_up()) throw Interrupted();
  curve_.push_back(value);
  if (!std::isfinite(value)) return false;
  best_ = std::max(best_, value);
  const int epoch = curve_.size();
  for (const auto& rung : limits_.rungs)
    if (rung.epoch == epoch && best_ < rung.value) stopped_ = true;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  late_ = limits_.seconds > 0 && passed.count() > limits_.seconds;
  return !stopped_ && !late_;
}

std::string first_sentence(const std::string& text) {
  return text.substr(0, std::min(text.find(". "), text.find('\n')));
}

Outcome evaluate_safely(const Evaluate& evaluate, const Trial& trial, Progress::Limits limits) {
  const double seconds = limits.seconds;
  Progress progress(std::move(limits));
  Outcome outcome;
  try {
    outcome = evaluate(trial, progress);
    outcome.state = progress.stopped() ? TrialState::stopped : TrialState::done;
    if (progress.late()) {
      outcome.state = TrialState::late;
      outcome.message = fmt::format("took more than {:.6g} s", seconds);
    } else if (!std::isfinite(outcome.objective)) {
      outcome.state = TrialState::failed;
      outcome.message = fmt::format("the objective is {}, no number", outcome.objective);
    }
  } catch (const Interrupted&) {
    throw;
  } catch (const std::bad_alloc&) {
    outcome.state = TrialState::failed;
    outcome.message = "out of memory";
  } catch (const std::exception& error) {
    outcome.state = TrialState::failed;
    outcome.message = error.what();
  } catch (...) {
    outcome.state = TrialState::failed;
    outcome.message = "an exception of an unknown kind";
  }
  if (!outcome.counts()) outcome.objective = std::numeric_limits<double>::quiet_NaN();
  outcome.curve = progress.curve();
  return outcome;
}

}  // namespace quintet::search
