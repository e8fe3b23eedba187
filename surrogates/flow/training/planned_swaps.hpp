#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "io/tiers/disk_file.hpp"
#include "io/tiers/ledger.hpp"
#include "surrogates/bridge/block_pass.hpp"
#include "surrogates/bridge/swap_space.hpp"
#include "surrogates/flow/training/activations_in_force.hpp"
#include "surrogates/planning/activation_plan.hpp"
#include "surrogates/training/memory_options.hpp"

namespace quintet::flow {

/// Where section `memory` lets activations go.
class SwapTarget {
 public:
  /// Opens a file where options.path says so, this rank's own, which has no name. Throws what DiskFile
  /// throws.
  SwapTarget(const Comm& comm, const MemoryOptions& options);
  /// Take the disk space for so much, and measure the disk; nothing for a link. The slowest rank's.
  /// Collective.
  [[nodiscard]] planning::LinkCost prepare(const Comm& comm, std::int64_t bytes) const;
  [[nodiscard]] std::unique_ptr<SwapSpace> space(Ledger& ledger) const;

 private:
  double bandwidth_;  ///< bytes/s of the link
  std::shared_ptr<DiskFile> file_;
};

/// A plan that swaps, carried out: blocks wait where planning::simulate() lets them wait, with the time that
/// has really passed in place of the predicted one, and copies in begin before the block that it says. So no
/// more is in memory than the plan's peak, however fast the copies are, and no wait is without end.
class PlannedSwaps : public BlockPass::Guard {
 public:
  /// @param space where to
  PlannedSwaps(const ActivationsInForce& activations, std::unique_ptr<SwapSpace> space);

  /// A pass begins, whose tensors are counted there.
  void start(TorchMemory& memory);
  void forward_begins(std::size_t block) override;
  void forward_ends(std::size_t block, const std::vector<at::Tensor>& stay) override;
  void backward_begins(std::size_t block) override;
  void backward_ends(std::size_t block) override;
  [[nodiscard]] SwapSpace::Traffic traffic() const { return space_->traffic(); }

 private:
  enum class Place { here, leaving, away, coming };
  [[nodiscard]] bool swaps(std::size_t block) const {
    return policies_[block] == planning::BlockPolicy::swap;
  }
  [[nodiscard]] std::int64_t dropped(std::size_t block) const;
  void settle();
  void make_room(std::int64_t bytes);

  std::vector<planning::ActivationBlock> chain_;
  std::vector<planning::BlockPolicy> policies_;
  std::int64_t limit_, resident_ = 0;
  std::vector<std::size_t> fetch_before_;  ///< [block]
  std::vector<int> bundle_;                ///< [block] in the space
  std::vector<Place> place_;               ///< [block]
  std::unique_ptr<SwapSpace> space_;
};

}  // namespace quintet::flow
