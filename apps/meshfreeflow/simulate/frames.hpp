#pragma once

#include <vector>

#include "apps/application/loop/schedule.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"

namespace quintet::meshfreeflow {

/// Fields at the centres of cells over time, in group `fields` of run.h5.
class Frames {
 public:
  /// On a restart frames later than the simulation's time are dropped. Collective.
  Frames(Context& context, const Simulation& simulation);
  /// Start, end, and each multiple of output.frame_interval, at which a step ends.
  [[nodiscard]] Schedule schedule() const;
  /// Collective.
  void write(const Simulation& simulation);

 private:
  double interval_;
  hdf5::Series time_;
  std::vector<double> times_;
  std::vector<hdf5::Series> series_;
};

}  // namespace quintet::meshfreeflow
