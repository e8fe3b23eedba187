#include "surrogates/search/stopping.hpp"

#include <algorithm>
#include <cmath>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::search {

void describe(Schema& schema, StoppingOptions& options) {
  schema.choice("rule", options.rule, choices_of(stopping_rules), "When an evaluation is left as hopeless");
  schema
      .integers("epochs", options.epochs,
                "Rungs: epochs at which it is asked; empty: a quarter and a half of all")
      .at_least(1);
  schema.integer("after", options.after, "Trials that must have reached a rung before it stops any")
      .at_least(1);
  schema.number("factor", options.factor, "Halving: one trial in so many goes on").above(1);
}

Stopping::Stopping(const StoppingOptions& options, int most_epochs) : options_(options) {
  if (options.rule == StoppingRule::none) return;
  if (options.epochs.empty()) {
    for (const int part : {4, 2})
      if (most_epochs / part >= 1 && most_epochs / part < most_epochs) epochs_.push_back(most_epochs / part);
    epochs_.erase(std::unique(epochs_.begin(), epochs_.end()), epochs_.end());
  } else {
    std::int64_t last = 0;
    for (const auto epoch : options.epochs) {
      QUINTET_CHECK(epoch > last && epoch < most_epochs,
                    "stopping.epochs: {} after {}; expected rising epochs between 1 and {}", epoch, last,
                    most_epochs - 1);
      epochs_.push_back(last = epoch);
    }
  }
  values_.resize(epochs_.size());
}

void Stopping::tell(const Outcome& outcome) {
  if (outcome.state != TrialState::done && outcome.state != TrialState::stopped) return;
  for (std::size_t r = 0; r < epochs_.size(); ++r) {
    const std::size_t epochs = epochs_[r];
    if (outcome.curve.size() < epochs) break;
    const double best = *std::max_element(outcome.curve.begin(), outcome.curve.begin() + epochs_[r]);
    values_[r].insert(std::upper_bound(values_[r].begin(), values_[r].end(), best), best);
  }
}

std::vector<Rung> Stopping::rungs() const {
  std::vector<Rung> rungs;
  const double share = options_.rule == StoppingRule::median ? 0.5 : 1 - 1 / options_.factor;
  for (std::size_t r = 0; r < epochs_.size(); ++r) {
    const std::int64_t n = values_[r].size();
    if (n < options_.after) break;
    // The lower of the two values around the quantile: in doubt a trial goes on.
    const std::size_t i = std::floor(share * (n - 1));
    rungs.push_back({epochs_[r], values_[r][i]});
  }
  return rungs;
}

}  // namespace quintet::search
