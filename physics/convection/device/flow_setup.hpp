#pragma once

#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/grid.hpp"
#include "physics/convection/problem.hpp"

namespace quintet::convection {

/// How ranks share flows out on their devices: groups of `n_slabs` ranks, one after the other, each with
/// whole flows, of which each rank of the group has some rows. Member m is number m / groups of group m
/// modulo groups.
struct FlowShares {
  int n_ranks = 1, n_members = 1, n_slabs = 1;

  [[nodiscard]] int n_groups() const { return n_ranks / n_slabs; }
  [[nodiscard]] int members_on(int rank) const {
    return (n_members - rank / n_slabs + n_groups() - 1) / n_groups();
  }
  [[nodiscard]] int place_of(int member) const { return member / n_groups(); }
  [[nodiscard]] bool has(int rank, int member) const { return rank / n_slabs == member % n_groups(); }
  [[nodiscard]] int slab_of(int rank) const { return rank % n_slabs; }
  /// Rows of a flow among the ranks that have it.
  [[nodiscard]] Shares rows(int n_z) const { return {n_z, n_slabs}; }
};
/// Whole flows where there are as many as ranks; else the slabs by which the busiest rank has least to do,
/// and the fewest of these.
[[nodiscard]] FlowShares flow_shares(int n_ranks, int n_members);

/// Setup of this rank's device for its share of all members. Collective.
/// @param direct whether MPI reads the device's memory
[[nodiscard]] DeviceFlowSetup shared_flow_setup(const Problem& problem, const Grid& grid, int n_members,
                                                bool transforms, bool direct, double tolerance = 0);

/// Setup of a device that advances whole flows of this problem.
/// @param transforms along x, of equal cells; else products with modes
/// @param tolerance above 0: by multigrid in place of both, for whole flows
[[nodiscard]] DeviceFlowSetup device_flow_setup(const Problem& problem, const Grid& grid, int n_members,
                                                bool transforms, double tolerance = 0);

}  // namespace quintet::convection
