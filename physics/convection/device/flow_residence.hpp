#pragma once

#include <memory>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/convection/device/device_flows.hpp"
#include "physics/convection/device/flow_setup.hpp"
#include "physics/convection/field.hpp"

namespace quintet::convection {

/// Flows that live on the devices of ranks, as FlowShares says, and come home to fields of which all ranks
/// have rows. What is on the same rank in both places is copied, the rest goes to single ranks.
class FlowResidence {
 public:
  FlowResidence(const Grid& grid, int n_members, std::shared_ptr<DeviceFlows> device);
  [[nodiscard]] DeviceFlows& device() const { return *device_; }
  /// Send a member from its home to its devices. Collective.
  void send(int member, const BoussinesqState& state) const;
  /// Bring a member back from its devices to its home; neighbours are not filled. Collective.
  void fetch(int member, const BoussinesqState& state) const;

  /// Sums and extremes of a member over the cells that this rank's device has of it. All are found at once
  /// and kept until renew(). Collective.
  [[nodiscard]] FlowTally tally(int member) const;
  /// [kind, n_x] of DeviceFlows::powers() for the rows that this rank's device has of it, or empty on all
  /// ranks. Kept as tallies are.
  [[nodiscard]] std::vector<double> powers(int member) const;
  /// The device's flows have changed.
  void renew();

 private:
  Comm comm_;
  Shares home_;  ///< of rows
  int n_x_;
  FlowShares shares_;
  std::shared_ptr<DeviceFlows> device_;
  mutable std::vector<FlowTally> tallies_;
  mutable std::vector<double> powers_;
};

}  // namespace quintet::convection
