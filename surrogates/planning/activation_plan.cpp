#include "surrogates/planning/activation_plan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace quintet::planning {

namespace {

struct BlockPolicyRow {
  BlockPolicy value;
  const char* name;
};
constexpr BlockPolicyRow policy_rows[] = {
    {BlockPolicy::keep, "keep"}, {BlockPolicy::swap, "swap"}, {BlockPolicy::recompute, "recompute"}};

/// Plans whose times differ by less are as fast.
constexpr double same_time = 1e-12;
/// Ends a search that would take minutes: a second's worth of nodes.
constexpr std::int64_t most_nodes = 4'000'000;

/// The engine, the link and the memory between them.
class Machine {
 public:
  Machine(std::span<const ActivationBlock> chain, std::int64_t budget, LinkCost cost)
      : chain_(chain), budget_(budget), cost_(cost) {}

  [[nodiscard]] double clock() const { return clock_; }

  /// False: it never fits.
  bool forward(std::size_t i, BlockPolicy policy) {
    const auto& block = chain_[i];
    if (!claim(block.kept_bytes, block.forward_extra)) return false;
    clock_ += block.forward_seconds;
    if (policy == BlockPolicy::swap) {
      link_ = std::max(link_, clock_) + block.swapped_bytes() * cost_.out;
      leaving_.emplace_back(link_, block.swapped_bytes());
    }
    if (policy == BlockPolicy::recompute) resident_ -= block.kept_bytes - block.input_bytes;
    return true;
  }

  /// @param fetched null, or [block] where to say when its copy in began
  bool backward(std::span<const BlockPolicy> plan, std::vector<std::size_t>* fetched = nullptr) {
    link_ = std::max(link_, clock_);
    next_ = plan.size();
    settle();
    std::vector<double> arrival(plan.size(), -1);
    for (std::size_t i = plan.size(); i-- > 0;) {
      const auto& block = chain_[i];
      settle();
      prefetch(plan, arrival, i, fetched);
      if (plan[i] == BlockPolicy::swap) {
        if (arrival[i] < 0) {
          for (const auto& copy : leaving_) clock_ = std::max(clock_, copy.first);
          settle();
          prefetch(plan, arrival, i, fetched);
        }
        if (arrival[i] < 0) return false;
        clock_ = std::max(clock_, arrival[i]);
      }
      if (!claim(plan[i] == BlockPolicy::recompute ? block.kept_bytes - block.input_bytes : 0,
                 block.backward_extra))
        return false;
      if (plan[i] == BlockPolicy::recompute) clock_ += block.forward_seconds;
      clock_ += block.backward_seconds;
      resident_ -= block.kept_bytes;
    }
    return true;
  }

  [[nodiscard]] ActivationCost cost() const { return {clock_, peak_}; }

 private:
  /// Drop the copies that have left by now.
  void settle() {
    std::erase_if(leaving_, [this](const auto& copy) {
      if (copy.first > clock_) return false;
      resident_ -= copy.second;
      return true;
    });
  }
  /// Wait until copies out have made room; false if they never do.
  bool claim(std::int64_t size, std::int64_t extra) {
    settle();
    while (resident_ + size + extra > budget_) {
      if (leaving_.empty()) return false;
      clock_ = std::max(clock_, std::min_element(leaving_.begin(), leaving_.end())->first);
      settle();
    }
    resident_ += size;
    peak_ = std::max(peak_, resident_ + extra);
    return true;
  }
  /// Copies in, last block first, before the backward pass of block `now`.
  void prefetch(std::span<const BlockPolicy> plan, std::vector<double>& arrival, std::size_t now,
                std::vector<std::size_t>* fetched) {
    for (; next_ > 0; --next_) {
      const std::size_t i = next_ - 1;
      if (plan[i] != BlockPolicy::swap) continue;
      const std::int64_t size = chain_[i].swapped_bytes();
      std::int64_t most_extra = 0;  // of the blocks that run while it is there
      for (std::size_t j = i; j <= now; ++j) most_extra = std::max(most_extra, chain_[j].backward_extra);
      if (resident_ + size + most_extra > budget_) return;
      resident_ += size;
      peak_ = std::max(peak_, resident_ + chain_[now].backward_extra);
      link_ = std::max(link_, clock_) + size * cost_.in;
      arrival[i] = link_;
      if (fetched) (*fetched)[i] = now;
    }
  }

  std::span<const ActivationBlock> chain_;
  std::int64_t budget_;
  LinkCost cost_;
  double clock_ = 0, link_ = 0;
  std::int64_t resident_ = 0, peak_ = 0;
  std::vector<std::pair<double, std::int64_t>> leaving_;  ///< end and bytes of copies out
  std::size_t next_ = 0;                                  ///< blocks from here on need no copy in any more
};

/// Plans block by block, those that are too large or too slow cut off.
class Search {
 public:
  Search(std::span<const ActivationBlock> chain, std::span<const BlockPolicy> allowed)
      : chain_(chain), allowed_(allowed.begin(), allowed.end()), rest_(chain.size() + 1) {
    allowed_.push_back(BlockPolicy::keep);
    std::sort(allowed_.begin(), allowed_.end());
    allowed_.erase(std::unique(allowed_.begin(), allowed_.end()), allowed_.end());
    for (std::size_t i = chain.size(); i-- > 0;) {
      rest_[i] = rest_[i + 1] + chain[i].forward_seconds;
      backward_ += chain[i].backward_seconds;
    }
    plan_.resize(chain.size());
  }

