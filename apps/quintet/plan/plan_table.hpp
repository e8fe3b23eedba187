#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/quintet/plan/plan_row.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet {

/// Choice of `parallel.strategy: auto` on so many ranks.
struct AutoChoice {
  int ranks = 1;
  std::string stage{};  ///< as the user would write it, or ""
  std::string reason{};
};

struct Plan {
  std::string who{}, file{}, machine{};
  std::string rates_remark{};  ///< why not to rely on the machine's rates; empty: nothing is known
  planning::CostModel model{};
  std::optional<double> slower{};  ///< a core there than one here; absent: unknown
  /// Work of a rank below which half of the time is lost, as `quintet bench metg --app` has measured it.
  std::optional<double> least_work{};
  std::vector<PlanRow> rows{};
  std::vector<AutoChoice> choices{};  ///< of a training whose ranks can divide what they hold

  /// Whether a rank of this row has less than that.
  [[nodiscard]] bool is_too_short(const PlanRow& row) const {
    return least_work && row.cost.impossible.empty() && model.work / row.cost.ranks < *least_work;
  }
};

/// The table as people read it: what was timed, a line a row, which one to take.
[[nodiscard]] std::string text_of(const Plan& plan);
/// The table as a tree, for scripts.
[[nodiscard]] Tree tree_of(const Plan& plan);

/// The fastest possible row; the one with the most ranks that keeps at least half of them busy and is not too
/// short. Null: none.
[[nodiscard]] const PlanRow* fastest(const Plan& plan);
[[nodiscard]] const PlanRow* widest_efficient(const Plan& plan);

}  // namespace quintet
