#include "surrogates/flow/training/activations_in_force.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet::flow {

namespace {

using planning::BlockPolicy;
/// Treatment of all blocks by the policy; planned: the least that any plan needs.
BlockPolicy uniform_policy(ActivationPolicy policy) {
  switch (policy) {
    case ActivationPolicy::keep:
      return BlockPolicy::keep;
    case ActivationPolicy::swap:
      return BlockPolicy::swap;
    case ActivationPolicy::recompute:
    case ActivationPolicy::planned:
      return BlockPolicy::recompute;
  }
  throw InternalError("a policy of activations without a plan");
}

std::optional<planning::ActivationPlan> plan_of(const MemoryOptions& options,
                                                const std::vector<planning::ActivationBlock>& chain,
                                                std::int64_t budget, planning::LinkCost link) {
  if (options.policy == ActivationPolicy::planned) {
    std::vector allowed{BlockPolicy::recompute};
    if (options.may_swap()) allowed.push_back(BlockPolicy::swap);
    return planning::best_plan(chain, budget, link, allowed);
  }
  const auto all = planning::uniform_plan(chain, uniform_policy(options.policy));
  if (const auto cost = planning::simulate(chain, all, budget, link)) return {{all, *cost}};
  return std::nullopt;
}

}  // namespace

std::int64_t ActivationsInForce::staged_bytes() const {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < chain.size() && !to_file; ++i)
    if (plan.policies[i] == BlockPolicy::swap && !chain[i].stays) bytes += chain[i].swapped_bytes();
  return bytes;
}

ActivationsInForce chosen_activations(const MemoryOptions& options,
                                      std::vector<planning::ActivationBlock> chain, const TapeCost& tape,
                                      planning::LinkCost disk) {
  const planning::LinkCost link = options.link ? 1e-9 / *options.link : disk;
  const auto given = options.activations ? static_cast<std::int64_t>(1e6 * *options.activations)
                                         : std::numeric_limits<std::int64_t>::max() / 2;
  // Tiny networks that swap were seen to take 0.3 % more than their plan.
  const auto budget = options.may_swap() ? given - given / 100 : given;
  const bool keeps = options.policy == ActivationPolicy::keep,
             may_keep_tape = options.policy != ActivationPolicy::recompute || tape.bytes == 0,
             may_drop_tape = !keeps && tape.bytes > 0;
  auto with_tape = chain;
  with_tape.back().kept_bytes += tape.bytes;
  with_tape.back().forward_seconds = std::max(0.0, with_tape.back().forward_seconds - tape.seconds);
  std::optional<ActivationsInForce> chosen;
  if (may_keep_tape)
    if (auto plan = plan_of(options, with_tape, budget, link))
      chosen = ActivationsInForce{with_tape, std::move(*plan), false};
  if (may_drop_tape)
    if (auto plan = plan_of(options, chain, budget, link);
        plan && (!chosen || plan->cost.seconds < chosen->plan.cost.seconds)) {
      plan->policies.back() = BlockPolicy::recompute;
      chosen = ActivationsInForce{chain, std::move(*plan), true};
    }
  if (chosen) {
    chosen->budget = budget;
    chosen->link = link;
    chosen->to_file = options.path.has_value();
    return *chosen;
  }
  const auto& refused = keeps ? with_tape : chain;
  const auto bytes = [](std::int64_t n) { return text_of_bytes(n); };
  const auto& largest = *std::max_element(refused.begin(), refused.end(), [](const auto& a, const auto& b) {
    return a.kept_bytes < b.kept_bytes;
  });
  const auto least = planning::least_budget(refused, uniform_policy(options.policy));
  const bool a_plan_helps = options.policy != ActivationPolicy::planned &&
                            planning::least_budget(chain, BlockPolicy::recompute) <= budget;
  throw ResourceError(fmt::format(
      "memory.activations: a step takes {} ({} bytes) at least, more than {}; '{}' alone takes {}. Expected "
      "{}a larger budget, fewer crops a batch, fewer points or more ranks",
      bytes(least), least, bytes(budget), largest.name, bytes(largest.kept_bytes),
      a_plan_helps ? "policy: planned, " : ""));
}

}  // namespace quintet::flow
