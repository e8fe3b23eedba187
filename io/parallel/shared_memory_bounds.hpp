#pragma once

#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "io/tiers/memory_bounds.hpp"

namespace quintet {

/// A bound of this rank's memory and how many ranks of its node are under it.
struct SharedBound {
  MemoryBound bound;
  int ranks = 1;
};

/// Bounds of this rank's memory, and the number of ranks that share each: all ranks of a node share the node,
/// those of one control group, or of groups inside it, its limit. Collective.
[[nodiscard]] std::vector<SharedBound> shared_bounds(const Comm& comm, std::vector<MemoryBound> bounds);

/// This rank's part of the memory that is free: the least of what each bound leaves to each rank under it;
/// infinity where no system tells. Ranks may differ. Collective.
[[nodiscard]] double free_memory_of_this_rank(const Comm& comm);
/// This rank's part of the memory that its bounds allow, whatever is held now; as free_memory_of_this_rank()
/// otherwise. Collective.
[[nodiscard]] double memory_limit_of_this_rank(const Comm& comm);

/// Whether memory suffices, and where it is scarcest.
struct MemoryDemand {
  double demanded = 0, free = 0;  ///< bytes, under one bound
  int ranks = 1;                  ///< that share it
  std::string where;              ///< "a node", or "the control group FOLDER of 2 GB"
  [[nodiscard]] bool fits() const { return demanded <= free; }
};
/// Demand at the bound that `bytes` more on each rank exceed most, or come closest to. The same on all ranks.
/// Collective. @param bounds of this rank
[[nodiscard]] MemoryDemand memory_demand(const Comm& comm, double bytes,
                                         const std::vector<MemoryBound>& bounds);

/// Throw ResourceError on all ranks if `bytes` more on each rank do not fit into some node's free memory, or
/// into what a control group has left for the ranks in it. Collective.
///
/// The largest demand of any rank is taken for all. `what` completes "... for WHAT". Negative
/// or non-finite `bytes` (an overflowed product) never fit.
void require_memory(const Comm& comm, double bytes, const std::string& what);
/// The same for these bounds of this rank.
void require_memory(const Comm& comm, double bytes, const std::string& what,
                    const std::vector<MemoryBound>& bounds);

}  // namespace quintet
