#include "apps/podlstm/search/search_numbers.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace quintet::podlstm {

SearchNumbers numbers_of(const search::Search& search) {
  using search::TrialState;
  SearchNumbers numbers;
  const auto& status = search.status();
  std::vector<const search::Record*> counted;
  numbers.least_cpu_s = std::numeric_limits<double>::infinity();
  for (const auto& record : search.records()) {
    const auto& outcome = record.outcome;
    if (outcome.position < 0 || outcome.same_as >= 0) continue;
    numbers.done += outcome.state == TrialState::done ? 1 : 0;
    numbers.stopped += outcome.state == TrialState::stopped ? 1 : 0;
    numbers.failed += outcome.state == TrialState::failed ? 1 : 0;
    numbers.lost += outcome.state == TrialState::lost ? 1 : 0;
    numbers.late += outcome.state == TrialState::late ? 1 : 0;
    numbers.again += outcome.tries - 1;
    numbers.epochs += static_cast<std::int64_t>(outcome.curve.size());
    if (!outcome.counts()) continue;
    counted.push_back(&record);
    numbers.good += outcome.objective >= 0.9 * status.best_objective ? 1 : 0;
    numbers.least_cpu_s = std::min(numbers.least_cpu_s, outcome.cpu_s);
    numbers.most_cpu_s = std::max(numbers.most_cpu_s, outcome.cpu_s);
    numbers.mean_cpu_s += outcome.cpu_s;
  }
  if (counted.empty()) return numbers.least_cpu_s = 0, numbers;
  numbers.mean_cpu_s /= static_cast<double>(counted.size());
  if (status.wall_s > 0) numbers.per_hour = 3600 * static_cast<double>(status.evaluations) / status.wall_s;
  const auto last = std::min<std::size_t>(counted.size(), 100);
  std::sort(counted.begin(), counted.end(),
            [](const auto* a, const auto* b) { return a->outcome.position > b->outcome.position; });
  for (std::size_t i = 0; i < last; ++i)
    numbers.mean_last += counted[i]->outcome.objective / static_cast<double>(last);
  return numbers;
}

}  // namespace quintet::podlstm