  std::optional<ActivationPlan> run(std::int64_t budget, LinkCost link) {
    visit(0, Machine(chain_, budget, link), 0);
    if (best_) best_->is_best = nodes_ < most_nodes;
    return best_;
  }

 private:
  /// @param again seconds of forward passes that the plan so far takes once more
  void visit(std::size_t i, const Machine& machine, double again) {
    if (++nodes_ > most_nodes) return;
    if (best_ && machine.clock() + rest_[i] + backward_ + again >= best_->cost.seconds - same_time) return;
    if (i == chain_.size()) {
      Machine whole = machine;
      if (whole.backward(plan_) && (!best_ || whole.cost().seconds < best_->cost.seconds - same_time))
        best_ = ActivationPlan{plan_, whole.cost()};
      return;
    }
    for (const BlockPolicy policy : allowed_) {
      if (chain_[i].stays && policy != BlockPolicy::keep) continue;
      Machine next = machine;
      plan_[i] = policy;
      if (next.forward(i, policy))
        visit(i + 1, next, again + (policy == BlockPolicy::recompute ? chain_[i].forward_seconds : 0));
    }
  }

  std::span<const ActivationBlock> chain_;
  std::vector<BlockPolicy> allowed_, plan_;
  std::vector<double> rest_;  ///< [block] forward seconds from there on
  double backward_ = 0;
  std::optional<ActivationPlan> best_;
  std::int64_t nodes_ = 0;
};

}  // namespace

const char* name_of(BlockPolicy policy) {
  return std::find_if(std::begin(policy_rows), std::end(policy_rows),
                      [&](const auto& row) { return row.value == policy; })
      ->name;
}

std::optional<ActivationCost> simulate(std::span<const ActivationBlock> chain,
                                       std::span<const BlockPolicy> plan, std::int64_t budget,
                                       LinkCost link) {
  Machine machine(chain, budget, link);
  for (std::size_t i = 0; i < chain.size(); ++i)
    if (!machine.forward(i, plan[i])) return std::nullopt;
  if (!machine.backward(plan)) return std::nullopt;
  return machine.cost();
}

std::vector<std::size_t> fetch_times(std::span<const ActivationBlock> chain,
                                     std::span<const BlockPolicy> plan, std::int64_t budget, LinkCost link) {
  std::vector<std::size_t> fetched(chain.size(), 0);
  Machine machine(chain, budget, link);
  for (std::size_t i = 0; i < chain.size(); ++i) machine.forward(i, plan[i]);
  machine.backward(plan, &fetched);
  return fetched;
}

std::optional<ActivationPlan> best_plan(std::span<const ActivationBlock> chain, std::int64_t budget,
                                        LinkCost link, std::span<const BlockPolicy> allowed) {
  return Search(chain, allowed).run(budget, link);
}

std::vector<BlockPolicy> uniform_plan(std::span<const ActivationBlock> chain, BlockPolicy policy) {
  std::vector<BlockPolicy> plan;
  for (const auto& block : chain) plan.push_back(block.stays ? BlockPolicy::keep : policy);
  return plan;
}

std::int64_t least_budget(std::span<const ActivationBlock> chain, BlockPolicy policy) {
  const auto plan = uniform_plan(chain, policy);
  if (policy != BlockPolicy::swap)  // who drops nothing into a link waits for nothing
    return simulate(chain, plan, std::numeric_limits<std::int64_t>::max() / 2, 0)->peak;
  std::int64_t least = 0, fits = simulate(chain, plan, std::numeric_limits<std::int64_t>::max() / 2, 0)->peak;
  while (fits - least > 1) {
    const std::int64_t middle = least + (fits - least) / 2;
    (simulate(chain, plan, middle, 0) ? fits : least) = middle;
  }
  return fits;
}

std::string table_of(std::span<const ActivationBlock> chain, std::span<const BlockPolicy> plan) {
  std::string text = fmt::format("{:<28} {:<10} {:>10} {:>10} {:>12} {:>12}\n", "blocks", "activations",
                                 "forward s", "backward s", "kept MB", "input MB");
  for (std::size_t i = 0; i < chain.size(); ++i)
    text += fmt::format("{:<28} {:<10} {:>10.4f} {:>10.4f} {:>12.3f} {:>12.3f}\n", chain[i].name,
                        name_of(plan[i]), chain[i].forward_seconds, chain[i].backward_seconds,
                        1e-6 * chain[i].kept_bytes, 1e-6 * chain[i].input_bytes);
  return text;
}

}  // namespace quintet::planning
