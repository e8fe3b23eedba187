#pragma once

#include <array>
#include <string>
#include <vector>

#include "physics/kinetics/system.hpp"

namespace quintet::kinetics {

/// Needs of one rank of a grid of ranks, what it holds and sends; the rank need not exist: for plans. Tests
/// compare it with what Comm counts and with what a run allocates.
struct RankNeeds {
  double cells = 0;  ///< of all species, past the last one up to whole packs: what a step works on
  double bytes = 0;  ///< of f, moments and fields (VlasovSystem::bytes_needed)
  /// Sent in a step to single ranks, and handed in to sums over ranks.
  struct Sent {
    double messages = 0, bytes = 0;
  };
  Sent neighbours;     ///< traces of f and fields
  Sent velocity_sums;  ///< over the ranks with the same x: moments
  Sent conf_sums;      ///< over the ranks with the same v: Poisson's load
  Sent all_sums;       ///< the stable step

  /// The greater of each.
  void cover(const RankNeeds& other);
};

/// Needs of the rank at `coordinates` of a grid of `ranks`, for a step of SSP-RK3.
[[nodiscard]] RankNeeds needs_of(const PhaseBasis& basis, const std::vector<Species>& species,
                                 const SystemOptions& options, const std::array<int, 6>& ranks,
                                 const std::array<int, 6>& coordinates);
/// The greatest needs of any rank: one with the most cells and one with all neighbours are asked.
[[nodiscard]] RankNeeds greatest_needs(const PhaseBasis& basis, const std::vector<Species>& species,
                                       const SystemOptions& options, const std::array<int, 6>& ranks);
/// Why what is sent is not known for a grid of ranks ("collisions between parts of velocity space"), or "".
[[nodiscard]] std::string what_needs_lack(const SystemOptions& options, const std::array<int, 6>& ranks,
                                          int cdim);

}  // namespace quintet::kinetics
