#pragma once

#include <cstdint>

namespace quintet::convection {

/// Needs of one rank of a row of slabs in a step, what it holds and sends; the rank need not exist: for
/// plans. tests/verification/convection/ranks_test compares.
struct SlabNeeds {
  double cells = 0;                     ///< of one flow
  double bytes = 0;                     ///< Boussinesq::bytes
  double messages = 0, bytes_sent = 0;  ///< in a step, to single ranks
  double sums = 0, bytes_summed = 0;    ///< reductions of a step, with that of Courant's rate
};

/// Needs of n_x x n_z cells on `n_ranks` ranks, for the rank with most rows and two neighbours; the linear
/// equations are solved by transforms or modes (not by multigrid).
///
/// Each of two stages of a flow exchanges seven fields' rows with both neighbours; the ends of the
/// elimination of u, w, b and of p, 4 n_x (1 - 1/p) numbers each, go to all others in two messages a pair.
[[nodiscard]] SlabNeeds slab_needs(std::int64_t n_x, std::int64_t n_z, int n_members, int n_ranks);

/// Needs of flows on devices; each rank of `n_slabs` has `n_members` flows; `bytes` stays 0. All flows travel
/// together.
///
/// Each of two stages sends five rows a flow to the slab above and four to the one below, in two messages
/// each. To all others it sends the ends of the elimination, 8 n_x + 1 numbers a flow in two messages. If the
/// step's length has changed, the factors of diffusion follow once in the step, 12 n_x numbers.
[[nodiscard]] SlabNeeds device_slab_needs(std::int64_t n_x, std::int64_t n_z, int n_members, int n_slabs);

}  // namespace quintet::convection
