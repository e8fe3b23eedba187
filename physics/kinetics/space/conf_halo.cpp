#include "physics/kinetics/space/conf_halo.hpp"

#include "io/parallel/comm.hpp"

namespace quintet::kinetics {

namespace {

constexpr int tag_halo = 410;  ///< to tag_halo + 5: direction and side

/// Rank of conf_comm() beyond side -1 or +1 of direction d: row-major over the configuration part of ranks().
int conf_neighbour(const Decomposition& decomposition, const PhaseGrid& grid, int d, int side) {
  auto there = decomposition.coordinates();
  const auto& ranks = decomposition.ranks();
  there[d] += side;
  if (there[d] < 0 || there[d] >= ranks[d]) {
    if (!grid.periodic[d]) return -1;
    there[d] = side < 0 ? ranks[d] - 1 : 0;
  }
  int rank = 0;
  for (int e = 0; e < grid.cdim; ++e) rank = rank * ranks[e] + there[e];
  return rank;
}

}  // namespace

ConfHalo::ConfHalo(const Decomposition& decomposition, const PhaseGrid& grid, const std::array<int, 3>& sizes)
    : comm_(decomposition.conf_comm()) {
  for (int d = 0; d < grid.cdim; ++d) {
    shared_[d] = decomposition.ranks()[d] > 1;
    for (int side = 0; side < 2; ++side) {
      neighbour_[d][side] = conf_neighbour(decomposition, grid, d, side == 0 ? -1 : 1);
      outside_[d][side] = Array<double>("kinetics::halo_outside", sizes[d]);
      if (shared(d)) send_[d][side] = Array<double>("kinetics::halo_send", sizes[d]);
    }
  }
}

ConfHalo::Exchange ConfHalo::start() const {
  Exchange exchange;
  for (int d = 0; d < 3; ++d) {
    if (!shared(d)) continue;
    for (int side = 0; side < 2; ++side) {
      const int other = 1 - side;  // what goes down from here comes down from above
      const auto& from = send_[d][side];
      const auto& to = outside_[d][other];
      exchange.pending_[2 * d + side].emplace(comm_.start_exchange(
          std::span<const double>(from.data(), from.size()), neighbour_[d][side],
          std::span<double>(to.data(), to.size()), neighbour_[d][other], tag_halo + 2 * d + side));
    }
  }
  return exchange;
}

}  // namespace quintet::kinetics
