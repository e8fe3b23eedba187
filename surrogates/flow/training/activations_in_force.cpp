#include "surrogates/flow/training/activations_in_force.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet::flow {

planning::ActivationPlan chosen_plan(const MemoryOptions& options,
                                     const std::vector<planning::ActivationBlock>& chain) {
  using planning::BlockPolicy;
  const auto budget = options.activations ? static_cast<std::int64_t>(1e6 * *options.activations)
                                          : std::numeric_limits<std::int64_t>::max() / 2;
  constexpr double no_link = 0;
  const bool keeps = options.policy == ActivationPolicy::keep;
  std::optional<planning::ActivationPlan> plan;
  if (options.policy == ActivationPolicy::planned) {
    plan = planning::best_plan(chain, budget, no_link, std::vector{BlockPolicy::recompute});
  } else {
    const auto all = planning::uniform_plan(chain, keeps ? BlockPolicy::keep : BlockPolicy::recompute);
    if (const auto cost = planning::simulate(chain, all, budget, no_link)) plan = {all, *cost};
  }
  if (plan) return *plan;
  const auto bytes = [](std::int64_t n) { return text_of_bytes(static_cast<std::size_t>(n)); };
  const auto& largest = *std::max_element(
      chain.begin(), chain.end(), [](const auto& a, const auto& b) { return a.kept_bytes < b.kept_bytes; });
  const auto least = planning::least_budget(chain, keeps ? BlockPolicy::keep : BlockPolicy::recompute);
  const bool a_plan_helps = keeps && planning::least_budget(chain, BlockPolicy::recompute) <= budget;
  throw ResourceError(fmt::format(
      "memory.activations: a step takes {} ({} bytes) at least, more than {}; '{}' alone takes {}. Expected "
      "{}a larger budget, fewer crops a batch, fewer points or more ranks",
      bytes(least), least, bytes(budget), largest.name, bytes(largest.kept_bytes),
      a_plan_helps ? "policy: planned, " : ""));
}

}  // namespace quintet::flow
