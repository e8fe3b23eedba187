#include "surrogates/flow/training/planned_swaps.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::flow {

namespace {

/// Policies of the blocks by a plan; a block that stays manages its own activations.
std::vector<planning::BlockPolicy> policies_of(const std::vector<planning::ActivationBlock>& chain,
                                               const planning::ActivationPlan& plan) {
  auto policies = plan.policies;
  for (std::size_t i = 0; i < chain.size(); ++i)
    if (chain[i].stays) policies[i] = planning::BlockPolicy::keep;
  return policies;
}

}  // namespace

SwapTarget::SwapTarget(const Comm& comm, const MemoryOptions& options)
    : bandwidth_(1e9 * options.link.value_or(0)) {
  if (options.path)
    file_ = std::make_shared<DiskFile>(DiskFile::Options{
        *options.path, fmt::format("activations.rank_{}", comm.rank()), true, "memory.path", true});
}

planning::LinkCost SwapTarget::prepare(const Comm& comm, std::int64_t bytes) const {
  if (!file_) return {};
  constexpr std::int64_t least_sample = 1 << 20, most_sample = 64 << 20;
  const std::size_t sample = std::clamp(bytes, least_sample, most_sample);
  file_->take_space(std::max(whole_grains(bytes), whole_grains(sample)), "activations that are swapped");
  const DiskCost cost = measured_cost(*file_, sample);
  return {comm.maximum(cost.write), comm.maximum(cost.read)};
}

std::unique_ptr<SwapSpace> SwapTarget::space(Ledger& ledger) const {
  if (file_) return std::make_unique<SwapSpace>(ledger, file_);
  return std::make_unique<SwapSpace>(ledger, bandwidth_);
}

PlannedSwaps::PlannedSwaps(const ActivationsInForce& activations, std::unique_ptr<SwapSpace> space)
    : chain_(activations.chain),
      policies_(policies_of(chain_, activations.plan)),
      limit_(activations.plan.cost.peak),
      fetch_before_(planning::fetch_times(chain_, policies_, activations.budget, activations.link)),
      bundle_(chain_.size(), -1),
      place_(chain_.size(), Place::here),
      space_(std::move(space)) {}

/// Bytes that a block that runs again has dropped.
std::int64_t PlannedSwaps::dropped(std::size_t block) const {
  const bool again = policies_[block] == planning::BlockPolicy::recompute;
  return again ? chain_[block].kept_bytes - chain_[block].input_bytes : 0;
}

void PlannedSwaps::start(TorchMemory& memory) {
  space_->start(memory);
  resident_ = 0;
  std::fill(place_.begin(), place_.end(), Place::here);
}

void PlannedSwaps::settle() {
  for (std::size_t i = 0; i < chain_.size(); ++i)
    if (place_[i] == Place::leaving && space_->is_done(bundle_[i])) {
      place_[i] = Place::away;
      resident_ -= chain_[i].swapped_bytes();
    }
}

/// Wait until so much more is within the plan's peak.
void PlannedSwaps::make_room(std::int64_t bytes) {
  settle();
  // Blocks leave in their order.
  for (std::size_t i = 0; i < chain_.size() && resident_ + bytes > limit_; ++i)
    if (place_[i] == Place::leaving) {
      space_->wait(bundle_[i]);
      settle();
    }
  if (resident_ + bytes > limit_) throw InternalError("a plan of activations passes its peak");
}

void PlannedSwaps::forward_begins(std::size_t block) {
  make_room(chain_[block].kept_bytes + chain_[block].forward_extra);
  resident_ += chain_[block].kept_bytes;
  if (swaps(block)) space_->begin();
}

void PlannedSwaps::forward_ends(std::size_t block, const std::vector<at::Tensor>& stay) {
  resident_ -= dropped(block);
  if (!swaps(block)) return;
  bundle_[block] = space_->end(stay);
  place_[block] = Place::leaving;
  space_->send(bundle_[block]);
}

void PlannedSwaps::backward_begins(std::size_t block) {
  const std::int64_t extra = chain_[block].backward_extra;
  for (std::size_t i = chain_.size(); i-- > 0;) {
    if (!swaps(i) || fetch_before_[i] != block) continue;
    settle();
    if (place_[i] == Place::away) {
      make_room(chain_[i].swapped_bytes() + extra);
      resident_ += chain_[i].swapped_bytes();
    }  // else it is on its way out, and counts as if it had stayed
    place_[i] = Place::coming;
    space_->fetch(bundle_[i]);
  }
  if (swaps(block)) {
    space_->wait(bundle_[block]);
    place_[block] = Place::here;
  }
  make_room(dropped(block) + extra);
  resident_ += dropped(block);
}

void PlannedSwaps::backward_ends(std::size_t block) { resident_ -= chain_[block].kept_bytes; }

}  // namespace quintet::flow
