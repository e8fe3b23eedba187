#pragma once

#include <cstdint>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/search/trial.hpp"

namespace quintet::search {

/// When an evaluation is hopeless.
enum class StoppingRule { none, median, halving };
struct StoppingRow {
  StoppingRule value;
  const char *name, *doc;
};
inline constexpr StoppingRow stopping_rules[] = {
    {StoppingRule::none, "none", "every evaluation goes to its end"},
    {StoppingRule::median, "median", "below the median of earlier trials at the same epoch"},
    {StoppingRule::halving, "halving",
     "not among the best of earlier trials at a rung (asynchronous halving)"},
};

struct StoppingOptions {
  StoppingRule rule = StoppingRule::none;
  std::vector<std::int64_t> epochs;  ///< rungs; empty: a quarter and a half of all epochs
  std::int64_t after = 20;           ///< trials that must have reached a rung before it stops any
  double factor = 3;                 ///< of halving: one in so many passes
};
void describe(Schema& schema, StoppingOptions& options);

/// Watches the curves of trials that have ended, and says what the next one must reach.
///
/// At a rung (an epoch) a trial's value is the best so far. It goes on unless this is below a quantile of the
/// values with which earlier trials, those stopped there included, reached the rung: 1/2 (median rule) or 1 -
/// 1/factor (halving). The thresholds are fixed when a trial begins, hence its evaluation depends on nothing
/// that happens meanwhile. Sources: Golovin et al. 2017 (KDD; median); Li et al. 2020 (MLSys; asynchronous
/// halving).
class Stopping {
 public:
  /// Throws InputError for rungs that do not rise within 1 ... most_epochs - 1.
  Stopping(const StoppingOptions& options, int most_epochs);
  void tell(const Outcome& outcome);
  [[nodiscard]] std::vector<Rung> rungs() const;

 private:
  StoppingOptions options_;
  std::vector<int> epochs_;
  std::vector<std::vector<double>> values_;  ///< by rung, sorted
};

}  // namespace quintet::search
