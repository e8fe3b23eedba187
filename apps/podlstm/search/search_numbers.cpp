#include "apps/podlstm/search/search_numbers.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "apps/podlstm/search/candidates.hpp"

namespace quintet::podlstm {

namespace {

constexpr std::size_t last_trials = 100;

double an_hour(std::int64_t evaluations, double seconds) {
  return seconds > 0 ? 3600 * static_cast<double>(evaluations) / seconds : 0;
}

}  // namespace

std::vector<const search::Record*> counted_in_order(const std::vector<search::Record>& records) {
  std::vector<const search::Record*> counted;
  for (const auto& record : records)
    if (record.outcome.counts() && record.outcome.same_as < 0) counted.push_back(&record);
  std::sort(counted.begin(), counted.end(),
            [](const auto* a, const auto* b) { return a->outcome.position < b->outcome.position; });
  return counted;
}

SearchNumbers numbers_of(const std::vector<search::Record>& records) {
  using search::TrialState;
  SearchNumbers numbers;
  std::set<int> workers;
  double busy_s = 0;
  for (const auto& record : records) {
    const auto& outcome = record.outcome;
    if (outcome.position < 0) continue;
    if (outcome.same_as >= 0) {
      ++numbers.repeated;
      continue;
    }
    ++numbers.evaluations;
    numbers.done += outcome.state == TrialState::done ? 1 : 0;
    numbers.stopped += outcome.state == TrialState::stopped ? 1 : 0;
    numbers.failed += outcome.state == TrialState::failed ? 1 : 0;
    numbers.lost += outcome.state == TrialState::lost ? 1 : 0;
    numbers.late += outcome.state == TrialState::late ? 1 : 0;
    numbers.again += outcome.tries - 1;
    numbers.epochs += outcome.curve.size();
    workers.insert(outcome.worker);
    busy_s += outcome.busy_s;
    numbers.wall_s = std::max(numbers.wall_s, outcome.end_s);
  }
  numbers.workers = workers.size();
  numbers.per_hour = an_hour(numbers.evaluations, numbers.wall_s);
  if (numbers.wall_s > 0) numbers.utilisation = busy_s / (numbers.wall_s * numbers.workers);

  const auto counted = counted_in_order(records);
  if (counted.empty()) return numbers;
  const double n = counted.size();
  numbers.best = -std::numeric_limits<double>::infinity();
  numbers.least_cpu_s = std::numeric_limits<double>::infinity();
  for (const auto* record : counted) {
    const auto& outcome = record->outcome;
    numbers.best = std::max(numbers.best, outcome.objective);
    numbers.least_cpu_s = std::min(numbers.least_cpu_s, outcome.cpu_s);
    numbers.most_cpu_s = std::max(numbers.most_cpu_s, outcome.cpu_s);
    numbers.mean_cpu_s += outcome.cpu_s / n;
    numbers.mean_parameters += outcome.facts.at(Candidates::parameters) / n;
  }
  const auto last = std::min(counted.size(), last_trials);
  for (std::size_t i = 0; i < counted.size(); ++i) {
    const double objective = counted[i]->outcome.objective;
    numbers.good += objective >= 0.9 * numbers.best ? 1 : 0;
    if (i + last >= counted.size()) numbers.mean_last += objective / last;
  }
  return numbers;
}

SearchNumbers numbers_of(const search::Search& search) {
  auto numbers = numbers_of(search.records());
  const auto& status = search.status();
  numbers.workers = status.workers;
  numbers.wall_s = status.wall_s;
  numbers.utilisation = status.utilisation;
  numbers.per_hour = an_hour(status.evaluations, status.wall_s);
  return numbers;
}

}  // namespace quintet::podlstm
